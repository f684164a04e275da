/* Callbacks, tamed functions, threads and async blocks wait for each other: all sixteen pairs, each
 * with an end by a value, by an error, by a cancel and by a deadline, in one color and in two, on one
 * worker and on two.
 *
 * What is waited for reads one byte of a pipe, in its style. The table says how each style waits for
 * each, and what comes of each end. Whatever the end: what is waited for has ended when the waiter
 * goes on, both have ended once, a byte that nobody got is still in the pipe, and nothing is left.
 */
/* backends: both */
#include "tame/common.h"

#include <errno.h>

#include "tame/tame.h"
#include "threads/blocking.h"

enum { WAITER = 51, BESIDE = 52 }; /* colors */
enum { BYTE = 42 };

struct wait;

/* What is waited for. */
struct work {
	int fd;
	weft_color color;
	atomic_int begun, ends;
	/* By a callback. */
	atomic_int stopped;
	weft_op op;
	char byte;
	void (*then)(struct work *k, int result);
	event(int) e;
	weft_fn *on_stop;
	/* By a thread. */
	int result;
};

struct wait {
	struct work work; /* first */
	weft_color color;
	uint64_t deadline;
	int result;
	atomic_int ends;
	/* How a waiter is told to stop, and when it is late: each style has its own. */
	weft_timer timer;
	weft_scope *scope;
	event() stop;
	weft_wait suspended;
	bool late, stopped;
};

static struct wait *wait_of(struct work *k)
{
	return (struct wait *)(void *)k;
}

static int result_of(int64_t n, char byte)
{
	return n == 1 ? byte : n == 0 ? -EPIPE : (int)n;
}

/* What is waited for, by callbacks: a function is called when the byte was read. */

static void op_done(void *arg)
{
	struct work *k = arg;

	atomic_fetch_add(&k->ends, 1);
	k->then(k, result_of(k->op.result, k->byte));
}

static void start_op(void *arg)
{
	struct work *k = arg;

	CHECK_EQ(weft_op_read(&k->op, k->fd, &k->byte, 1), 0);
	if (atomic_load(&k->stopped))
		(void)weft_op_cancel(&k->op);
	atomic_store(&k->begun, 1);
}

/* In whatever color: the operation may not have been started yet. */
static void stop_op(void *arg)
{
	struct work *k = arg;

	atomic_store(&k->stopped, 1);
	(void)weft_op_cancel(&k->op);
}

/* By a tamed function, which lets a cancel pass. */
static tamed read_tamed(struct work *k, event(int) done)
{
	rendezvous(bool) r;
	ssize_t n = 0;
	bool stop;

	weft_tell_cancel(done, mkevent(r, true));
	weft_read_ev(k->fd, &k->byte, 1, mkevent(r, false, n));
	atomic_store(&k->begun, 1);
	twait(r, stop);
	if (stop) {
		rv_stop(r);
		twait(r, stop);
	}
	atomic_fetch_add(&k->ends, 1);
	trigger(done, result_of(n, k->byte));
}

/* By a thread. */
static int read_thread(void *arg)
{
	struct work *k = arg;
	char byte = 0;
	ssize_t n;

	CHECK_EQ(weft_hop(k->color), 0);
	atomic_store(&k->begun, 1);
	n = weft_read(k->fd, &byte, 1);
	atomic_fetch_add(&k->ends, 1);
	return result_of(n, byte);
}

static threaded int read_threaded(struct work *k)
{
	return read_thread(k);
}

/* By async blocks, in a finish block. */
static int read_body(void *arg)
{
	struct work *k = arg;

	k->result = read_thread(k);
	return 0;
}

static int read_finish(struct work *k)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(read_body, k), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	return k->result;
}

/* Waiters */

/* In the waiter's color. What it waited for has ended. */
static void ended(struct wait *w, int result)
{
	CHECK_EQ(weft_color_current(), w->color);
	CHECK_EQ(atomic_load(&w->work.ends), atomic_load(&w->work.begun));
	w->result = w->late && result == -ECANCELED ? -ETIMEDOUT : result;
	atomic_fetch_add(&w->ends, 1);
}

/* Callbacks wait. For a callback by naming the next function; for the other styles by a call that
 * ends by calling it. */

