/* Threads that are cancelled while they wait in a twait block or by twait(r): each event that was out
 * has happened, and its slot says so, or it has not; and the wait ends when all have ended. */
/* backends: both */
#include "tame/common.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "tame/tame.h"
#include "threads/blocking.h"

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

/* No closure, and no memory for an event or its operation. */
static void nothing_is_left(void)
{
	for (int i = 0; i < 100000 && atomic_load(&wf_tame_events_in_use) > 0; i++)
		weft_yield();
	CHECK_EQ(weft_tame_each(ignore_text, NULL), 0);
	CHECK_EQ(atomic_load(&wf_tame_events_in_use), 0);
}

/* Runs fn until it waits, and cancels it. */
static int cancelled(int (*fn)(void *), void *arg)
{
	weft_scope s;
	int rc;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(fn, arg), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	rc = weft_scope_end(&s);
	nothing_is_left();
	return rc;
}

/* Primitive events */

struct many {
	int fd[2], ls;
	weft_channel *full, *empty;
	weft_mutex *mutex;
	weft_thread *thread;
	ssize_t n[4];
	int rc[12], value;
	char buf[8];
	bool ended;
};

static int sleep_long(void *unused)
{
	(void)unused;
	return weft_sleep(1000 * WEFT_SEC);
}

static int sleep_in_scope(weft_scope *scope, void *unused)
{
	(void)scope;
	return sleep_long(unused);
}

static threaded int wait_for_many(void *arg)
{
	struct many *m = arg;
	int message = 1, got = 0, signo = 0;

	twait {
		weft_sleep_ev(1000 * WEFT_SEC, mkevent());
		weft_read_ev(m->fd[0], m->buf, 8, mkevent(m->n[0]));
		weft_fd_ev(m->ls, POLLIN, mkevent(m->rc[0]));
		weft_accept_ev(m->ls, NULL, mkevent(m->rc[1]));
		weft_channel_send_ev(m->full, &message, mkevent(m->rc[2]));
		weft_channel_receive_ev(m->empty, &got, mkevent(m->rc[3]));
		weft_mutex_lock_ev(m->mutex, mkevent(m->rc[4]));
		weft_join_ev(m->thread, mkevent(m->rc[5], m->value));
		weft_signal_ev(SIGUSR2, mkevent(signo));
		weft_scope_ev(sleep_in_scope, NULL, mkevent(m->rc[6]));
	}
	CHECK(weft_cancelled());
	CHECK_EQ(m->n[0], -ECANCELED);
	for (int i = 0; i < 7; i++)
		CHECK_EQ(m->rc[i], -ECANCELED);
	CHECK_EQ(signo, -ECANCELED);
	CHECK_EQ(got, 0);
	m->ended = true;
	return 0;
}

