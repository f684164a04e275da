/* weft/channel.h - channels: messages of one size, from whoever to whoever.
 *
 * A message is copied: into the channel, out of it, or straight from the sender to
 * a receiver that waits. They come out in the order sent. Who waits longest is
 * served first, and a message wakes one. While one color uses a channel that costs
 * a few plain loads and stores; between colors, a short lock. No worker is ever
 * blocked. Kernel threads that are not Weft's (and functions that the offload pool
 * runs) may use channels too, even while no runtime runs: they wait in the kernel.
 * Plain handlers cannot wait; they use the try forms. A run that waits for foreign
 * kernel threads only must be kept going by weft_hold.
 *
 * The end of a run. weft_stop discards threads that wait. A channel where such a thread
 * waited can only be freed: every other call with it, outside of runs or in another run,
 * returns -EOWNERDEAD, reports the caller's line and changes nothing. A channel where no
 * thread waited keeps its messages for the next run. If all threads of the process wait
 * outside of runs without a deadline, the last thread that began to wait is reported, and
 * gets -EDEADLK.
 *
 * weft_channel_open makes channels between two processes.
 *
 *	WEFT_CHANNEL(ints, int);
 *
 *	ints *c = ints_new(16);
 *	ints_send(c, 42);
 *	ints_receive(c, &answer);
 */
#ifndef WEFT_CHANNEL_H
#define WEFT_CHANNEL_H

#ifdef __cplusplus
#include <type_traits>
#endif

#include <weft/thread.h>

WEFT_BEGIN_DECLS

/* A channel. */
typedef struct weft_channel weft_channel;

/* The capacity of a channel that no sender waits for. */
#define WEFT_UNBOUNDED SIZE_MAX

/* Makes a channel for messages of `size` bytes, which may be 0 (a message that only
 * comes). It keeps up to `capacity` of them. With capacity 0 it keeps none: a sender
 * waits until a receiver takes the message from its hands. One of WEFT_UNBOUNDED
 * grows, and shrinks again.
 *
 * Gives:    a channel, to be freed by weft_channel_free.
 * Context:  any thread.
 * Returns:  the channel, or NULL: no memory
 */
WEFT_API weft_channel *weft_channel_new(size_t size, size_t capacity);

/* Which side of a channel between processes one is. */
enum weft_channel_side {
	WEFT_CHANNEL_EITHER, /* who comes first waits for the other */
	WEFT_CHANNEL_MAKE,   /* waits for one that joins */
	WEFT_CHANNEL_JOIN,   /* joins one that was made, or will be */
};

/* How a channel between processes shall be. All zeros is a good choice. */
typedef struct weft_channel_attr {
	size_t capacity; /* messages kept each way; 0: 64. What the one says who made it */
	uint8_t side;    /* enum weft_channel_side */
	uint64_t reserved[4];
} weft_channel_attr;

/* Opens a channel to another process of the same user on the same host, which opens the
 * same name: "shm:" and up to 64 letters. Messages are of `size` bytes and go through
 * shared memory, both ways: what one side sends the other receives, so a request and
 * its reply need one channel. It waits for the other side; two that have met are a pair,
 * and the name is free for the next two.
 *
 * All calls for channels work with it, select too, but for these differences. A process
 * does not receive what it sends itself. Closing it closes it for both. If the other
 * process ends without, even by SIGKILL, what it had sent is still received, and then
 * calls return -ECONNRESET (also as the result of a case of weft_select); whether it
 * had received what was sent to it nobody knows. They return -EPROTO if it has written
 * nonsense into the shared memory, and -ENOMEM if the kernel cannot be asked to wait.
 * That it ended is found by calls that wait, and by the try forms after a while.
 * Kernel threads that are not Weft's do not wait for it: -EPERM. A process that
 * forks has one more owner of the channel, whose end is waited for, too.
 *
 * Borrows:  name and attr (which may be NULL), during the call.
 * Gives:    *ch, to be freed by weft_channel_free, which also closes it.
 * Context:  a thread; waits.
 * Misuse:   called where there is no thread: reported
 * Returns:  0
 *           -EINVAL     no such kind of name, or a bad attribute
 *           -EMSGSIZE   the other side's messages are of another size
 *           -EACCES     the other side is of another user
 *           -EPROTO     the other side does not speak as Weft does, or another version
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -ENOMEM, -EMFILE, -ENFILE, -EPERM, -ESHUTDOWN
 */