static void (*stop_callback)(struct wait *w);

static void is_late(void *arg)
{
	struct wait *w = arg;

	if (w->stopped)
		return;
	w->late = true;
	stop_callback(w);
}

static void start_timer(struct wait *w)
{
	weft_timer_init(&w->timer, w->color, is_late, w);
	if (w->deadline != WEFT_FOREVER)
		CHECK_EQ(weft_timer_start_until(&w->timer, w->deadline), 0);
}

static void callback(void *arg)
{
	struct wait *w = arg;

	(void)weft_timer_cancel(&w->timer);
	if (w->stop != NULL && !w->stopped)
		weft_event_drop(w->stop);
	ended(w, w->work.result);
}

static void call_back(struct work *k, int result)
{
	k->result = result;
	CHECK_EQ(weft_post(wait_of(k)->color, callback, k), 0);
}

static void cancel_op(struct wait *w)
{
	stop_op(&w->work);
}

static void callback_for_callback(struct wait *w)
{
	stop_callback = cancel_op;
	start_timer(w);
	w->work.then = call_back;
	CHECK_EQ(weft_post(w->work.color, start_op, &w->work), 0);
}

static void trigger_stop(struct wait *w)
{
	w->stopped = true;
	trigger(w->stop);
}

/* The other half of a callback that waits for a tamed function is a tamed function. */
static tamed tame_and_call(struct wait *w)
{
	rendezvous(bool) r;
	bool stop;
	int rc;

	w->stop = mkevent(r, true);
	ton(w->work.color, read_tamed, &w->work, mkevent(r, false, rc));
	twait(r, stop);
	if (stop) {
		rv_stop(r);
		twait(r, stop);
	}
	rv_cancel(r);
	call_back(&w->work, rc);
}

static void callback_for_tamed(struct wait *w)
{
	stop_callback = trigger_stop;
	start_timer(w);
	tame_and_call(w);
}

static void cancel_scope(struct wait *w)
{
	if (w->scope != NULL)
		(void)weft_scope_cancel(w->scope);
}

/* In a scope that is known in the waiter's color while there is one. */
static int in_scope(struct wait *w, int (*fn)(struct wait *w))
{
	weft_scope s;
	int rc, error;

	weft_scope_begin(&s);
	w->scope = &s;
	if (w->deadline != WEFT_FOREVER)
		CHECK_EQ(weft_scope_deadline(&s, w->deadline), 0);
	rc = fn(w);
	CHECK_EQ(weft_hop(w->color), 0);
	w->scope = NULL;
	error = weft_scope_end(&s);
	w->late = error == -ETIMEDOUT;
	return rc;
}

static int read_here(struct wait *w)
{
	return read_thread(&w->work);
}

static int thread_and_call(void *arg)
{
	struct wait *w = arg;

	call_back(&w->work, in_scope(w, read_here));
	return 0;
}

static void callback_for_thread(struct wait *w)
{
	w->stop = NULL;
	weft_timer_init(&w->timer, w->color, is_late, w);
	CHECK_EQ(weft_go_on(w->color, thread_and_call, w), 0);
}

static int read_finish_here(struct wait *w)
{
	return read_finish(&w->work);
}

static int finish_and_call(void *arg)
{
	struct wait *w = arg;

	call_back(&w->work, in_scope(w, read_finish_here));
	return 0;
}

static void callback_for_async(struct wait *w)
{
	weft_timer_init(&w->timer, w->color, is_late, w);
	CHECK_EQ(weft_async_call(finish_and_call, w), 0);
}

/* Tamed functions wait for events; these are what makes one of each style. */

static void trigger_it(struct work *k, int result)
{
	trigger(k->e, result);
}

static void start_op_for_event(void *arg)
{
	struct work *k = arg;

	start_op(k);
	weft_on_cancel(k->e, stop_op, k);
}

static void op_ev(struct work *k, event(int) e)
{
	k->e = e;
	k->then = trigger_it;
	CHECK_EQ(weft_post(k->color, start_op_for_event, k), 0);
}

static void tamed_ev(struct work *k, event(int) e)
{
	ton(k->color, read_tamed, k, e);
}

static tamed thread_ev(struct work *k, event(int) e)
{
	tfork(e, read_threaded(k));
}