static void check_undone(struct many *m)
{
	struct sockaddr_in addr = address_of(m->ls);
	int fd, x = 0;

	CHECK_EQ(weft_write(m->fd[1], "hello", 5), 5);
	CHECK_EQ(weft_read(m->fd[0], m->buf, 8), 5);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(weft_connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
	CHECK_EQ(weft_close(fd), 0);
	fd = weft_accept(m->ls, NULL);
	CHECK(fd >= 0);
	CHECK_EQ(weft_close(fd), 0);
	CHECK_EQ(weft_channel_receive(m->full, &x), 0);
	CHECK_EQ(x, 7);
	CHECK_EQ(weft_channel_try_receive(m->full, &x), -EAGAIN);
	CHECK_EQ(weft_mutex_unlock(m->mutex), 0);
	CHECK_EQ(weft_mutex_lock(m->mutex), 0);
	CHECK_EQ(weft_mutex_unlock(m->mutex), 0);
}

static void make_many(struct many *m, weft_mutex *mutex, weft_scope *s)
{
	int x = 7;

	*m = (struct many){ .mutex = mutex };
	make_pipe(m->fd);
	m->ls = listener();
	m->full = weft_channel_new(sizeof(int), 1);
	m->empty = weft_channel_new(sizeof(int), 1);
	CHECK_EQ(weft_channel_send(m->full, &x), 0);
	CHECK_EQ(weft_mutex_lock(mutex), 0);
	weft_scope_begin(s);
	CHECK_EQ(weft_thread_start(&m->thread, NULL, sleep_long, NULL), 0);
}

static void free_many(struct many *m, weft_scope *s)
{
	int result = 0;

	CHECK_EQ(weft_scope_cancel(s), 0);
	(void)weft_scope_end(s);
	CHECK_EQ(weft_join(m->thread, &result), 0);
	CHECK_EQ(result, -ECANCELED);
	CHECK_EQ(weft_channel_free(m->full), 0);
	CHECK_EQ(weft_channel_free(m->empty), 0);
	CHECK_EQ(weft_close(m->fd[0]), 0);
	CHECK_EQ(weft_close(m->fd[1]), 0);
	CHECK_EQ(weft_close(m->ls), 0);
}

THREAD_TEST(primitive_events_of_a_block_that_is_cancelled_say_so_and_have_done_nothing, 1)
{
	weft_mutex mutex = WEFT_MUTEX_INIT;
	struct many m;
	weft_scope s;

	make_many(&m, &mutex, &s);
	CHECK_EQ(cancelled(wait_for_many, &m), 0);
	CHECK(m.ended);
	check_undone(&m);
	free_many(&m, &s);
	return 0;
}

/* The same by a rendezvous; what happened before the cancel says so. */
static threaded int wait_one_by_one(void *arg)
{
	struct many *m = arg;
	rendezvous(int) r;
	int got = 0, i, count = 0;

	weft_read_ev(m->fd[0], m->buf, 8, mkevent(r, 0, m->n[0]));
	weft_channel_receive_ev(m->full, &got, mkevent(r, 1, m->rc[0]));
	weft_accept_ev(m->ls, NULL, mkevent(r, 2, m->rc[1]));
	while (count < 3) {
		twait(r, i);
		count++;
		CHECK_EQ(weft_cancelled(), count > 1);
		CHECK_EQ(i == 1, count == 1);
	}
	CHECK_EQ(m->rc[0], 0);
	CHECK_EQ(got, 7);
	CHECK_EQ(m->n[0], -ECANCELED);
	CHECK_EQ(m->rc[1], -ECANCELED);
	m->ended = true;
	return 0;
}

THREAD_TEST(a_rendezvous_that_is_waited_for_tells_of_each_event_that_was_cancelled, 1)
{
	weft_mutex mutex = WEFT_MUTEX_INIT;
	struct many m;
	weft_scope s;

	make_many(&m, &mutex, &s);
	CHECK_EQ(cancelled(wait_one_by_one, &m), 0);
	CHECK(m.ended);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	free_many(&m, &s);
	return 0;
}

/* Part of a transfer was done. */
struct part {
	int fd[2];
	ssize_t n, m;
	char *data;
};

enum { PART = 4 << 20 };

static threaded int transfer(void *arg)
{
	struct part *p = arg;
	char buf[8];

	twait {
		weft_write_all_ev(p->fd[1], p->data, PART, mkevent(p->n));
		weft_read_exactly_ev(p->fd[1], buf, 8, mkevent(p->m));
	}
	return 0;
}

THREAD_TEST(a_transfer_that_is_cancelled_tells_how_much_was_done, 1)
{
	struct part p = { .data = calloc(1, PART) };
	ssize_t n, all = 0;
	char buf[4096];

	socket_pair(p.fd);
	CHECK_EQ(weft_write(p.fd[0], "abc", 3), 3);
	CHECK_EQ(cancelled(transfer, &p), 0);
	CHECK_EQ(p.m, 3);
	CHECK(p.n > 0);
	CHECK(p.n < PART);
	CHECK_EQ(weft_close(p.fd[1]), 0);
	while ((n = weft_read(p.fd[0], buf, sizeof buf)) > 0)
		all += n;
	CHECK_EQ(all, p.n);
	CHECK_EQ(weft_close(p.fd[0]), 0);
	free(p.data);
	return 0;
}

/* A byte, message or connection that arrives during a cancel is reported, or still there to be taken. */
struct moment {
	int fd[2], ls, other;
	weft_channel *ch;
	ssize_t n;
	int rc, message, conn;
	char buf[8];
};

static threaded int wait_for_each(void *arg)
{
	struct moment *m = arg;

	twait {
		weft_read_ev(m->fd[0], m->buf, 8, mkevent(m->n));
		weft_channel_receive_ev(m->ch, &m->message, mkevent(m->rc));
		weft_accept_ev(m->ls, NULL, mkevent(m->conn));
	}
	return 0;
}

static void bring(struct moment *m)
{
	struct sockaddr_in addr = address_of(m->ls);
	int x = 3;

	CHECK_EQ(write(m->fd[1], "hello", 5), 5);
	CHECK_EQ(weft_channel_send(m->ch, &x), 0);
	m->other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(connect(m->other, (struct sockaddr *)&addr, sizeof addr), 0);
}

static void check_moment(struct moment *m)
{
	if (m->n == -ECANCELED)
		m->n = weft_read(m->fd[0], m->buf, 8);
	CHECK_EQ(m->n, 5);
	CHECK(memcmp(m->buf, "hello", 5) == 0);
	if (m->rc == -ECANCELED)
		m->rc = weft_channel_receive(m->ch, &m->message);
	CHECK_EQ(m->rc, 0);
	CHECK_EQ(m->message, 3);
	if (m->conn == -ECANCELED)
		m->conn = weft_accept(m->ls, NULL);
	CHECK(m->conn >= 0);
	CHECK_EQ(weft_close(m->conn), 0);
	CHECK_EQ(weft_close(m->other), 0);
}

static void one_moment(struct moment *m, int stage)
{
	weft_scope s;

	*m = (struct moment){ .ls = m->ls, .ch = m->ch };
	(stage % 2 ? make_pipe : socket_pair)(m->fd);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_each, m), 0);
	for (int i = 0; i < stage / 8; i++)
		weft_yield();
	bring(m);
	for (int i = 0; i < stage / 2 % 4; i++)
		weft_yield();
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	nothing_is_left();
	check_moment(m);
	CHECK_EQ(weft_close(m->fd[0]), 0);
	CHECK_EQ(weft_close(m->fd[1]), 0);
}

