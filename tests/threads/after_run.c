/* Objects that outlive a run: a thread held them or waited for them when weft_stop discarded it.
 * Each call with such an object is tried in a process of its own: outside of runs, in a thread of a
 * second run, in a plain handler, and in a foreign kernel thread during that run. The call must not
 * crash or wait, but return an error and report the caller's line. Objects that were left free must
 * keep working. WEFT_TEST_VERBOSE=1 shows the table.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/tame_lock.h>
#include <weft/weft.h>

#include "sync.h"
#include "threads/channel.h"

/* A call that takes longer than this has waited. */
enum { CELL_SECONDS = 20 };

/* What there is. Each is of its own, so that an object is used in the same way in both runs. */
static weft_channel *channel, *other;
static weft_mutex mutex = WEFT_MUTEX_INIT, second = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static weft_sem sem = WEFT_SEM_INIT(0);
static weft_waitgroup group = WEFT_WAITGROUP_INIT;
static weft_barrier barrier = WEFT_BARRIER_INIT(2);
static weft_eventcount count = WEFT_EVENTCOUNT_INIT;
static weft_once once = WEFT_ONCE_INIT;
static weft_wait suspended = WEFT_WAIT_INIT("a call", NULL);
static int letter;

/* Threads of the first run, each of which waits for ever. */

static void wait_for_ever(void)
{
	weft_sem never = WEFT_SEM_INIT(0);

	(void)weft_sem_wait(&never);
}

static int receives(void *unused)
{
	(void)unused;
	return weft_channel_receive(channel, &letter);
}

static int sends(void *unused)
{
	(void)unused;
	while (weft_channel_send(channel, &letter) == 0)
		;
	return 0;
}

static int selects(void *unused)
{
	weft_case cases[] = { weft_case_receive(channel, &letter),
			      weft_case_receive(other, &letter) };

	(void)unused;
	return weft_select(cases, 2);
}

static int holds_mutex(void *unused)
{
	(void)unused;
	(void)weft_mutex_lock(&mutex);
	wait_for_ever();
	return 0;
}

static int waits_for_mutex(void *unused)
{
	(void)unused;
	return weft_mutex_lock(&mutex);
}

/* The first thread of the second run has the same address. */
static int first_holds_mutex(void *unused)
{
	(void)unused;
	(void)weft_mutex_lock(&mutex);
	(void)weft_stop();
	wait_for_ever();
	return 0;
}

/* The waiter is called and has not run when the run is stopped. */
static int leaves_mutex_to_waiter(void *unused)
{
	(void)unused;
	(void)weft_mutex_lock(&mutex);
	(void)weft_go(waits_for_mutex, NULL);
	(void)weft_yield();
	(void)weft_mutex_unlock(&mutex);
	(void)weft_stop();
	wait_for_ever();
	return 0;
}

static int waits_for_cond(void *unused)
{
	(void)unused;
	(void)weft_mutex_lock(&second);
	return weft_cond_wait(&cond, &second);
}

static int reads(void *unused)
{
	(void)unused;
	(void)weft_rwlock_rdlock(&rwlock);
	wait_for_ever();
	return 0;
}

static int writes(void *unused)
{
	(void)unused;
	(void)weft_rwlock_wrlock(&rwlock);
	wait_for_ever();
	return 0;
}

static int waits_for_sem(void *unused)
{
	(void)unused;
	return weft_sem_wait(&sem);
}

static int waits_for_group(void *unused)
{
	(void)unused;
	(void)weft_waitgroup_add(&group, 2);
	return weft_waitgroup_wait(&group);
}

static int waits_for_barrier(void *unused)
{
	(void)unused;
	return weft_barrier_wait(&barrier);
}

static int waits_for_count(void *unused)
{
	(void)unused;
	return weft_eventcount_wait(&count, weft_eventcount_prepare(&count));
}

static void never_ends(void *unused)
{
	(void)unused;
	wait_for_ever();
}