WEFT_API WEFT_WAITS int weft_channel_open_until(weft_channel **ch, const char *name, size_t size,
						const weft_channel_attr *attr, uint64_t deadline);
static inline WEFT_WAITS int weft_channel_open(weft_channel **ch, const char *name, size_t size,
					       const weft_channel_attr *attr)
{
	return weft_channel_open_until(ch, name, size, attr, WEFT_FOREVER);
}

/* Frees a channel, and the messages that are left in it. NULL is allowed. It need
 * not be closed, but nobody else may use it any more.
 *
 * Takes:    ch
 * Context:  any thread.
 * Misuse:   somebody still waits at the channel; it is not freed then.
 * Returns:  0
 *           -EBUSY      somebody waits
 */
WEFT_API int weft_channel_free(weft_channel *ch);
WEFT_API int weft_channel_free_at(weft_channel *ch, const char *where);
#define weft_channel_free(...) weft_channel_free_at(__VA_ARGS__, WEFT_HERE)

/* Sends the message at `from`, waiting for room, or for a receiver if the capacity
 * is 0. Exact: 0 means that the message was sent, and it is received once; anything
 * else, that it was not sent.
 *
 * Context:  a thread, or a kernel thread that is no worker; waits. A plain handler
 *           if it need not wait.
 * Returns:  0
 *           -EPIPE      the channel is closed
 *           -ENOMEM     no memory for an unbounded channel to grow
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -EPERM      a plain handler would have to wait
 *           -EOWNERDEAD a thread waited here when its run was stopped
 *           -EDEADLK    outside of runs, and no thread is left that could end the wait
 */
WEFT_API WEFT_WAITS int weft_channel_send_until(weft_channel *ch, const void *from,
						uint64_t deadline);
WEFT_API WEFT_WAITS int weft_channel_send(weft_channel *ch, const void *from);
WEFT_API WEFT_WAITS int weft_channel_send_until_at(weft_channel *ch, const void *from,
						   uint64_t deadline, const char *where);
#define weft_channel_send_until(...) weft_channel_send_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_channel_send(...) weft_channel_send_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* Receives a message into `to`, waiting for one. Exact: 0 means that a message was
 * received; anything else, that none was taken. `to` is then as it was.
 *
 * Context:  as weft_channel_send
 * Returns:  0
 *           -EPIPE      the channel is closed, and nothing is left in it
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -EPERM      a plain handler would have to wait
 *           -EOWNERDEAD, -EDEADLK  as weft_channel_send
 */