THREAD_TEST(nothing_is_lost_that_comes_while_the_cancel_is_under_way, 1)
{
	struct moment m = { .ls = listener(), .ch = weft_channel_new(sizeof(int), 1) };

	for (int stage = 0; stage < 64; stage++)
		one_moment(&m, stage);
	CHECK_EQ(weft_channel_free(m.ch), 0);
	CHECK_EQ(weft_close(m.ls), 0);
	return 0;
}

/* Tamed functions */

static weft_channel *quiet;
static int received, told;

/* Writes nothing about cancels: so who waits for it waits until it has ended. */
static tamed knows_nothing(event(int) done)
{
	int rc;

	twait {
		weft_channel_receive_ev(quiet, &received, mkevent(rc));
	}
	trigger(done, rc);
}

/* The four lines that let a cancel pass. */
static tamed passes_on(event(int) done)
{
	rendezvous() r;
	int rc = -ECANCELED;

	weft_tell_cancel(done, mkevent(r));
	weft_channel_receive_ev(quiet, &received, mkevent(r, rc));
	twait(r);
	rv_cancel(r);
	trigger(done, rc);
}

/* Gives its event on: whoever has it is told. */
static tamed gives_on(event(int) done)
{
	passes_on(done);
}

static tamed passes_on_twice(event(int) done)
{
	rendezvous() r;
	int rc = -ECANCELED;

	weft_tell_cancel(done, mkevent(r));
	ton(weft_color_new(), passes_on, mkevent(r, rc));
	twait(r);
	rv_cancel(r);
	trigger(done, rc);
}

static void (*tamed_function)(event(int) done);

static threaded int wait_for_tamed(void *arg)
{
	int rc = 1;

	twait {
		tamed_function(mkevent(rc));
	}
	CHECK(weft_cancelled());
	*(int *)arg = rc;
	return 0;
}

THREAD_TEST(a_cancel_passes_through_tamed_functions_that_pass_it_on, 2)
{
	void (*const all[])(event(int)) = { passes_on, gives_on, passes_on_twice };
	int rc, x = 3;

	quiet = weft_channel_new(sizeof(int), 1);
	for (int i = 0; i < 3; i++) {
		rc = 0;
		received = 0;
		tamed_function = all[i];
		CHECK_EQ(cancelled(wait_for_tamed, &rc), 0);
		CHECK_EQ(rc, -ECANCELED);
		CHECK_EQ(weft_channel_send(quiet, &x), 0);
		let_all_run();
		CHECK_EQ(received, 0); /* nobody takes it any more */
		CHECK_EQ(weft_channel_receive(quiet, &x), 0);
	}
	CHECK_EQ(weft_channel_free(quiet), 0);
	return 0;
}