static int runs_once(void *unused)
{
	return weft_once_run(&once, never_ends, unused);
}

static int suspends(void *unused)
{
	(void)unused;
	return weft_suspend(&suspended);
}

/* The calls. Each notes its line. */
static int line;

#define CALL(name, call) \
	static int name(void) \
	{ \
		line = __LINE__; \
		return call; \
	}

static int own_second(void)
{
	second = (weft_mutex)WEFT_MUTEX_INIT;
	return weft_mutex_lock(&second);
}

static void note_call(void *called)
{
	*(bool *)called = true;
}

/* A handler may not wait: it has what it needs before. */
CALL(channel_send, weft_channel_send(channel, &letter))
CALL(channel_try_send, weft_channel_try_send(channel, &letter))
CALL(channel_receive, weft_channel_receive(channel, &letter))
CALL(channel_try_receive, weft_channel_try_receive(channel, &letter))
CALL(channel_close, weft_channel_close(channel))
CALL(select_send, weft_select((weft_case[]){ weft_case_send(channel, &letter) }, 1))
CALL(select_receive, weft_select((weft_case[]){ weft_case_receive(channel, &letter) }, 1))
CALL(try_select, weft_try_select((weft_case[]){ weft_case_receive(channel, &letter) }, 1))
CALL(channel_free, weft_channel_free(channel))
CALL(mutex_lock, weft_mutex_lock(&mutex))
CALL(mutex_lock_until, weft_mutex_lock_until(&mutex, weft_now() + WEFT_SEC))
CALL(mutex_trylock, weft_mutex_trylock(&mutex))
CALL(mutex_unlock, weft_mutex_unlock(&mutex))
CALL(mutex_fini, weft_mutex_fini(&mutex))
CALL(cond_wait_with_it, weft_cond_wait(&cond, &mutex))
CALL(cond_wait, own_second() < 0 ? 1 : weft_cond_wait(&cond, &second))
CALL(cond_signal, weft_cond_signal(&cond))
CALL(cond_broadcast, weft_cond_broadcast(&cond))
CALL(cond_fini, weft_cond_fini(&cond))
CALL(rwlock_rdlock, weft_rwlock_rdlock(&rwlock))
CALL(rwlock_wrlock, weft_rwlock_wrlock(&rwlock))
CALL(rwlock_tryrdlock, weft_rwlock_tryrdlock(&rwlock))
CALL(rwlock_trywrlock, weft_rwlock_trywrlock(&rwlock))
CALL(rwlock_unlock, weft_rwlock_unlock(&rwlock))
CALL(rwlock_fini, weft_rwlock_fini(&rwlock))
CALL(sem_wait, weft_sem_wait(&sem))
CALL(sem_trywait, weft_sem_trywait(&sem))
CALL(sem_post, weft_sem_post(&sem))
CALL(sem_fini, weft_sem_fini(&sem))
CALL(group_add, weft_waitgroup_add(&group, 1))
CALL(group_done, weft_waitgroup_done(&group))
CALL(group_wait, weft_waitgroup_wait(&group))
CALL(group_fini, weft_waitgroup_fini(&group))
CALL(barrier_wait, weft_barrier_wait(&barrier))
CALL(barrier_fini, weft_barrier_fini(&barrier))
CALL(count_wait, weft_eventcount_wait(&count, weft_eventcount_prepare(&count)))
CALL(count_advance, weft_eventcount_advance(&count))
CALL(count_fini, weft_eventcount_fini(&count))
CALL(once_run, weft_once_run(&once, note_call, &(bool){ false }))
CALL(schedule, weft_schedule(&suspended))
CALL(suspend, weft_suspend(&suspended))

/* What a cell of the table is to give: DEAD is -EOWNERDEAD and a report. */
enum { FINE = 0, DEAD = -EOWNERDEAD };

struct row {
	const char *object, *call;
	weft_thread_fn *thread[3]; /* of the first run, in this order */
	int (*use)(void);
	size_t capacity; /* of the channels */
	int outside;     /* expected outside of runs; */
	int inside;      /* in a second run */
};

