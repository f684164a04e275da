/* compose.c - scopes together with the rest: threads, handlers, colors, exit, slots,
 * cleanups, the end of a run, errors and deadlines. */
#include "threads/common.h"

#include <weft/weft.h>

static void run_with(int workers, weft_thread_fn *fn)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

static int log_[64], logged;

static void note(int what)
{
	log_[logged++] = what;
}

#define CHECK_LOG(...) \
	do { \
		const int want_[] = { __VA_ARGS__ }; \
		CHECK_EQ(logged, (int)(sizeof want_ / sizeof *want_)); \
		for (int i_ = 0; i_ < logged; i_++) \
			CHECK_EQ(log_[i_], want_[i_]); \
		logged = 0; \
	} while (0)

/* Threads in a finish */

struct member {
	weft_sem *go;
	_Atomic bool ended;
	int result;
};

static int wait_and_end(void *arg)
{
	struct member *m = arg;

	CHECK_EQ(weft_sem_wait(m->go), 0);
	CHECK_EQ(weft_yield(), 0);
	atomic_store(&m->ended, true);
	return m->result;
}

static int threads_in_scope(void *unused)
{
	weft_sem go = WEFT_SEM_INIT(0), go_apart = WEFT_SEM_INIT(0);
	struct member m[4] = { { .go = &go },
			       { .go = &go },
			       { .go = &go, .result = 7 },
			       { .go = &go_apart, .result = -EIO } };
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	weft_thread *joinable, *apart;
	weft_scope s;
	int result;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_go(wait_and_end, &m[0]), 0);
	CHECK_EQ(weft_go_on(weft_color_new(), wait_and_end, &m[1]), 0);
	CHECK_EQ(weft_thread_start(&joinable, &attr, wait_and_end, &m[2]), 0);
	attr.apart = true;
	CHECK_EQ(weft_thread_start(&apart, &attr, wait_and_end, &m[3]), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_sem_post(&go), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	for (int i = 0; i < 3; i++)
		CHECK(m[i].ended);
	CHECK(!m[3].ended);
	CHECK_EQ(weft_join(joinable, &result), 0);
	CHECK_EQ(result, 7);
	CHECK_EQ(weft_sem_post(&go_apart), 0);
	CHECK_EQ(weft_join(apart, &result), 0);
	CHECK_EQ(result, -EIO);
	return 0;
}

TEST(threads_started_in_a_finish_are_waited_for_and_those_apart_are_not)
{
	run_with(1, threads_in_scope);
	run_with(2, threads_in_scope);
}

static int detach_itself(void *arg)
{
	CHECK_EQ(weft_detach(*(weft_thread **)arg), 0);
	return weft_yield();
}

static int wait_in_own_color(void *arg)
{
	int rc = weft_sleep(1000 * WEFT_SEC);

	*(int *)arg = rc;
	return 0;
}

/* A thread's own threads belong to the scope too, as it does. */
static int starts_more(void *rc)
{
	CHECK_EQ(weft_go_on(weft_color_new(), wait_in_own_color, rc), 0);
	return 0;
}

static int members_of_members(void *unused)
{
	weft_thread *t;
	weft_scope s;
	int rc = 0;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_go_on(weft_color_new(), starts_more, &rc), 0);
	CHECK_EQ(weft_thread_start(&t, NULL, detach_itself, &t), 0);
	CHECK_EQ(weft_sleep(WEFT_US), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(rc, -ECANCELED);
	return 0;
}

TEST(what_a_thread_of_a_scope_starts_belongs_to_it)
{
	run_with(2, members_of_members);
}

/* Handlers */

static weft_sem handler_sem;
static weft_color handler_color, other_color;

static int waits_in_handler(void *arg)
{
	note((int)(intptr_t)arg);
	CHECK_EQ(weft_sem_wait(&handler_sem), 0);
	CHECK_EQ(weft_color_current(), handler_color);
	note((int)(intptr_t)arg + 100);
	return -EIO; /* nobody's */
}

static int returns_at_once(void *arg)
{
	note((int)(intptr_t)arg);
	return -EIO;
}