THREAD_TEST(a_tamed_function_that_knows_nothing_of_cancels_is_waited_for, 1)
{
	int rc = 0, x = 3;
	weft_scope s;

	quiet = weft_channel_new(sizeof(int), 1);
	tamed_function = knows_nothing;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_tamed, &rc), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	let_all_run();
	CHECK_EQ(rc, 0);
	CHECK_EQ(weft_channel_send(quiet, &x), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(rc, 0);
	CHECK_EQ(received, 3);
	nothing_is_left();
	CHECK_EQ(weft_channel_free(quiet), 0);
	return 0;
}

/* A tamed function asks in its turn, and gets each event: also what came in that moment. */
static int stopped_rc[3];

static tamed stops_its_own(weft_channel *ready, event(int) done)
{
	rendezvous(int) r;
	int i, got;

	weft_channel_receive_ev(quiet, &received, mkevent(r, 0, stopped_rc[0]));
	weft_channel_receive_ev(ready, &got, mkevent(r, 1, stopped_rc[1]));
	knows_nothing(mkevent(r, 2, stopped_rc[2]));
	rv_stop(r);
	rv_stop(r);
	for (i = 0; i < 3; i++)
		twait(r);
	trigger(done, got);
}

static threaded int wait_for_stopper(void *arg)
{
	int got = 0;

	twait {
		stops_its_own(arg, mkevent(got));
	}
	return got;
}

static int send_later(void *unused)
{
	int x = 3;

	(void)unused;
	let_all_run();
	return weft_channel_send(quiet, &x);
}

THREAD_TEST(rv_stop_asks_for_an_end_and_the_events_still_come, 1)
{
	weft_channel *ready = weft_channel_new(sizeof(int), 1);
	int x = 8;

	quiet = weft_channel_new(sizeof(int), 1);
	received = 0;
	CHECK_EQ(weft_channel_send(ready, &x), 0);
	CHECK_EQ(weft_go(send_later, NULL), 0);
	CHECK_EQ(wait_for_stopper(ready), 8);
	CHECK_EQ(stopped_rc[0], -ECANCELED);
	CHECK_EQ(stopped_rc[1], 0);
	CHECK_EQ(stopped_rc[2], 0); /* it does not listen */
	CHECK_EQ(received, 3);
	nothing_is_left();
	CHECK_EQ(weft_channel_free(ready), 0);
	CHECK_EQ(weft_channel_free(quiet), 0);
	return 0;
}

/* Hooks of plain C */

static event(int) kept;

static void hook(void *unused)
{
	(void)unused;
	told++;
}

static void hook_and_drop(void *unused)
{
	hook(unused);
	weft_event_drop(kept);
}

static threaded int wait_with_hook(void *fn)
{
	weft_fn *run = *(weft_fn **)fn;
	int x = 9;

	twait {
		kept = mkevent(x);
		weft_on_cancel(kept, run, NULL);
	}
	return x;
}

THREAD_TEST(a_hook_is_called_once_and_the_event_is_still_waited_for, 1)
{
	weft_fn *run = hook;
	weft_scope s;

	told = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_with_hook, &run), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(told, 0);
	let_all_run();
	CHECK_EQ(told, 1);
	CHECK(!weft_event_cancelled(kept)); /* its value is not lost */
	trigger(kept, -5);
	CHECK_EQ(weft_scope_end(&s), -5);
	CHECK_EQ(told, 1);
	nothing_is_left();
	return 0;
}

THREAD_TEST(an_event_that_is_triggered_while_the_word_is_on_its_way_is_not_told, 1)
{
	weft_fn *run = hook;
	weft_scope s;

	told = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_with_hook, &run), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	trigger(kept, -6);
	CHECK_EQ(weft_scope_end(&s), -6);
	nothing_is_left();
	CHECK_EQ(told, 0);
	return 0;
}

/* The memory of such an event is not used for another until the word has come. */
static int word_comes_late(void *unused)
{
	weft_fn *run = hook;
	event(int) others[4];
	weft_scope s, other;

	(void)unused;
	told = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_with_hook, &run), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	trigger(kept, -6);
	weft_shield_begin(&other);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(weft_async_call(wait_with_hook, &run), 0);
		others[i] = kept;
	}
	let_all_run();
	CHECK_EQ(atomic_load(&wf_tame_events_in_use), 4);
	for (int i = 0; i < 4; i++)
		trigger(others[i], -7);
	CHECK_EQ(weft_scope_end(&other), -7);
	CHECK_EQ(weft_scope_end(&s), -6);
	nothing_is_left();
	CHECK_EQ(told, 0);
	return 0;
}