static int read_in_scope(weft_scope *s, void *work)
{
	(void)s;
	return read_finish(work);
}

static void scope_ev(struct work *k, event(int) e)
{
	weft_scope_ev(read_in_scope, k, e);
}

enum { CAME, STOP, LATE };

static tamed tamed_waits(struct wait *w, void (*begin)(struct work *k, event(int) e))
{
	rendezvous(int) r;
	int rc = 1, i = CAME, why = CAME;

	w->stop = mkevent(r, STOP);
	if (w->deadline != WEFT_FOREVER)
		weft_until_ev(w->deadline, mkevent(r, LATE));
	begin(&w->work, mkevent(r, CAME, rc));
	twait(r, why);
	i = why;
	while (i != CAME) {
		rv_stop(r);
		twait(r, i);
	}
	rv_cancel(r);
	if (!w->stopped)
		weft_event_drop(w->stop);
	w->late = why == LATE;
	ended(w, rc);
}

static void tamed_for_callback(struct wait *w)
{
	tamed_waits(w, op_ev);
}

static void tamed_for_tamed(struct wait *w)
{
	tamed_waits(w, tamed_ev);
}

static void tamed_for_thread(struct wait *w)
{
	tamed_waits(w, thread_ev);
}

static void tamed_for_async(struct wait *w)
{
	tamed_waits(w, scope_ev);
}

/* Threads wait by calls, and so do async blocks. */

static void schedule_it(struct work *k, int result)
{
	k->result = result;
	CHECK_EQ(weft_schedule(&wait_of(k)->suspended), 0);
}

static bool stop_suspended(weft_wait *w)
{
	stop_op(&WF_CONTAINER(w, struct wait, suspended)->work);
	return false; /* the callback comes */
}

static int suspend(struct wait *w)
{
	w->suspended = (weft_wait)WEFT_WAIT_INIT("a byte", stop_suspended);
	w->work.then = schedule_it;
	if (w->work.color == weft_color_current())
		start_op(&w->work);
	else
		CHECK_EQ(weft_post(w->work.color, start_op, &w->work), 0);
	CHECK_EQ(weft_suspend(&w->suspended), 0);
	return w->work.result;
}

static threaded int wait_in_block(struct wait *w)
{
	int rc = 1;

	twait {
		ton(w->work.color, read_tamed, &w->work, mkevent(rc));
	}
	return rc;
}

/* A join that is cancelled has not happened; the thread is in the same scope, and ends soon. */
static int join_thread(struct wait *w)
{
	weft_thread *t;
	weft_scope shield;
	int rc, value = 1;

	CHECK_EQ(weft_thread_start(&t, NULL, read_thread, &w->work), 0);
	rc = weft_join(t, &value);
	if (rc == -ECANCELED) {
		weft_shield_begin(&shield);
		rc = weft_join(t, &value);
		CHECK_EQ(weft_scope_end(&shield), 0);
	}
	return rc < 0 ? rc : value;
}

static int (*call)(struct wait *w);

static int thread_waits(void *arg)
{
	struct wait *w = arg;

	ended(w, in_scope(w, call));
	return 0;
}

static void in_thread(struct wait *w, int (*fn)(struct wait *w))
{
	call = fn;
	CHECK_EQ(weft_go_on(w->color, thread_waits, w), 0);
}

static void thread_for_callback(struct wait *w)
{
	in_thread(w, suspend);
}

static void thread_for_tamed(struct wait *w)
{
	in_thread(w, wait_in_block);
}

static void thread_for_thread(struct wait *w)
{
	in_thread(w, join_thread);
}

static void thread_for_async(struct wait *w)
{
	in_thread(w, read_finish_here);
}

/* Blocks of a finish block. */
static int body_waits(void *arg)
{
	struct wait *w = arg;

	w->result = call(w);
	return 0;
}

static int finish_waits(struct wait *w)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(body_waits, w), 0);
	(void)weft_scope_end(&s); /* a thread that it waited for may have failed */
	return w->result;
}

static int async_waits(void *arg)
{
	struct wait *w = arg;

	ended(w, in_scope(w, finish_waits));
	return 0;
}

static void in_body(struct wait *w, int (*fn)(struct wait *w))
{
	call = fn;
	CHECK_EQ(weft_async_call(async_waits, w), 0);
}