static int has_scope(void *arg)
{
	weft_scope s;

	note(5);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(waits_in_handler, arg), 0);
	CHECK_EQ(weft_async_call(returns_at_once, (void *)7), 0);
	note(8);
	CHECK_EQ(weft_scope_end(&s), -EIO);
	note(9);
	return 0;
}

static void handle(void *unused)
{
	(void)unused;
	CHECK(weft_self() == NULL);
	CHECK_EQ(weft_async_call(waits_in_handler, (void *)1), 0);
	CHECK(weft_self() == NULL);
	note(2);
	CHECK_EQ(weft_async_call(returns_at_once, (void *)3), 0);
	CHECK_EQ(weft_async_copy(returns_at_once, &(int){ 0 }, 0), 0);
	logged--;
	note(4);
	CHECK_EQ(weft_async_call(has_scope, (void *)6), 0);
	note(10);
	CHECK_EQ(weft_sem_post(&handler_sem), 0);
	CHECK_EQ(weft_sem_post(&handler_sem), 0);
	note(11);
}

static int in_handlers(void *unused)
{
	(void)unused;
	weft_sem_init(&handler_sem, 0);
	handler_color = weft_color_new();
	CHECK_EQ(weft_post(handler_color, handle, NULL), 0);
	return 0;
}

TEST(a_handler_starts_bodies_and_returns_while_they_wait)
{
	run_with(1, in_handlers);
	CHECK_LOG(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 101, 106, 9);
}

static int hops_in_handler(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hop(other_color), 0);
	CHECK_EQ(weft_color_current(), other_color);
	CHECK_EQ(weft_sleep(1), 0);
	CHECK_EQ(weft_hop(handler_color), 0);
	note(2);
	return 0;
}

static int yields_in_handler(void *arg)
{
	note((int)(intptr_t)arg);
	CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(weft_yield_to(weft_self()), 0);
	note((int)(intptr_t)arg + 100);
	return 0;
}

static void handle_hops(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_async_call(hops_in_handler, NULL), 0);
	CHECK_EQ(weft_color_current(), handler_color);
	note(1);
}

static void handle_yields(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_async_call(yields_in_handler, (void *)3), 0);
	note(4);
}

static int hop_in_handlers(void *unused)
{
	(void)unused;
	handler_color = weft_color_new();
	other_color = weft_color_new();
	CHECK_EQ(weft_post(handler_color, handle_hops, NULL), 0);
	return 0;
}

static int yield_in_handlers(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(WEFT_MAIN, handle_yields, NULL), 0);
	return 0;
}

TEST(a_body_of_a_handler_may_hop_and_yield)
{
	run_with(2, hop_in_handlers);
	CHECK_LOG(1, 2);
	run_with(1, yield_in_handlers);
	CHECK_LOG(3, 4, 103);
}

static int too_much(void *unused)
{
	static char args[1 << 20];

	(void)unused;
	CHECK_EQ(weft_async_call(NULL, NULL), -EINVAL);
	CHECK_EQ(weft_async_copy(returns_at_once, args, sizeof args), -EINVAL);
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_async_call(returns_at_once, NULL), -ESHUTDOWN);
	return 0;
}

TEST(a_body_that_cannot_begin_is_an_error)
{
	CHECK_EQ(weft_async_call(returns_at_once, NULL), -EPERM);
	run_with(1, too_much);
	CHECK_EQ(logged, 0);
}

/* The order of yield_to */

static weft_thread *ready_thread;

static int is_ready(void *unused)
{
	(void)unused;
	note(3);
	return 0;
}

static int yields_to(void *unused)
{
	(void)unused;
	note(2);
	CHECK_EQ(weft_yield_to(ready_thread), 0);
	note(5);
	return 0;
}

static int yield_to_order(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_thread_start(&ready_thread, NULL, is_ready, NULL), 0);
	note(1);
	CHECK_EQ(weft_async_call(yields_to, NULL), 0);
	note(4);
	CHECK_EQ(weft_scope_end(&s), 0);
	note(6);
	CHECK_EQ(weft_join(ready_thread, NULL), 0);
	return 0;
}