#define CHANNEL_ROWS(object, capacity, ...) \
	{ object, "send", { __VA_ARGS__ }, channel_send, capacity, DEAD, DEAD }, \
		{ object, "try_send", { __VA_ARGS__ }, channel_try_send, capacity, DEAD, DEAD }, \
		{ object, "receive", { __VA_ARGS__ }, channel_receive, capacity, DEAD, DEAD }, \
		{ object, "try_receive", { __VA_ARGS__ }, channel_try_receive, capacity, DEAD, DEAD }, \
		{ object, "close", { __VA_ARGS__ }, channel_close, capacity, DEAD, DEAD }, \
		{ object, "select to send", { __VA_ARGS__ }, select_send, capacity, DEAD, DEAD }, \
		{ object, "select to receive", { __VA_ARGS__ }, select_receive, capacity, DEAD, DEAD }, \
		{ object, "try_select", { __VA_ARGS__ }, try_select, capacity, DEAD, DEAD }, \
	{ \
		object, "free", { __VA_ARGS__ }, channel_free, capacity, FINE, FINE \
	}

#define MUTEX_ROWS(object, ...) \
	{ object, "lock", { __VA_ARGS__ }, mutex_lock, 0, DEAD, DEAD }, \
		{ object, "lock_until", { __VA_ARGS__ }, mutex_lock_until, 0, DEAD, DEAD }, \
		{ object, "trylock", { __VA_ARGS__ }, mutex_trylock, 0, DEAD, DEAD }, \
		{ object, "unlock", { __VA_ARGS__ }, mutex_unlock, 0, DEAD, DEAD }, \
		{ object, "cond_wait with it", { __VA_ARGS__ }, cond_wait_with_it, 0, -EPERM, -EPERM }, \
	{ \
		object, "fini", { __VA_ARGS__ }, mutex_fini, 0, FINE, FINE \
	}

#define RWLOCK_ROWS(object, ...) \
	{ object, "rdlock", { __VA_ARGS__ }, rwlock_rdlock, 0, DEAD, DEAD }, \
		{ object, "wrlock", { __VA_ARGS__ }, rwlock_wrlock, 0, DEAD, DEAD }, \
		{ object, "tryrdlock", { __VA_ARGS__ }, rwlock_tryrdlock, 0, DEAD, DEAD }, \
		{ object, "trywrlock", { __VA_ARGS__ }, rwlock_trywrlock, 0, DEAD, DEAD }, \
		{ object, "unlock", { __VA_ARGS__ }, rwlock_unlock, 0, DEAD, DEAD }, \
	{ \
		object, "fini", { __VA_ARGS__ }, rwlock_fini, 0, FINE, FINE \
	}