WEFT_API WEFT_WAITS int weft_channel_receive_until(weft_channel *ch, void *to, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_channel_receive(weft_channel *ch, void *to);
WEFT_API WEFT_WAITS int weft_channel_receive_until_at(weft_channel *ch, void *to, uint64_t deadline,
						      const char *where);
#define weft_channel_receive_until(...) weft_channel_receive_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_channel_receive(...) \
	weft_channel_receive_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* Send or receive if that needs no waiting.
 *
 * Context:  any thread, and plain handlers.
 * Returns:  0
 *           -EAGAIN     it would have to wait
 *           -EPIPE, -ENOMEM, -EOWNERDEAD  as weft_channel_send and weft_channel_receive
 */
WEFT_API int weft_channel_try_send(weft_channel *ch, const void *from);
WEFT_API int weft_channel_try_send_at(weft_channel *ch, const void *from, const char *where);
#define weft_channel_try_send(...) weft_channel_try_send_at(__VA_ARGS__, WEFT_HERE)
WEFT_API int weft_channel_try_receive(weft_channel *ch, void *to);
WEFT_API int weft_channel_try_receive_at(weft_channel *ch, void *to, const char *where);
#define weft_channel_try_receive(...) weft_channel_try_receive_at(__VA_ARGS__, WEFT_HERE)

/* Says that no more messages come. All who wait go on: senders get -EPIPE, and from
 * now on so does everybody who sends. Receivers take what is left, then get -EPIPE.
 *
 * Context:  any thread, and plain handlers.
 * Returns:  0
 *           -EALREADY   it was closed before
 *           -EOWNERDEAD as weft_channel_send
 */
WEFT_API int weft_channel_close(weft_channel *ch);
WEFT_API int weft_channel_close_at(weft_channel *ch, const char *where);
#define weft_channel_close(...) weft_channel_close_at(__VA_ARGS__, WEFT_HERE)

/* Tells how many messages a channel keeps now, and how many it may keep. Messages in
 * the hands of senders that wait do not count.
 *
 * Context:  any thread, and plain handlers.
 * Returns:  the number
 */
WEFT_API size_t weft_channel_length(const weft_channel *ch);
WEFT_API size_t weft_channel_capacity(const weft_channel *ch);

/* What weft_select may do: one send or one receive. Filled in by weft_case_send and
 * weft_case_receive; fields that end in _ are Weft's.
 */
typedef struct weft_case {
	weft_channel *channel; /* NULL: this case never happens */
	const void *from;      /* send: the message */
	void *to;              /* receive: where it goes */
	bool sends;
	int result; /* of the case that was chosen: 0, or -EPIPE: closed */
	uint8_t how_;
	bool listed_;
	struct weft_case *next_, *prev_, *order_;
	void *choice_;
} weft_case;

/* Fill in a case. A case may be used again after weft_select has returned.
 *
 * Borrows:  from or to, until weft_select has returned.
 * Context:  any thread.
 * Returns:  the case
 */
static inline weft_case weft_case_send(weft_channel *ch, const void *from)
{
	weft_case c;

	memset(&c, 0, sizeof c);
	c.channel = ch;
	c.from = from;
	c.sends = true;
	return c;
}
static inline weft_case weft_case_receive(weft_channel *ch, void *to)
{
	weft_case c;

	memset(&c, 0, sizeof c);
	c.channel = ch;
	c.to = to;
	return c;
}

/* Does one of several sends and receives, whichever can be done first, and none of
 * the others. Where several can be done the choice is fair: none is passed over for
 * ever. A case whose channel is closed (and, to receive, empty) can be done: its
 * result is -EPIPE. weft_try_select does not wait. Without cases it waits for the
 * deadline.
 *
 * Borrows:  cases, until it returns.
 * Context:  as weft_channel_send. weft_try_select: also plain handlers; it never waits.
 * Returns:  the index of the case that was done; its `result` says how it went
 *           -EAGAIN     none can be done without waiting (weft_try_select)
 *           -ENOMEM     no memory for an unbounded channel to grow; nothing was done
 *           -ETIMEDOUT, -ECANCELED, -EPERM, -EOWNERDEAD, -EDEADLK  as weft_channel_send;
 *                       nothing was done
 */
WEFT_API WEFT_WAITS int weft_select_until(weft_case *cases, size_t count, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_select(weft_case *cases, size_t count);
WEFT_API WEFT_WAITS int weft_select_until_at(weft_case *cases, size_t count, uint64_t deadline,
					     const char *where);
#define weft_select_until(...) weft_select_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_select(...) weft_select_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)
WEFT_API int weft_try_select(weft_case *cases, size_t count);
WEFT_API int weft_try_select_at(weft_case *cases, size_t count, const char *where);
#define weft_try_select(...) weft_try_select_at(__VA_ARGS__, WEFT_HERE)

WEFT_END_DECLS

#ifdef __cplusplus
#define WEFT_CHANNEL_CHECK_(...) \
	static_assert(std::is_trivially_copyable<__VA_ARGS__>::value, \
		      "messages are copied byte by byte");
#else
#define WEFT_CHANNEL_CHECK_(...)
#endif
#define WEFT_CHANNEL_FN_ __attribute__((unused)) static inline

/* WEFT_CHANNEL(name, type) declares a type `name` of channels whose messages are of
 * `type`, and name_new(capacity), name_open(&c, name, attr), name_free, name_send, name_send_until, name_try_send
 * (which take the message by value), name_receive, name_receive_until,
 * name_try_receive, name_close, name_length, name_capacity, name_case_send,
 * name_case_receive (for weft_select) and name_channel (the channel behind it). Each
 * is what weft_channel_... of that name is, and checked by the compiler. In C++ the
 * type must be trivially copyable.
 */
#define WEFT_CHANNEL(name, ...) \
	WEFT_CHANNEL_CHECK_(__VA_ARGS__) \
	typedef struct name name; \
	WEFT_CHANNEL_FN_ weft_channel *name##_channel(const name *c_) \
	{ \
		return WEFT_POINTER_(weft_channel *, WEFT_POINTER_(uintptr_t, c_)); \
	} \
	WEFT_CHANNEL_FN_ name *name##_new(size_t capacity_) \
	{ \
		return WEFT_POINTER_(name *, weft_channel_new(sizeof(__VA_ARGS__), capacity_)); \
	} \
	WEFT_CHANNEL_FN_ int name##_open(name **c_, const char *at_, \
					 const weft_channel_attr *attr_) \
	{ \
		weft_channel *ch_ = WEFT_NULL_; \
		int rc_ = weft_channel_open(&ch_, at_, sizeof(__VA_ARGS__), attr_); \
\
		*c_ = WEFT_POINTER_(name *, ch_); \
		return rc_; \
	} \
	WEFT_CHANNEL_FN_ int name##_free(name *c_) \
	{ \
		return weft_channel_free(name##_channel(c_)); \
	} \
	WEFT_CHANNEL_FN_ int name##_send_until(name *c_, __VA_ARGS__ message_, uint64_t deadline_) \
	{ \
		return weft_channel_send_until(name##_channel(c_), &message_, deadline_); \
	} \
	WEFT_CHANNEL_FN_ int name##_send(name *c_, __VA_ARGS__ message_) \
	{ \
		return weft_channel_send(name##_channel(c_), &message_); \
	} \
	WEFT_CHANNEL_FN_ int name##_try_send(name *c_, __VA_ARGS__ message_) \
	{ \
		return weft_channel_try_send(name##_channel(c_), &message_); \
	} \
	WEFT_CHANNEL_FN_ int name##_receive_until(name *c_, __VA_ARGS__ *to_, uint64_t deadline_) \
	{ \
		return weft_channel_receive_until(name##_channel(c_), to_, deadline_); \
	} \
	WEFT_CHANNEL_FN_ int name##_receive(name *c_, __VA_ARGS__ *to_) \
	{ \
		return weft_channel_receive(name##_channel(c_), to_); \
	} \
	WEFT_CHANNEL_FN_ int name##_try_receive(name *c_, __VA_ARGS__ *to_) \
	{ \
		return weft_channel_try_receive(name##_channel(c_), to_); \
	} \
	WEFT_CHANNEL_FN_ int name##_close(name *c_) \
	{ \
		return weft_channel_close(name##_channel(c_)); \
	} \
	WEFT_CHANNEL_FN_ size_t name##_length(const name *c_) \
	{ \
		return weft_channel_length(name##_channel(c_)); \
	} \
	WEFT_CHANNEL_FN_ size_t name##_capacity(const name *c_) \
	{ \
		return weft_channel_capacity(name##_channel(c_)); \
	} \
	WEFT_CHANNEL_FN_ weft_case name##_case_send(name *c_, __VA_ARGS__ const *from_) \
	{ \
		return weft_case_send(name##_channel(c_), from_); \
	} \
	WEFT_CHANNEL_FN_ weft_case name##_case_receive(name *c_, __VA_ARGS__ *to_) \
	{ \
		return weft_case_receive(name##_channel(c_), to_); \
	} \
	typedef struct name name

#endif