TEST(a_word_that_comes_late_does_not_touch_other_events)
{
	setenv("WEFT_TAME", "no", 1); /* memory is used again at once */
	run_on(1, word_comes_late, NULL);
}

THREAD_TEST(an_event_that_is_given_back_when_asked_to_end_has_ended, 1)
{
	weft_fn *run = hook_and_drop;

	told = 0;
	catch_reports();
	CHECK_EQ(cancelled(wait_with_hook, &run), 0);
	CHECK_EQ(told, 1);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 0);
	return 0;
}

/* Reported, as it waits forever; but it can be cancelled now. */
THREAD_TEST(a_wait_for_an_event_that_was_given_back_ends_when_it_is_cancelled, 1)
{
	weft_fn *run = hook;
	weft_scope s;

	catch_reports();
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_with_hook, &run), 0);
	weft_event_drop(kept);
	CHECK(reported(WEFT_REPORT_MISUSE, "was given back and not triggered"));
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	nothing_is_left();
	return 0;
}

/* The hook is set after the cancel, and in another color. */
static void hook_late(void *unused)
{
	(void)unused;
	weft_on_cancel(kept, hook_and_drop, NULL);
}

static threaded int wait_without_hook(void *unused)
{
	rendezvous(int) r;
	int x = 9, i;

	(void)unused;
	kept = mkevent(r, 4, x);
	twait(r, i);
	CHECK_EQ(i, 4);
	CHECK_EQ(x, 9);
	return 0;
}

THREAD_TEST(who_asks_after_the_request_is_told_in_his_color, 2)
{
	weft_scope s;

	told = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_without_hook, NULL), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	let_all_run();
	CHECK_EQ(weft_post(77, hook_late, NULL), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	nothing_is_left();
	CHECK_EQ(told, 1);
	return 0;
}

/* A request, and then a cancel: the hook of the request was called, and nothing else. */
static threaded int waits_for_one_of_two(void *unused)
{
	rendezvous() r;
	int x = 9;

	(void)unused;
	kept = mkevent(r, x);
	weft_on_cancel(kept, hook, NULL);
	weft_sleep_ev(1000 * WEFT_SEC, mkevent(r));
	twait(r);
	rv_cancel(r);
	CHECK_EQ(x, 9);
	return 0;
}

THREAD_TEST(what_was_asked_to_end_may_be_cancelled_then, 1)
{
	weft_scope s;

	told = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(waits_for_one_of_two, NULL), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(told, 1);
	CHECK(weft_event_cancelled(kept));
	trigger(kept, 1);
	nothing_is_left();
	CHECK_EQ(told, 1);
	return 0;
}

/* Locks without a value */

static weft_tame_lock lock = WEFT_TAME_LOCK_INIT;

static threaded int wait_for_lock(void *got)
{
	twait {
		weft_lock_ev(&lock, mkevent());
	}
	CHECK(weft_cancelled());
	*(bool *)got = true;
	CHECK_EQ(weft_unlock(&lock), 0);
	return 0;
}

THREAD_TEST(a_lock_is_waited_for_until_it_is_had, 1)
{
	bool got = false;
	weft_scope s;

	CHECK_EQ(weft_trylock(&lock), 0);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_lock, &got), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	let_all_run();
	CHECK(!got);
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK(got);
	nothing_is_left();
	return 0;
}

static threaded int wait_for_lock_or_time(void *unused)
{
	rendezvous() r;

	(void)unused;
	weft_lock_ev(&lock, mkevent(r));
	weft_sleep_ev(1000 * WEFT_SEC, mkevent(r));
	twait(r);
	rv_cancel(r);
	return 0;
}

THREAD_TEST(a_lock_that_was_not_had_when_its_rendezvous_is_cancelled_is_given_up, 1)
{
	CHECK_EQ(weft_trylock(&lock), 0);
	CHECK_EQ(cancelled(wait_for_lock_or_time, NULL), 0);
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(weft_trylock(&lock), 0);
	CHECK_EQ(weft_unlock(&lock), 0);
	return 0;
}

/* tfork and nested calls */

static int sleeps(int times)
{
	int rc = 0;

	for (int i = 0; i < times && rc == 0; i++)
		rc = weft_sleep(1000 * WEFT_SEC);
	return rc;
}