static const struct row rows[] = {
	CHANNEL_ROWS("channel, a receiver", 2, receives),
	CHANNEL_ROWS("channel, two senders", 1, sends, sends),
	CHANNEL_ROWS("channel of none, a sender", 0, sends),
	CHANNEL_ROWS("channel, a select", 1, selects),
	MUTEX_ROWS("mutex, its owner came back", first_holds_mutex),
	MUTEX_ROWS("mutex, held", holds_mutex),
	MUTEX_ROWS("mutex, held, waiters", holds_mutex, waits_for_mutex, waits_for_mutex),
	MUTEX_ROWS("mutex, free, a waiter", leaves_mutex_to_waiter),
	{ "condition", "wait", { waits_for_cond, waits_for_cond }, cond_wait, 0, DEAD, DEAD },
	{ "condition", "signal", { waits_for_cond }, cond_signal, 0, DEAD, DEAD },
	{ "condition",
	  "broadcast",
	  { waits_for_cond, waits_for_cond },
	  cond_broadcast,
	  0,
	  DEAD,
	  DEAD },
	{ "condition", "fini", { waits_for_cond }, cond_fini, 0, FINE, FINE },
	RWLOCK_ROWS("rwlock, read", reads, reads),
	RWLOCK_ROWS("rwlock, written", writes),
	RWLOCK_ROWS("rwlock, read, waiters", reads, writes, reads),
	{ "semaphore", "wait", { waits_for_sem, waits_for_sem }, sem_wait, 0, DEAD, DEAD },
	{ "semaphore", "trywait", { waits_for_sem }, sem_trywait, 0, DEAD, DEAD },
	{ "semaphore", "post", { waits_for_sem }, sem_post, 0, DEAD, DEAD },
	{ "semaphore", "fini", { waits_for_sem }, sem_fini, 0, FINE, FINE },
	{ "wait group", "add", { waits_for_group }, group_add, 0, DEAD, DEAD },
	{ "wait group", "done", { waits_for_group }, group_done, 0, DEAD, DEAD },
	{ "wait group", "wait", { waits_for_group }, group_wait, 0, DEAD, DEAD },
	{ "wait group", "fini", { waits_for_group }, group_fini, 0, FINE, FINE },
	{ "barrier", "wait", { waits_for_barrier }, barrier_wait, 0, DEAD, DEAD },
	{ "barrier", "fini", { waits_for_barrier }, barrier_fini, 0, FINE, FINE },
	{ "event count", "wait", { waits_for_count }, count_wait, 0, DEAD, DEAD },
	{ "event count",
	  "advance",
	  { waits_for_count, waits_for_count },
	  count_advance,
	  0,
	  DEAD,
	  DEAD },
	{ "event count", "fini", { waits_for_count }, count_fini, 0, FINE, FINE },
	{ "once, begun", "run", { runs_once }, once_run, 0, DEAD, DEAD },
	{ "once, begun, a waiter", "run", { runs_once, runs_once }, once_run, 0, DEAD, DEAD },
	{ "suspended", "schedule", { suspends }, schedule, 0, -ESHUTDOWN, DEAD },
	{ "suspended", "suspend", { suspends }, suspend, 0, -EPERM, DEAD },
};

/* Where a call is made. */
enum place { OUTSIDE, THREAD, HANDLER, FOREIGN, PLACES };

static const char *const place_names[] = { "after the run", "second run: thread", "handler",
					   "foreign" };

static const weft_options one = { .workers = 1, .stall_ms = -1 };

/* The first run: its threads wait, each in its turn, and it is stopped. */
static int first_run(void *arg)
{
	const struct row *row = arg;

	if (row->thread[0] == first_holds_mutex)
		return first_holds_mutex(NULL);
	for (int i = 0; i < 3 && row->thread[i] != NULL; i++) {
		CHECK_EQ(weft_go(row->thread[i], NULL), 0);
		CHECK_EQ(weft_yield(), 0);
	}
	(void)weft_stop();
	return 0;
}

static struct result {
	int rc, reports;
	bool at_line; /* the last report names the line of the call */
} result;

static void use(void *arg)
{
	const struct row *row = arg;
	char where[64];

	result.rc = row->use();
	result.reports = atomic_load(&caught.count[WEFT_REPORT_MISUSE]);
	snprintf(where, sizeof where, "after_run.c:%d: ", line);
	result.at_line = reported(WEFT_REPORT_MISUSE, where);
}

static int use_in_thread(void *row)
{
	use(row);
	return 0;
}

static int use_in_handler(void *row)
{
	return weft_post(7, use, row);
}