static void async_for_callback(struct wait *w)
{
	in_body(w, suspend);
}

static void async_for_tamed(struct wait *w)
{
	in_body(w, wait_in_block);
}

static void async_for_thread(struct wait *w)
{
	in_body(w, join_thread);
}

static void async_for_async(struct wait *w)
{
	in_body(w, read_finish_here);
}

/* The table. docs/guide/four-styles.md has it for people. */

static const struct pair {
	const char *waiter, *work, *how;
	void (*begin)(struct wait *w);
	void (*stop)(struct wait *w);
} pairs[] = {
	{ "callbacks", "callbacks", "done of an operation", callback_for_callback, cancel_op },
	{ "callbacks", "tamed", "a tamed function that calls", callback_for_tamed, trigger_stop },
	{ "callbacks", "threads", "a thread that posts", callback_for_thread, cancel_scope },
	{ "callbacks", "async", "weft_async_call", callback_for_async, cancel_scope },
	{ "tamed", "callbacks", "trigger in done", tamed_for_callback, trigger_stop },
	{ "tamed", "tamed", "mkevent", tamed_for_tamed, trigger_stop },
	{ "tamed", "threads", "tfork", tamed_for_thread, trigger_stop },
	{ "tamed", "async", "weft_scope_ev", tamed_for_async, trigger_stop },
	{ "threads", "callbacks", "weft_suspend", thread_for_callback, cancel_scope },
	{ "threads", "tamed", "twait", thread_for_tamed, cancel_scope },
	{ "threads", "threads", "weft_join", thread_for_thread, cancel_scope },
	{ "threads", "async", "weft_finish", thread_for_async, cancel_scope },
	{ "async", "callbacks", "weft_suspend", async_for_callback, cancel_scope },
	{ "async", "tamed", "twait", async_for_tamed, cancel_scope },
	{ "async", "threads", "weft_join", async_for_thread, cancel_scope },
	{ "async", "async", "weft_finish", async_for_async, cancel_scope },
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

enum end { BY_VALUE, BY_ERROR, BY_CANCEL, BY_DEADLINE, ENDS };
static const struct {
	const char *name;
	int result;
} ends[ENDS] = {
	[BY_VALUE] = { "value", BYTE },
	[BY_ERROR] = { "error", -EPIPE },
	[BY_CANCEL] = { "cancel", -ECANCELED },
	[BY_DEADLINE] = { "deadline", -ETIMEDOUT },
};

/* The walk */

static struct wait w;
static const struct pair *pair;
static int fd[2];
static atomic_int stops; /* under way */

static void begin(void *unused)
{
	(void)unused;
	pair->begin(&w);
}

/* As in all of Weft who ends first is right: it may have ended already. */
static void stop(void *unused)
{
	(void)unused;
	if (atomic_load(&w.ends) == 0 && !w.stopped)
		pair->stop(&w);
	atomic_store(&stops, 0);
}

static void post_stop(void)
{
	atomic_store(&stops, 1);
	CHECK_EQ(weft_post(WAITER, stop, NULL), 0);
}

static void ignore_text(const char *text, void *unused)
{
	(void)text;
	(void)unused;
}

static void let_all_run(void)
{
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_yield(), 0);
}

static void begin_wait(bool beside, uint64_t deadline)
{
	memset(&w, 0, sizeof w);
	make_pipe(fd);
	w.work.fd = fd[0];
	w.color = WAITER;
	w.work.color = beside ? BESIDE : WAITER;
	w.deadline = deadline;
	weft_op_init(&w.work.op, w.work.color, op_done, &w.work);
	CHECK_EQ(weft_post(WAITER, begin, NULL), 0);
	YIELD_UNTIL(atomic_load(&w.work.begun) || atomic_load(&w.ends));
}

static void give_byte(void)
{
	const char byte = BYTE;

	CHECK_EQ(write(fd[1], &byte, 1), 1);
}

