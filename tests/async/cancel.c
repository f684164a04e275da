/* cancel.c - cancelling a scope ends every kind of wait in it, and nothing has happened
 * then (X1); it lasts; a shield keeps it off. */
/* backends: both */
#include "async/kinds_io.h"

#include <pthread.h>

static const struct kind kinds[] = { KINDS_OF_SYNC, KINDS_OF_IO };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Who cancels, and where the one who waits is. */
struct way {
	void (*cancel)(weft_scope *s);
	bool hops;
};

struct waiter {
	const struct kind *kind;
	struct thing *x;
	weft_thread *thread;
	weft_scope *shield;
	bool hops, shielded;
	int result, after;
	_Atomic bool begun, done;
};

static int wait_in_body(void *arg)
{
	struct waiter *w = arg;
	weft_scope shield;

	if (w->hops)
		CHECK_EQ(weft_hop(weft_color_new()), 0);
	if (w->shielded) {
		weft_shield_begin(&shield);
		w->shield = &shield;
	}
	w->thread = weft_self();
	atomic_store(&w->begun, true);
	w->result = w->kind->call(w->x);
	if (w->shielded)
		CHECK_EQ(weft_scope_end(&shield), 0);
	w->after = weft_sleep(1);
	atomic_store(&w->done, true);
	return 0;
}

static void wait_for_it(struct waiter *w)
{
	CHECK_EQ(weft_async_call(wait_in_body, w), 0);
	while (!atomic_load(&w->begun))
		CHECK_EQ(weft_yield(), 0);
	yield_until_waits(w->thread);
}

static void check_result(const struct waiter *w, int result, int after)
{
	if (w->result != result || w->after != after)
		test_fail(__FILE__, __LINE__, "%s: %d, then %d", w->kind->name, w->result,
			  w->after);
}

/* It works as ever, so far as it can be told. */
static void use(const struct kind *kind, struct thing *x, bool hops)
{
	struct waiter w = { .kind = kind, .x = x, .hops = hops };
	weft_scope s;

	if (kind->let == NULL)
		return;
	weft_scope_begin(&s);
	wait_for_it(&w);
	kind->let(x);
	CHECK_EQ(weft_scope_end(&s), 0);
	check_result(&w, kind->ok, 0);
}

static void cancel_one(const struct kind *kind, const struct way *way)
{
	struct thing x = { .silent = -1 };
	struct waiter w = { .kind = kind, .x = &x, .hops = way->hops };
	weft_scope s;

	kind->make(&x);
	weft_scope_begin(&s);
	wait_for_it(&w);
	way->cancel(&s);
	CHECK_EQ(weft_scope_end(&s), 0);
	check_result(&w, -ECANCELED, -ECANCELED);
	if (kind->intact != NULL)
		kind->intact(&x);
	use(kind, &x, way->hops);
	kind->end(&x);
}

static int cancel_all_kinds(void *way)
{
	for (int i = 0; i < KINDS; i++)
		cancel_one(&kinds[i], way);
	return 0;
}

static void run_ways(weft_thread_fn *fn, void (*cancel)(weft_scope *s))
{
	weft_options opt = { .workers = 2, .offload_max = 1, .stall_ms = -1 };

	servers_begin();
	for (int hops = 0; hops < 2; hops++) {
		struct way way = { .cancel = cancel, .hops = hops };

		CHECK_EQ(weft_run(fn, &way, &opt), 0);
	}
}

static void cancel_self(weft_scope *s)
{
	CHECK_EQ(weft_scope_cancel(s), 0);
	CHECK_EQ(weft_scope_cancel(s), -EALREADY);
}

TEST(every_wait_is_cancelled_by_a_thread_of_the_scope)
{
	run_ways(cancel_all_kinds, cancel_self);
}

struct order {
	weft_scope *scope;
	_Atomic bool done;
};

static void cancel_in_handler(void *arg)
{
	struct order *o = arg;

	CHECK_EQ(weft_scope_cancel(o->scope), 0);
	atomic_store(&o->done, true);
}

static void wait_for_order(struct order *o)
{
	while (!atomic_load(&o->done))
		CHECK_EQ(weft_yield(), 0);
}

static void cancel_by_handler(weft_scope *s)
{
	struct order o = { .scope = s };

	CHECK_EQ(weft_post(weft_color_new(), cancel_in_handler, &o), 0);
	wait_for_order(&o);
}

TEST(every_wait_is_cancelled_by_a_handler_of_another_color)
{
	run_ways(cancel_all_kinds, cancel_by_handler);
}

static void *cancel_in_foreign(void *arg)
{
	cancel_in_handler(arg);
	return NULL;
}

static void cancel_by_foreign(weft_scope *s)
{
	struct order o = { .scope = s };
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, cancel_in_foreign, &o), 0);
	wait_for_order(&o);
	CHECK_EQ(pthread_join(t, NULL), 0);
}