static void *use_and_drop(void *row)
{
	use(row);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static pthread_t foreign_user;

static int use_beside(void *row)
{
	CHECK_EQ(weft_hold(), 0);
	foreign_user = thread_start(use_and_drop, row);
	return 0;
}

/* The process of one cell. */
static void be_cell(const struct row *row, enum place place)
{
	void *arg = (void *)(uintptr_t)row;

	catch_reports();
	CHECK((channel = weft_channel_new(sizeof letter, row->capacity)) != NULL);
	CHECK((other = weft_channel_new(sizeof letter, 0)) != NULL);
	CHECK_EQ(weft_run(first_run, arg, &one), 0);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 0);
	if (place == OUTSIDE)
		use(arg);
	else if (place == THREAD)
		CHECK_EQ(weft_run(use_in_thread, arg, &one), 0);
	else if (place == HANDLER)
		CHECK_EQ(weft_run(use_in_handler, arg, &one), 0);
	else
		CHECK_EQ(weft_run(use_beside, arg, &one), 0);
	if (place == FOREIGN)
		thread_join(foreign_user);
}

struct cell {
	struct result result;
	int status;
};

static struct cell run_cell(const struct row *row, enum place place)
{
	struct cell cell = { .status = -1 };
	int fd[2];
	pid_t pid;

	CHECK_EQ(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(CELL_SECONDS);
		be_cell(row, place);
		CHECK_EQ(write(fd[1], &result, sizeof result), sizeof result);
		_exit(0);
	}
	close(fd[1]);
	(void)!read(fd[0], &cell.result, sizeof cell.result);
	close(fd[0]);
	CHECK_EQ(waitpid(pid, &cell.status, 0), pid);
	return cell;
}

static void print_cell(const struct cell *cell)
{
	char text[64];

	if (WIFSIGNALED(cell->status) && WTERMSIG(cell->status) == SIGALRM)
		snprintf(text, sizeof text, "hangs");
	else if (WIFSIGNALED(cell->status))
		snprintf(text, sizeof text, "SIG%s", sigabbrev_np(WTERMSIG(cell->status)));
	else if (cell->status != 0)
		snprintf(text, sizeof text, "exit %d", WEXITSTATUS(cell->status));
	else
		snprintf(text, sizeof text, "%s%s",
			 cell->result.rc < 0 ? strerrorname_np(-cell->result.rc) : "0",
			 !cell->result.reports  ? ""
			 : cell->result.at_line ? ", report"
						: ", report elsewhere");
	printf(" %-22s", text);
}

/* A handler may not wait, so some calls are refused before they look at the object. */
static bool as_expected(const struct row *row, enum place place, const struct cell *cell)
{
	int rc = cell->result.rc, expected = place == OUTSIDE ? row->outside : row->inside;

	if (place != THREAD && place != OUTSIDE && rc == -EPERM)
		expected = -EPERM;
	if (cell->status != 0 || rc != expected)
		return false;
	return rc != DEAD ||
	       (cell->result.reports == 1 &&
		(cell->result.at_line || row->use == schedule || row->use == suspend));
}

TEST(what_a_run_left_in_use_is_an_error_and_a_report_outside_and_in_the_next_run)
{
	int wrong = 0;

	printf("%-26s %-18s", "object", "call");
	for (int p = 0; p < PLACES; p++)
		printf(" %-22s", place_names[p]);
	printf("\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool right = true;

		printf("%-26s %-18s", rows[i].object, rows[i].call);
		for (int p = 0; p < PLACES; p++) {
			struct cell cell = run_cell(&rows[i], p);

			print_cell(&cell);
			right &= as_expected(&rows[i], p, &cell);
		}
		printf("%s\n", right ? "" : " WRONG");
		wrong += !right;
	}
	CHECK_EQ(wrong, 0);
}

/* The functions that WEFT_CHANNEL declares know their own line only: the report names the caller. */
WEFT_CHANNEL(numbers, int);

static int receives_number(void *c)
{
	return numbers_receive(c, &letter);
}

static int leave_numbers(void *c)
{
	CHECK_EQ(weft_go(receives_number, c), 0);
	CHECK_EQ(weft_yield(), 0);
	return weft_stop();
}

int a_user_of_numbers(numbers *c);
__attribute__((noinline)) int a_user_of_numbers(numbers *c)
{
	int rc = numbers_try_send(c, 1);

	return rc + 0 * letter; /* no tail call */
}