TEST(yield_to_in_a_body_that_has_not_waited_comes_before_who_started_it)
{
	run_with(1, yield_to_order);
	CHECK_LOG(1, 2, 3, 4, 5, 6);
}

/* Exit, slots and cleanups */

static weft_key key;

static void destroy(void *value)
{
	note((int)(intptr_t)value);
}

static void clean_up(void *value)
{
	note((int)(intptr_t)value);
}

static int sleeps_a_bit(void *arg)
{
	CHECK_EQ(weft_yield(), 0);
	note((int)(intptr_t)arg);
	return -EIO;
}

/* Leaves two finish blocks open, in which somebody waits. */
static int exits_deep(void *arg)
{
	bool waits = arg != NULL;
	weft_cleanup c;
	weft_scope s, in;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(sleeps_a_bit, (void *)1), 0);
	weft_scope_begin(&in);
	CHECK_EQ(weft_cleanup_push(&c, clean_up, (void *)2), 0);
	CHECK_EQ(weft_key_set(key, (void *)3), 0);
	if (waits)
		CHECK_EQ(weft_yield(), 0);
	weft_exit(-ENOENT);
}

static int ends_with_slot(void *arg)
{
	CHECK(weft_key_get(key) == NULL);
	if (arg != NULL)
		CHECK_EQ(weft_key_set(key, arg), 0);
	return 0;
}

static int ends_with_cleanup(void *unused)
{
	static weft_cleanup c;

	(void)unused;
	return weft_cleanup_push(&c, clean_up, (void *)4);
}

static int exits(void *unused)
{
	weft_scope s;

	(void)unused;
	CHECK_EQ(weft_key_new(&key, destroy), 0);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(exits_deep, NULL), 0);
	CHECK_EQ(weft_scope_end(&s), -ENOENT);
	CHECK_LOG(2, 3, 1);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(exits_deep, (void *)1), 0);
	CHECK_EQ(weft_scope_end(&s), -ENOENT);
	CHECK_LOG(1, 2, 3);
	weft_scope_begin(&s);
	for (intptr_t i = 0; i < 4; i++)
		CHECK_EQ(weft_async_call(ends_with_slot, (void *)(i % 2)), 0);
	CHECK_EQ(weft_async_call(ends_with_cleanup, NULL), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_LOG(1, 1, 4);
	CHECK(weft_key_get(key) == NULL);
	CHECK_EQ(weft_key_free(key), 0);
	return 0;
}

TEST(a_body_that_exits_ends_its_scopes_and_cleans_up)
{
	run_with(1, exits);
}

static int first_exits(void *unused)
{
	static weft_scope s; /* the stack is gone when the thread ends */

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(sleeps_a_bit, (void *)1), 0);
	weft_exit(0);
}

TEST(the_first_thread_may_exit_in_a_finish)
{
	run_with(1, first_exits);
	CHECK_LOG(1);
}

/* The end of a run */

static int stops_in_scope(void *unused)
{
	weft_scope s;
	int rc;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + 1000 * WEFT_SEC), 0);
	CHECK_EQ(weft_async_call(wait_in_own_color, &rc), 0);
	CHECK_EQ(weft_go_on(weft_color_new(), wait_in_own_color, &rc), 0);
	CHECK_EQ(weft_stop(), 0);
	(void)weft_scope_end(&s);
	CHECK(false);
	return 0;
}

static int waits_in_vain(void *unused)
{
	weft_sem sem = WEFT_SEM_INIT(0);
	struct member m = { .go = &sem };
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_and_end, &m), 0);
	return weft_scope_end(&s);
}

TEST(a_run_ends_with_open_scopes_and_the_next_one_is_well)
{
	catch_reports();
	for (int i = 0; i < 3; i++) {
		weft_options opt = { .workers = 2, .stall_ms = -1 };

		CHECK_EQ(weft_run(stops_in_scope, NULL, &opt), 0);
		CHECK_EQ(weft_run(waits_in_vain, NULL, &opt), -EDEADLK);
		CHECK_EQ(weft_run(threads_in_scope, NULL, &opt), 0);
	}
}

TEST_MAIN