static threaded int sleeps_by_event(int times)
{
	while (times-- > 0 && !weft_cancelled()) {
		twait {
			weft_sleep_ev(1000 * WEFT_SEC, mkevent());
		}
	}
	return weft_cancelled() ? -ECANCELED : 0;
}

static threaded int sleeps_elsewhere(int times)
{
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	return sleeps_by_event(times);
}

static threaded int forks(int depth)
{
	int a = 0, b = 0, c = 0;

	twait {
		tfork(mkevent(a), sleeps_by_event(3));
		tfork(mkevent(b), sleeps_elsewhere(3));
		if (depth > 0)
			tfork(mkevent(c), forks(depth - 1));
		else
			c = -ECANCELED;
	}
	CHECK_EQ(a, -ECANCELED);
	CHECK_EQ(b, -ECANCELED);
	CHECK_EQ(c, -ECANCELED);
	return -ECANCELED;
}

static threaded int forks_forks(void *unused)
{
	(void)unused;
	return forks(3);
}

THREAD_TEST(a_cancel_reaches_calls_that_were_forked_and_what_they_fork, 2)
{
	CHECK_EQ(cancelled(forks_forks, NULL), -ECANCELED);
	return 0;
}

static threaded int calls(int depth)
{
	int rc = 0;

	twait {
		tfork(mkevent(rc), sleeps_by_event(1));
		CHECK_EQ(depth > 0 ? calls(depth - 1) : sleeps(2), -ECANCELED);
	}
	CHECK(weft_cancelled());
	return rc;
}

static threaded int calls_calls(void *unused)
{
	(void)unused;
	return calls(4);
}

THREAD_TEST(a_cancel_reaches_nested_calls, 1)
{
	CHECK_EQ(cancelled(calls_calls, NULL), -ECANCELED);
	return 0;
}

/* A tamed function that forks: if nobody waits for the call any more it is cancelled. */
static int fork_result;

static threaded int sleeps_and_tells(int times)
{
	fork_result = sleeps_by_event(times);
	return fork_result;
}

static tamed forks_and_cancels(event(int) done)
{
	rendezvous() r;
	int rc = 1;

	tfork(mkevent(r, rc), sleeps_and_tells(2));
	weft_sleep_ev(0, mkevent(r));
	twait(r);
	rv_cancel(r);
	trigger(done, rc);
}

static threaded int wait_for_forker(void *unused)
{
	int rc = 0;

	(void)unused;
	fork_result = 0;
	twait {
		forks_and_cancels(mkevent(rc));
	}
	CHECK_EQ(rc, 1);
	return 0;
}

THREAD_TEST(a_forked_call_that_nobody_waits_for_is_cancelled, 1)
{
	CHECK_EQ(wait_for_forker(NULL), 0);
	nothing_is_left();
	CHECK_EQ(fork_result, -ECANCELED);
	return 0;
}

/* A thread that a forked call started goes on after the call has returned. */
static bool stop_it;

static int goes_on(void *unused)
{
	(void)unused;
	YIELD_UNTIL(stop_it);
	CHECK_EQ(weft_sleep(0), 0);
	return 0;
}

static int starts(int x)
{
	CHECK_EQ(weft_go(goes_on, NULL), 0);
	return x;
}

static threaded int fork_starter(void *unused)
{
	int x = 0;

	(void)unused;
	twait {
		tfork(mkevent(x), starts(6));
	}
	CHECK_EQ(x, 6);
	stop_it = true;
	return 0;
}

THREAD_TEST(a_forked_call_ends_when_it_returns, 1)
{
	stop_it = false;
	CHECK_EQ(fork_starter(NULL), 0);
	return 0;
}

/* Already cancelled; deadlines; shields */

static threaded int sleeps_anyway(void)
{
	return weft_sleep(1000 * WEFT_SEC);
}

static threaded int sleeps_again(void *unused)
{
	int rc = 0;

	(void)unused;
	CHECK(weft_cancelled());
	CHECK_EQ(sleeps_by_event(1), -ECANCELED);
	twait {
		weft_sleep_ev(1000 * WEFT_SEC, mkevent());
	}
	twait {
		tfork(mkevent(rc), sleeps_anyway());
		weft_sleep_ev(1000 * WEFT_SEC, mkevent());
	}
	CHECK_EQ(rc, -ECANCELED);
	return 3;
}