TEST(the_report_of_a_channel_that_was_left_in_use_names_the_function_that_used_it)
{
	numbers *c = numbers_new(3);

	catch_reports();
	CHECK(c != NULL);
	CHECK_EQ(weft_run(leave_numbers, c, &one), 0);
	CHECK_EQ(a_user_of_numbers(c), -EOWNERDEAD);
	CHECK(reported(WEFT_REPORT_MISUSE, "a_user_of_numbers"));
	CHECK_EQ(numbers_free(c), 0);
}

/* What was in use, and is not any more, works on: outside of runs and in the next. */

static int use_all_free(void *unused)
{
	int value = 0;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_cond_signal(&cond), 0);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_rwlock_rdlock(&rwlock), 0);
	CHECK_EQ(weft_rwlock_unlock(&rwlock), 0);
	CHECK_EQ(weft_rwlock_wrlock(&rwlock), 0);
	CHECK_EQ(weft_rwlock_unlock(&rwlock), 0);
	CHECK_EQ(weft_sem_post(&sem), 0);
	CHECK_EQ(weft_sem_wait(&sem), 0);
	CHECK_EQ(weft_waitgroup_add(&group, 1), 0);
	CHECK_EQ(weft_waitgroup_done(&group), 0);
	CHECK_EQ(weft_waitgroup_wait(&group), 0);
	CHECK_EQ(weft_eventcount_advance(&count), 0);
	CHECK_EQ(weft_channel_receive(channel, &value), 0);
	CHECK_EQ(value, 7);
	CHECK_EQ(weft_channel_send(channel, &value), 0);
	CHECK_EQ(weft_try_select((weft_case[]){ weft_case_receive(other, &value) }, 1), -EAGAIN);
	return 0;
}

static int let_go_on(void *unused)
{
	letter = 7;
	CHECK_EQ(weft_channel_send(channel, &letter), 0); /* received by the one who waits */
	CHECK_EQ(weft_channel_send(channel, &letter), 0); /* stays */
	CHECK_EQ(weft_mutex_lock(&second), 0);
	CHECK_EQ(weft_cond_signal(&cond), 1);
	CHECK_EQ(weft_mutex_unlock(&second), 0);
	CHECK_EQ(weft_sem_post(&sem), 0);
	CHECK_EQ(weft_waitgroup_add(&group, -2), 0);
	CHECK_EQ(weft_barrier_wait(&barrier), WEFT_BARRIER_LAST);
	CHECK_EQ(weft_eventcount_advance(&count), 1);
	(void)unused;
	return 0;
}

static int wait_and_signal(void *unused)
{
	CHECK_EQ(waits_for_cond(unused), 0);
	return weft_mutex_unlock(&second);
}

/* In a color each, too: then objects are shared, and waited for across colors. */
static int wait_and_let_go(void *each_its_color)
{
	weft_thread_fn *const fns[] = { receives,        wait_and_signal,   waits_for_sem,
					waits_for_group, waits_for_barrier, waits_for_count };
	weft_thread *threads[6];

	many_colors = each_its_color != NULL;
	for (int i = 0; i < 6; i++) {
		threads[i] = start(fns[i], NULL);
		YIELD_UNTIL(waits(threads[i]));
	}
	CHECK_EQ(let_go_on(NULL), 0);
	for (int i = 0; i < 6; i++)
		CHECK_EQ(join(threads[i]), 0);
	return 0;
}

TEST(what_a_run_left_free_works_on_outside_and_in_the_next_run)
{
	catch_reports();
	CHECK((channel = weft_channel_new(sizeof letter, 2)) != NULL);
	CHECK((other = weft_channel_new(sizeof letter, 0)) != NULL);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(weft_run(wait_and_let_go, round == 0 ? NULL : &letter, &one), 0);
		CHECK_EQ(use_all_free(NULL), 0);
		CHECK_EQ(weft_run(use_all_free, NULL, &one), 0);
		CHECK_EQ(weft_channel_receive(channel, &letter), 0);
		CHECK_EQ(letter, 7);
	}
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 0);
	CHECK_EQ(weft_channel_free(channel), 0);
	CHECK_EQ(weft_channel_free(other), 0);
}

