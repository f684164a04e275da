/* shm.h - the inside of channels between two processes: two rings in shared memory, one
 * each way, and a socket that tells when to look and when the other side is gone.
 *
 * Terms. The producer of a ring is the process that sends into it, the consumer the
 * other. Inside a process the channel's home guards its ends of both rings, as it
 * guards all of a channel; between processes there is no lock, so that one who is
 * killed leaves none behind. A bell is a byte on the socket: "look at the rings". It is
 * rung only for one who has said in the ring that it wants to be told.
 *
 * Who waits is listed at the channel as at any other. What the other process did is
 * seen by looking, and then the cases are done for those who wait, exactly as
 * another thread would have done them (`wf_shm_serve`): so deadlines, cancelling and
 * select are those of all channels. Who looks, and when:
 *  - a thread that would wait glances at the ring first, if nobody else is ready;
 *  - a channel where somebody waits is *watched*: workers look at it when they have
 *    nothing else to do, for a short while, before they sleep, and else when it is
 *    time to look at the kernel;
 *  - if nothing came by then it is *armed*: the ring says that a bell is wanted, and
 *    an operation waits for the socket. The next bell makes it watched again.
 *
 * Trust. The other process may write anything into the memory at any time. So what it
 * wrote is read once, checked against what is possible, and nothing of ours is read back
 * from there: a wrong number breaks the channel (-EPROTO), never this process.
 */
#ifndef WF_SHM_H
#define WF_SHM_H

#include <weft/io.h>

#include "threads/channel.h"

/* One ring's words in the shared memory. What one side writes often lies on lines of its
 * own; what is written rarely, and read often by both, on another. */
struct wf_shm_words {
	/* The producer's: messages ever sent, times 2; and 1: closed. Either side closes,
	 * so that nothing is sent behind it: the producer counts by compare-and-swap. */
	_Atomic uint64_t tail WF_ALIGNED;
	_Atomic uint64_t head WF_ALIGNED; /* the consumer's: messages ever received */
	/* A bell is wanted: by the consumer, for a message; by the producer, for room. */
	_Atomic uint32_t want_message WF_ALIGNED, want_room;
};

#define WF_SHM_CLOSED ((uint64_t)1)

/* This process's end of one ring. */
struct wf_shm_end {
	struct wf_shm_words *words;
	char *slots;
	_Atomic uint64_t count; /* messages that went through this end */
	size_t slot;            /* where the next one goes, or is */
	uint64_t other;         /* how far the other end was when last looked at */
};

enum { WF_SHM_RECEIVERS = 1, WF_SHM_SENDERS = 2 };

struct wf_shm {
	weft_channel *ch; /* NULL: freed. Guarded by the list of those watched. */
	struct wf_shm *next, *prev;
	bool watched, passed_over; /* the same */
	_Atomic int pins;          /* who uses it, and must be waited for before it is freed */
	/* Guarded by the channel's home. */
	bool armed, closed;
	int broken; /* -ECONNRESET: the other side is gone; -EPROTO; or 0 */
	unsigned in_vain;
	uint8_t glance_after, glance_pause; /* shm_watch.c: not before so many waits */
	_Atomic uint8_t waits;              /* who does: WF_SHM_RECEIVERS, WF_SHM_SENDERS */
	struct wf_shm_end in, out;
	/* Never change. */
	size_t size, stride, capacity;
	void *memory;
	size_t length;
	int fd;
	_Atomic int refs; /* the channel's, and that of the operation under way */
	unsigned run;     /* which run the operation belongs to */
	weft_op op;       /* waits for a bell, or for the end of the connection */
	char byte;
};

/* Sends or receives, inside the channel, as wf_channel_send. */
int wf_shm_send(weft_channel *ch, struct wf_pass *pass, const void *from);
int wf_shm_receive(weft_channel *ch, struct wf_pass *pass, void *to);

/* Does what can be done for those who wait, inside the channel. Returns whether
 * somebody still does. */
bool wf_shm_serve(weft_channel *ch, struct wf_pass *pass);
/* Ends all waits. */
void wf_shm_fail(weft_channel *ch, struct wf_pass *pass, int error);

/* Somebody is about to wait: asks to be told, if need be, and tries for the last time. */
int wf_shm_want(weft_channel *ch, struct wf_pass *pass, bool sends, const void *from, void *to);
void wf_shm_tell(weft_channel *ch, bool sends);
/* A case was listed, or taken off. wf_shm_forsaken: nobody waits any more who could be
 * told, and wf_shm_call_off is to be called, outside of the channel. */
void wf_shm_listed(weft_channel *ch);
bool wf_shm_forsaken(weft_channel *ch);
void wf_shm_call_off(struct wf_shm *shm);

int wf_shm_close(weft_channel *ch, struct wf_pass *pass);
size_t wf_shm_length(const struct wf_shm *shm);
void wf_shm_free(struct wf_shm *shm);

/* Whether the other process has gone. */
bool wf_shm_hung_up(const struct wf_shm *shm);

/* A pass owes the other process a bell; rings it, and lets go of the channel. */
void wf_shm_owe_bell(struct wf_shm *shm, struct wf_pass *pass);
void wf_shm_ring_bell(struct wf_shm *shm);

/* Looks for some hundred nanoseconds, outside of the channel, whether the wait that is
 * about to begin is over at once. `wf_shm_worth_a_glance`: inside. */
bool wf_shm_worth_a_glance(struct wf_shm *shm, const weft_thread *self);
bool wf_shm_glance(const struct wf_shm *shm, bool sends);
void wf_shm_glanced(struct wf_shm *shm, bool came);

/* Puts it among those watched; takes it off for good, so that it can be freed. */
void wf_shm_watch(struct wf_shm *shm);
void wf_shm_forget(struct wf_shm *shm);
void wf_shm_drop(struct wf_shm *shm);

/* What workers call, by wf_flows: about to sleep, and now and then while busy. */
bool wf_shm_look_out(struct wf_worker *w);
void wf_shm_look(void);
void wf_shm_run_begins(void);
void wf_shm_run_ends(void);

/* How many bytes the memory takes; 0: too many. */
size_t wf_shm_length_of(size_t size, size_t capacity);
/* Its memory and connection are there. `maker`: it sends through the first ring. */
void wf_shm_begin(struct wf_shm *shm, bool maker);
void wf_shm_set_up_op(struct wf_shm *shm);

#endif