TEST(every_wait_is_cancelled_by_a_foreign_kernel_thread)
{
	run_ways(cancel_all_kinds, cancel_by_foreign);
}

static void run_once(weft_thread_fn *fn)
{
	weft_options opt = { .workers = 2, .offload_max = 1, .stall_ms = -1 };

	servers_begin();
	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

/* One after the other */

static void deliver_then_cancel(const struct kind *kind)
{
	struct thing x = { .silent = -1 };
	struct waiter w = { .kind = kind, .x = &x };
	weft_scope s;

	kind->make(&x);
	weft_scope_begin(&s);
	wait_for_it(&w);
	kind->let(&x);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	/* What comes from outside is on its way until it has been seen. */
	if (w.result == -ECANCELED && (kind->io || kind->call == join_call))
		w.result = kind->call(&x);
	if (w.result != kind->ok)
		test_fail(__FILE__, __LINE__, "%s: %d", kind->name, w.result);
	kind->end(&x);
}

static void cancel_then_deliver(const struct kind *kind)
{
	struct thing x = { .silent = -1 };
	struct waiter w = { .kind = kind, .x = &x };
	weft_scope s;

	kind->make(&x);
	weft_scope_begin(&s);
	wait_for_it(&w);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	kind->let(&x);
	CHECK_EQ(weft_scope_end(&s), 0);
	/* It is still there, or came while the kernel was asked to stop. */
	if (w.result == -ECANCELED || !kind->io)
		check_result(&w, -ECANCELED, -ECANCELED);
	if (w.result == -ECANCELED)
		w.result = kind->call(&x);
	check_result(&w, kind->ok, -ECANCELED);
	kind->end(&x);
}

static int one_after_the_other(void *unused)
{
	(void)unused;
	for (int i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];

		if (kind->let != NULL)
			deliver_then_cancel(kind);
		/* One that is told in another color may be served before. */
		if (kind->let != NULL && !kind->late && kind->call != wait_call &&
		    kind->call != nested_call)
			cancel_then_deliver(kind);
	}
	return 0;
}

TEST(what_was_delivered_before_a_cancel_is_kept_and_what_comes_behind_it_stays)
{
	run_once(one_after_the_other);
}

/* Who was cancelled has to have the mutex all the same. */
static int cond_contended(void *unused)
{
	struct thing x = { .silent = -1 };
	struct waiter w = { .kind = &(struct kind){ .call = cond_call }, .x = &x };
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	wait_for_it(&w);
	CHECK_EQ(weft_mutex_lock(&x.mutex), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_yield(), 0);
	CHECK(!atomic_load(&w.done));
	CHECK_EQ(weft_cond_signal(&x.cond), 0);
	CHECK_EQ(weft_mutex_unlock(&x.mutex), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(w.result, -ECANCELED);
	return 0;
}

TEST(a_wait_for_a_condition_that_is_cancelled_waits_for_the_mutex)
{
	run_once(cond_contended);
}

/* In a scope that is cancelled */

static int wait_all_cancelled(void *unused)
{
	(void)unused;
	for (int i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];
		struct thing x = { .silent = -1 };
		weft_scope s;

		kind->make(&x);
		weft_scope_begin(&s);
		CHECK(!weft_cancelled());
		CHECK_EQ(weft_scope_cancel(&s), 0);
		CHECK(weft_cancelled());
		for (int k = 0; k < 3; k++) {
			struct waiter w = { .kind = kind, .x = &x, .hops = k == 2 };

			CHECK_EQ(weft_async_call(wait_in_body, &w), 0);
			while (!atomic_load(&w.done))
				CHECK_EQ(weft_yield(), 0);
			check_result(&w, -ECANCELED, -ECANCELED);
		}
		CHECK_EQ(weft_scope_end(&s), 0);
		CHECK(!weft_cancelled());
		if (kind->intact != NULL && kind->call != wait_call)
			kind->intact(&x);
		use(kind, &x, false);
		kind->end(&x);
	}
	return 0;
}

TEST(every_wait_in_a_cancelled_scope_is_refused)
{
	run_once(wait_all_cancelled);
}

/* What is there is taken; but of input and output nothing is done. */
static int need_not_wait(void *unused)
{
	(void)unused;
	for (int i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];
		struct thing x = { .silent = -1 };
		weft_scope s;
		int rc;

		if (kind->late || kind->let == NULL)
			continue;
		kind->make(&x);
		weft_scope_begin(&s);
		CHECK_EQ(weft_scope_cancel(&s), 0);
		kind->let(&x);
		rc = kind->call(&x);
		if (rc != (kind->io ? -ECANCELED : kind->ok))
			test_fail(__FILE__, __LINE__, "%s: %d", kind->name, rc);
		CHECK_EQ(weft_scope_end(&s), 0);
		if (kind->io)
			CHECK_EQ(kind->call(&x), kind->ok);
		kind->end(&x);
	}
	return 0;
}