/* What was left in use is new after its fini, or when it is filled in anew. */
static int make_new(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	CHECK_EQ(weft_cond_fini(&cond), 0);
	CHECK_EQ(weft_rwlock_fini(&rwlock), 0);
	CHECK_EQ(weft_sem_fini(&sem), 0);
	CHECK_EQ(weft_waitgroup_fini(&group), 0);
	CHECK_EQ(weft_barrier_fini(&barrier), 0);
	CHECK_EQ(weft_eventcount_fini(&count), 0);
	CHECK_EQ(weft_channel_free(channel), 0);
	second = (weft_mutex)WEFT_MUTEX_INIT;
	CHECK((channel = weft_channel_new(sizeof letter, 2)) != NULL);
	return wait_and_let_go(NULL);
}

static int leave_all_in_use(void *unused)
{
	weft_thread_fn *const fns[] = { receives,       holds_mutex,     waits_for_mutex,
					waits_for_cond, writes,          reads,
					waits_for_sem,  waits_for_group, waits_for_barrier,
					waits_for_count };

	(void)unused;
	many_colors = false;
	for (size_t i = 0; i < sizeof fns / sizeof *fns; i++) {
		weft_thread *t = start(fns[i], NULL);

		YIELD_UNTIL(waits(t));
	}
	return weft_stop();
}

TEST(what_a_run_left_in_use_can_be_made_new)
{
	catch_reports();
	CHECK((channel = weft_channel_new(sizeof letter, 2)) != NULL);
	for (int round = 0; round < 3; round++) {
		CHECK_EQ(weft_run(leave_all_in_use, NULL, &one), 0);
		CHECK_EQ(weft_run(make_new, NULL, &one), 0);
		CHECK_EQ(weft_channel_receive(channel, &letter), 0);
	}
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 0);
	CHECK_EQ(weft_channel_free(channel), 0);
}

/* A foreign kernel thread that waits between threads of a run, which are gone when its deadline
 * comes. */
static void *wait_beside(void *unused)
{
	uint64_t deadline = weft_now() + 300 * WEFT_MS;

	CHECK_EQ(weft_sem_wait_until(&sem, deadline), -ETIMEDOUT);
	return unused;
}

static void *receive_beside(void *unused)
{
	uint64_t deadline = weft_now() + 300 * WEFT_MS;

	CHECK_EQ(weft_channel_receive_until(channel, &letter, deadline), -ETIMEDOUT);
	return unused;
}

static bool sem_has_foreign(void)
{
	return waiting_inside(&sem.home_, &sem.waiters_) == 2;
}

static bool channel_has_foreign(void)
{
	enum wf_home_how how = wf_home_enter(&channel->home);
	bool has = channel->foreign == 1;

	wf_home_leave(&channel->home, how);
	return has;
}

struct beside {
	void *(*foreign)(void *);
	weft_thread_fn *thread;
	bool (*is_waiting)(void);
	pthread_t id;
};

static int wait_around(void *arg)
{
	struct beside *b = arg;

	CHECK_EQ(weft_go(b->thread, NULL), 0);
	CHECK_EQ(weft_yield(), 0);
	b->id = thread_start(b->foreign, NULL);
	YIELD_UNTIL(b->is_waiting());
	CHECK_EQ(weft_go(b->thread, NULL), 0);
	CHECK_EQ(weft_yield(), 0);
	return weft_stop();
}

TEST(a_deadline_outside_comes_though_those_who_waited_too_are_gone)
{
	struct beside with_sem = { wait_beside, waits_for_sem, sem_has_foreign, 0 };
	struct beside with_channel = { receive_beside, receives, channel_has_foreign, 0 };

	catch_reports();
	CHECK((channel = weft_channel_new(sizeof letter, 2)) != NULL);
	CHECK_EQ(weft_run(wait_around, &with_sem, &one), 0);
	thread_join(with_sem.id);
	CHECK_EQ(weft_run(wait_around, &with_channel, &one), 0);
	thread_join(with_channel.id);
	CHECK_EQ(weft_channel_free(channel), 0);
}

