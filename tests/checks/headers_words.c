/* headers_words.c - what a user writes with the words of the public headers that are not
 * functions. tests/checks/headers compiles it with uses of each function macro, which it makes
 * by itself.
 */
#include <weft/tame_lock.h>
#include <weft/trigger.h>
#include <weft/weft.h>

struct pair {
	int a, b;
};

#ifdef __cplusplus
/* An argument with a comma in it, which becomes what the parameter wants. */
template <class, class> struct any {
	template <class T> operator T() const
	{
		return T();
	}
};
#define ANY_NUMBER any<int, int>()
#define ANY_POINTER any<int, int>()
#define ANY_HANDLER any<int, int>()
#define ANY_THREAD any<int, int>()
#else
struct any {
	unsigned char number;
	void *pointer;
	weft_fn *handler;
	weft_thread_fn *thread;
};
#define ANY_NUMBER (struct any){ .number = 0, .pointer = NULL }.number
#define ANY_POINTER (struct any){ .number = 0, .pointer = NULL }.pointer
#define ANY_HANDLER (struct any){ .number = 0, .pointer = NULL }.handler
#define ANY_THREAD (struct any){ .number = 0, .pointer = NULL }.thread
#endif

extern weft_wait wait_for;

WEFT_CHANNEL(pairs, struct pair);
WEFT_CHANNEL(numbers, int);

/* A user's types may be called like anything. */
typedef struct pair rc, at, attr, capacity, message, deadline, to, from;
WEFT_CHANNEL(c, rc);
WEFT_CHANNEL(ch, at);
WEFT_CHANNEL(attrs, attr);
WEFT_CHANNEL(capacities, capacity);
WEFT_CHANNEL(messages, message);
WEFT_CHANNEL(deadlines, deadline);
WEFT_CHANNEL(tos, to);
WEFT_CHANNEL(froms, from);

static WEFT_NO_WAIT bool stop(weft_wait *w)
{
	return w == &wait_for;
}

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static weft_sem sem = WEFT_SEM_INIT(3);
static weft_once once = WEFT_ONCE_INIT;
static weft_barrier barrier = WEFT_BARRIER_INIT(3);
static weft_waitgroup waitgroup = WEFT_WAITGROUP_INIT;
static weft_eventcount eventcount = WEFT_EVENTCOUNT_INIT;
static weft_tame_lock lock = WEFT_TAME_LOCK_INIT;
weft_wait wait_for = WEFT_WAIT_INIT("an answer", stop);

int headers_words(int n);
int headers_atomic(const int *counts, int n);
void headers_triggers(WEFT_EVENT() done, WEFT_EVENT(int, struct pair) told, struct pair pair);

void headers_triggers(WEFT_EVENT() done, WEFT_EVENT(int, struct pair) told, struct pair pair)
{
	weft_trigger(told, 1, pair);
	weft_trigger(done);
	weft_event_drop(done);
	weft_on_cancel(done, ANY_HANDLER, ANY_POINTER);
	weft_tell_cancel(told, done);
}

int headers_words(int n)
{
	const uint64_t times[] = { 3 * WEFT_US, 3 * WEFT_MS, 3 * WEFT_SEC, WEFT_FOREVER };
	const void *const all[] = { &mutex,   &cond,      &rwlock,     &sem,  &once,
				    &barrier, &waitgroup, &eventcount, &lock, &wait_for };
	weft_sem local = WEFT_SEM_INIT(n);
	struct pair pair = { n, n };

	(void)local, (void)all;
	return pairs_send(pairs_new(3), pair) + numbers_send(numbers_new(3), n) + (times[0] > 0);
}

/* The block is left like any other; an else after it is that of the if around it. */
int headers_atomic(const int *counts, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (counts[i] != 0)
			WEFT_ATOMIC
			{
				if (counts[i] < 0)
					break;
				if (counts[i] > 100)
					return sum;
				sum += counts[i];
			}
		else
			WEFT_ATOMIC
			{
				continue;
			}
	}
	return sum;
}

#ifdef BLOCKS
int headers_blocks(int n);

int headers_blocks(int n)
{
	int result = 0;

	weft_finish (all, &result) {
		weft_async
		{
			n++;
			weft_cancel();
		};
		weft_async_own (n) {
			n++;
			weft_fail(all, n);
		};
		weft_deadline(all, 3);
		weft_fail(n);
		weft_deadline(n);
	}
	weft_finish () {
		weft_cancel();
	}
	weft_shield
	{
		weft_cancel();
	}
	return result;
}
#endif

#ifndef __cplusplus
static int main_thread(void *arg)
{
	(void)arg;
	return weft_go(main_thread, &(struct pair){ 1, 2 });
}

int headers_literals(void);

int headers_literals(void)
{
	weft_thread *thread;
	int (*run)(int (*)(void *), void *, const weft_options *) = weft_run;

	if (run(main_thread, NULL, NULL) != 0)
		return 1;
	weft_thread_start(&thread, &(weft_thread_attr){ .on = true, .color = 3 }, main_thread,
			  NULL);
	return weft_run(main_thread, NULL, &(weft_options){ .workers = 1, .io = "epoll" });
}
#endif