THREAD_TEST(events_that_are_made_when_the_thread_is_cancelled_end_too, 1)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(sleeps_again(NULL), 3);
	CHECK_EQ(weft_scope_end(&s), 0);
	nothing_is_left();
	return 0;
}

THREAD_TEST(a_deadline_ends_a_twait_block, 2)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	CHECK_EQ(sleeps_by_event(5), -ECANCELED);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	nothing_is_left();
	return 0;
}

static threaded int shielded(void *unused)
{
	weft_scope shield;
	int x = 0;

	(void)unused;
	weft_shield_begin(&shield);
	twait {
		kept = mkevent(x);
		weft_on_cancel(kept, hook, NULL);
	}
	CHECK_EQ(weft_scope_end(&shield), 0);
	return x;
}

THREAD_TEST(a_shield_keeps_a_cancel_from_a_twait_block, 1)
{
	weft_scope s;

	told = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(shielded, NULL), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	let_all_run();
	trigger(kept, -7);
	CHECK_EQ(weft_scope_end(&s), -7);
	CHECK_EQ(told, 0);
	nothing_is_left();
	return 0;
}

/* Only what is waited for: events of the outer block are asked to end at its brace. */
static threaded int inner_is_cancelled(void *unused)
{
	weft_scope inner;
	int x = 0;

	(void)unused;
	twait {
		kept = mkevent(x);
		weft_on_cancel(kept, hook, NULL);
		weft_scope_begin(&inner);
		CHECK_EQ(weft_scope_cancel(&inner), 0);
		twait {
			weft_sleep_ev(1000 * WEFT_SEC, mkevent());
		}
		CHECK_EQ(weft_scope_end(&inner), 0);
		let_all_run();
		CHECK_EQ(told, 0);
		trigger(kept, 8);
	}
	return x;
}

THREAD_TEST(a_cancel_reaches_what_is_waited_for_only, 1)
{
	told = 0;
	CHECK_EQ(inner_is_cancelled(NULL), 8);
	nothing_is_left();
	return 0;
}

/* Everything at once, in many colors. */
enum { RACERS = 200 };

struct race {
	event(int) e;
	weft_color color;
	bool stopped;
};

static void end_race(void *arg)
{
	struct race *r = arg;

	if (!r->stopped)
		trigger(r->e, -ECANCELED);
	free(r);
}

static void stop_race(void *arg)
{
	struct race *r = arg;

	r->stopped = true;
	trigger(r->e, -EINTR);
}

static void begin_race(void *arg)
{
	struct race *r = arg;

	weft_on_cancel(r->e, stop_race, r);
	CHECK_EQ(weft_post(r->color, end_race, r), 0);
}

static void race(int i, event(int) e)
{
	struct race *r = malloc(sizeof *r);

	*r = (struct race){ .e = e, .color = 100 + (weft_color)i % 7 };
	CHECK_EQ(weft_post(r->color, begin_race, r), 0);
}

static threaded int races(void *arg)
{
	int first = (int)(intptr_t)arg, rc[8];

	twait {
		for (int i = 0; i < 8; i++)
			race(first + i, mkevent(rc[i]));
	}
	for (int i = 0; i < 8; i++)
		CHECK(rc[i] == -ECANCELED || rc[i] == -EINTR);
	return 0;
}

static threaded int races_one_by_one(void *arg)
{
	rendezvous(int) r;
	int first = (int)(intptr_t)arg, rc[8], i;

	for (i = 0; i < 8; i++)
		race(first + i, mkevent(r, i, rc[i]));
	for (int count = 0; count < 8; count++) {
		twait(r, i);
		CHECK(rc[i] == -ECANCELED || rc[i] == -EINTR);
	}
	return 0;
}

THREAD_TEST(a_cancel_may_come_at_any_moment, 2)
{
	for (int i = 0; i < RACERS; i++) {
		weft_scope s;

		weft_scope_begin(&s);
		for (intptr_t j = 0; j < 3; j++) {
			CHECK_EQ(weft_go_on(weft_color_new(), races, (void *)(i + j)), 0);
			CHECK_EQ(weft_go(races_one_by_one, (void *)(i + j)), 0);
		}
		for (int j = 0; j < i % 5; j++)
			weft_yield();
		CHECK_EQ(weft_scope_cancel(&s), 0);
		CHECK_EQ(weft_scope_end(&s), 0);
	}
	nothing_is_left();
	return 0;
}

TEST_MAIN