/* Nobody writes to anything, or takes anything, when both have ended. */
static void end_wait(bool byte_left)
{
	char byte = 0;

	YIELD_UNTIL(atomic_load(&w.ends) > 0 && atomic_load(&stops) == 0);
	YIELD_UNTIL(atomic_load(&wf_tame_events_in_use) == 0);
	YIELD_UNTIL(weft_tame_each(ignore_text, NULL) == 0);
	if (byte_left) {
		give_byte();
		let_all_run();
		CHECK_EQ(weft_read(fd[0], &byte, 1), 1);
		CHECK_EQ(byte, BYTE);
	}
	CHECK_EQ(atomic_load(&w.ends), 1);
	CHECK_EQ(atomic_load(&w.work.ends), atomic_load(&w.work.begun));
	CHECK_EQ(weft_close(fd[0]), 0);
	if (fd[1] >= 0)
		CHECK_EQ(weft_close(fd[1]), 0);
}

static void end_it(enum end end)
{
	if (end == BY_VALUE)
		give_byte();
	if (end == BY_CANCEL)
		post_stop();
	if (end == BY_ERROR) {
		CHECK_EQ(weft_close(fd[1]), 0);
		fd[1] = -1;
	}
}

static void one_wait(enum end end, bool beside)
{
	begin_wait(beside, end == BY_DEADLINE ? weft_now() + WEFT_MS : WEFT_FOREVER);
	end_it(end);
	end_wait(end == BY_CANCEL || end == BY_DEADLINE);
	if (w.result != ends[end].result)
		printf("%s for %s by %s, end by %s, %s:\n", pair->waiter, pair->work, pair->how,
		       ends[end].name, beside ? "in two colors" : "in one color");
	CHECK_EQ(w.result, ends[end].result);
}

static int count[ENDS];

/* A run for each wait: it ends only if no thread, operation, timer or event is left. */
static int walk(void *end_and_beside)
{
	int n = (int)(intptr_t)end_and_beside;

	if (weft_workers() > 1) {
		CHECK_EQ(weft_color_pin(WAITER, 0), 0);
		CHECK_EQ(weft_color_pin(BESIDE, 1), 0);
	}
	one_wait((enum end)(n / 2), n % 2 != 0);
	count[n / 2]++;
	CHECK_EQ(weft_color_pin(WAITER, -1), 0);
	CHECK_EQ(weft_color_pin(BESIDE, -1), 0);
	return 0;
}

TEST(each_style_waits_for_each_with_each_end)
{
	memset(count, 0, sizeof count);
	for (pair = pairs; pair < pairs + PAIRS; pair++)
		for (int n = 0; n < 2 * ENDS; n++)
			for (int workers = 1; workers <= 2; workers++)
				run_on(workers, walk, (void *)(intptr_t)n);
	printf("%d pairs, in one color and in two, on one worker and on two:", (int)PAIRS);
	for (int end = 0; end < ENDS; end++) {
		CHECK_EQ(count[end], 4 * PAIRS);
		printf(" %s %d", ends[end].name, count[end]);
	}
	printf("\n");
}

/* The byte and the cancel come at once: it was read, and the waiter has it; or it was not, and it is
 * still there. */
enum { RACES = 20 };

static int got[2];

static int race(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_pin(BESIDE, 1), 0);
	for (int i = 0; i < RACES; i++) {
		begin_wait(i % 4 < 2, i % 8 == 7 ? weft_now() : WEFT_FOREVER);
		if (i % 2 == 0)
			give_byte();
		post_stop();
		if (i % 2 != 0)
			give_byte();
		YIELD_UNTIL(atomic_load(&w.ends) > 0);
		CHECK(w.result == BYTE || w.result == -ECANCELED || w.result == -ETIMEDOUT);
		got[w.result == BYTE]++;
		if (w.result != BYTE)
			CHECK_EQ(weft_read(fd[0], &w.work.byte, 1), 1);
		end_wait(true);
	}
	CHECK_EQ(weft_color_pin(BESIDE, -1), 0);
	return 0;
}

TEST(no_byte_is_lost_between_a_value_and_a_cancel)
{
	for (pair = pairs; pair < pairs + PAIRS; pair++)
		run_on(2, race, NULL);
	printf("%d pairs, %d races: %d by value, %d by cancel\n", (int)PAIRS, (int)PAIRS * RACES,
	       got[1], got[0]);
	CHECK_EQ(got[0] + got[1], PAIRS * RACES);
}

TEST_MAIN