/* A wait outside of runs, without a deadline, when no other thread is awake. Not with
 * ThreadSanitizer: it has a thread of its own, which counts as one that could still wake others. */
#ifndef __SANITIZE_THREAD__

static int wait_with_new_cond(void)
{
	(void)own_second();
	return weft_cond_wait(&cond, &second);
}

static int wait_with_group(void)
{
	(void)weft_waitgroup_add(&group, 1);
	return weft_waitgroup_wait(&group);
}

CALL(wait_cond, wait_with_new_cond())
CALL(wait_group, wait_with_group())

static int (*const waiting_calls[])(void) = { channel_receive, select_receive, barrier_wait,
					      count_wait, sem_wait };

TEST(a_wait_outside_of_runs_that_nobody_can_end_is_an_error_and_a_report)
{
	char where[64];
	int n = 0;

	catch_reports();
	CHECK((channel = weft_channel_new(sizeof letter, 0)) != NULL);
	for (size_t i = 0; i < sizeof waiting_calls / sizeof *waiting_calls; i++) {
		CHECK_EQ(waiting_calls[i](), -EDEADLK);
		CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), ++n);
		snprintf(where, sizeof where, "after_run.c:%d: waits for ever", line);
		CHECK(reported(WEFT_REPORT_MISUSE, where));
	}
	/* The same in functions that the call is in, at their own lines. */
	CHECK_EQ(channel_send(), -EDEADLK);
	CHECK_EQ(wait_cond(), -EDEADLK);
	CHECK_EQ(weft_mutex_unlock(&second), 0);
	CHECK_EQ(wait_group(), -EDEADLK);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), n + 3);
	/* And nothing is left of it. */
	CHECK_EQ(weft_run(nothing_to_do, NULL, &one), 0);
	CHECK_EQ(channel_receive(), -EDEADLK);
	CHECK_EQ(weft_channel_free(channel), 0);
}

static weft_sem second_sem = WEFT_SEM_INIT(0);

static void *wait_too(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)weft_sem_wait(&sem);
}

TEST(the_last_of_several_that_wait_outside_of_runs_is_told)
{
	pthread_t thread = thread_start(wait_too, NULL);
	void *rc;
	int mine;

	catch_reports();
	/* Whichever comes last is told; main then lets the other go on. */
	mine = weft_sem_wait(&second_sem);
	CHECK_EQ(mine, -EDEADLK);
	CHECK_EQ(weft_sem_post(&sem), 0);
	CHECK_EQ(pthread_join(thread, &rc), 0);
	CHECK((intptr_t)rc == 0 || (intptr_t)rc == -EDEADLK);
}
#endif

/* Nobody is told while somebody can still go on: two that wake each other in turn, main one of
 * them, and one that waits for a time. */
static weft_sem ping = WEFT_SEM_INIT(0), pong = WEFT_SEM_INIT(0);

static void *answer_pings(void *rounds)
{
	for (int i = 0; i < *(int *)rounds; i++) {
		CHECK_EQ(weft_sem_wait(&ping), 0);
		CHECK_EQ(weft_sem_post(&pong), 0);
	}
	return NULL;
}

TEST(who_is_woken_in_time_outside_of_runs_is_not_told_that_nobody_can)
{
	int rounds = TEST_SIZE(20000);
	pthread_t thread = thread_start(answer_pings, &rounds);

	catch_reports();
	for (int i = 0; i < rounds; i++) {
		CHECK_EQ(weft_sem_post(&ping), 0);
		CHECK_EQ(weft_sem_wait(&pong), 0);
	}
	thread_join(thread);
	CHECK_EQ(weft_sem_wait_until(&pong, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 0);
}

TEST_MAIN