TEST(a_call_that_need_not_wait_is_done_unless_it_is_input_or_output)
{
	run_once(need_not_wait);
}

static int no_waits(void *unused)
{
	int fd[2], file = temp_file(10), opened;
	weft_color home = weft_color_current();
	struct sockaddr_storage *addrs;
	char fifo[] = "/tmp/weft-fifo-XXXXXX", byte;
	weft_scope s;

	(void)unused;
	CHECK(mkdtemp(fifo) != NULL);
	rmdir(fifo);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	make_pipe(fd);
	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_open(fifo, O_RDONLY, 0), -ECANCELED);
	CHECK_EQ(weft_open("/proc/self/exe", O_RDONLY, 0), -ECANCELED);
	CHECK_EQ(weft_pread(file, &byte, 1, 0), -ECANCELED);
	CHECK_EQ(weft_pwrite(file, "x", 1, 0), -ECANCELED);
	CHECK_EQ(weft_fsync(file), -ECANCELED);
	CHECK_EQ(weft_sendfile(fd[1], file, 0, 1), -ECANCELED);
	CHECK_EQ(weft_dial("127.0.0.1:1"), -ECANCELED);
	CHECK_EQ(weft_resolve("127.0.0.1", 1, AF_INET, &addrs), -ECANCELED);
	CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_read_until(fd[0], &byte, 1, 0), -ECANCELED);
	CHECK_EQ(weft_hop(home), 0);
	CHECK_EQ(weft_close(fd[0]), 0);
	CHECK_EQ(weft_close(fd[1]), 0);
	CHECK_EQ(weft_close(file), 0);
	CHECK_EQ(weft_close(file), -EBADF);
	CHECK_EQ(weft_scope_end(&s), 0);
	opened = weft_open(fifo, O_RDONLY, 0);
	CHECK(opened >= 0);
	CHECK_EQ(weft_close(opened), 0);
	unlink(fifo);
	return 0;
}

TEST(closing_yielding_and_hopping_are_not_cancelled)
{
	run_once(no_waits);
}

/* Shields */

/* The scope is cancelled before the wait begins, or during it. */
static void shield_one(const struct kind *kind, const struct way *way, bool before)
{
	struct thing x = { .silent = -1 };
	struct waiter w = { .kind = kind, .x = &x, .hops = way->hops, .shielded = true };
	weft_scope s;

	kind->make(&x);
	weft_scope_begin(&s);
	if (before)
		way->cancel(&s);
	wait_for_it(&w);
	if (!before)
		way->cancel(&s);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_yield(), 0);
	CHECK(!atomic_load(&w.done));
	yield_until_waits(w.thread);
	if (kind->let != NULL)
		kind->let(&x);
	else
		CHECK_EQ(weft_scope_cancel(w.shield), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	check_result(&w, kind->let != NULL ? kind->ok : -ECANCELED, -ECANCELED);
	kind->end(&x);
}

static int shield_all_kinds(void *way)
{
	for (int i = 0; i < KINDS; i++) {
		shield_one(&kinds[i], way, true);
		shield_one(&kinds[i], way, false);
	}
	return 0;
}

TEST(a_shield_keeps_a_cancel_off_until_it_ends)
{
	run_ways(shield_all_kinds, cancel_self);
}

TEST(a_shield_keeps_a_cancel_from_another_color_off)
{
	run_ways(shield_all_kinds, cancel_by_handler);
}

static void cancel_shield_of(const struct kind *kind, const struct way *way, bool outer_too)
{
	struct thing x = { .silent = -1 };
	struct waiter w = { .kind = kind, .x = &x, .hops = way->hops, .shielded = true };
	weft_scope s;

	kind->make(&x);
	weft_scope_begin(&s);
	if (outer_too)
		CHECK_EQ(weft_scope_cancel(&s), 0);
	wait_for_it(&w);
	way->cancel(w.shield);
	CHECK_EQ(weft_scope_end(&s), 0);
	check_result(&w, -ECANCELED, outer_too ? -ECANCELED : 0);
	if (kind->intact != NULL)
		kind->intact(&x);
	use(kind, &x, way->hops);
	kind->end(&x);
}

static int cancel_shields(void *way)
{
	for (int i = 0; i < KINDS; i++) {
		cancel_shield_of(&kinds[i], way, false);
		cancel_shield_of(&kinds[i], way, true);
	}
	return 0;
}

TEST(a_shield_that_is_cancelled_itself_ends_its_waits)
{
	run_ways(cancel_shields, cancel_by_handler);
}

TEST_MAIN
