/* Random programs do on Weft only what the semantics of the AC paper (figure 5) allow. The
 * semantics are semantics/interpret.c, Weft's side semantics/execute.c.
 *
 *	WEFT_TEST_PROGRAMS=1000000 WEFT_TEST_LIMIT=3600 test_async_semantics
 *
 * compares a million in each test. What fails is shown as the smallest program that does.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "async/semantics/compare.h"
#include "async/semantics/examples.h"
#include "base/compiler.h"
#include "harness/test.h"

#ifdef WF_TSAN
enum { PROGRAMS = 500 };
#else
enum { PROGRAMS = 5000 };
#endif
enum {
	SCHEDULES = 40,  /* are tried with each program to shrink one: one that fails may be rare */
	ENOUGH = 100000, /* to find a seeded bug; some thousands are usual at most */
	LANES = 3,
};

#define ONE_COLOR (1u << EXACT | 1u << DIRECT | 1u << MIXED)
#define ALL_MANNERS (ONE_COLOR | 1u << BESIDE_IT)

/* A thread that compares programs, in a color of its own. */
struct lane {
	struct comparison c;
	const struct program *given; /* what to compare; NULL: random programs */
	int givens;
	bool failed, ended;
};

static struct lane lane[LANES];
static int lanes, workers;
static long programs;
static atomic_long next_program;
static atomic_bool enough;
static uint64_t first_seed;

static long how_many(void)
{
	const char *wanted = getenv("WEFT_TEST_PROGRAMS");

	return wanted != NULL ? atol(wanted) : TEST_SIZE(PROGRAMS);
}

static void compare_random(struct lane *l)
{
	long i;

	while (!atomic_load(&enough) && (i = atomic_fetch_add(&next_program, 1)) < programs) {
		if (compare(&l->c, first_seed + (uint64_t)i * 0x9e3779b97f4a7c15))
			continue;
		l->failed = true;
		atomic_store(&enough, true);
	}
}

/* In all the manners that there are to choose from. */
static void compare_given(struct lane *l)
{
	for (int i = 0; i < l->givens; i++) {
		for (int m = EXACT; m < MANNERS && !l->failed; m++) {
			l->c.manner = (enum manner)m;
			if (l->c.manners >> m & 1)
				l->failed = !l->c.holds(&l->c, &l->given[i], first_seed);
		}
	}
}

static int compare_all(void *arg)
{
	struct lane *l = arg;

	l->failed = l->ended = false;
	l->c.beside = weft_color_new();
	/* Left alone it would not be worth a theft, and come to no other worker. */
	CHECK_EQ(weft_color_pin(weft_color_current(), 0), 0);
	CHECK_EQ(weft_color_pin(l->c.beside, workers - 1), 0);
	if (l->given != NULL)
		compare_given(l);
	else
		compare_random(l);
	CHECK_EQ(weft_color_pin(l->c.beside, -1), 0);
	CHECK_EQ(weft_color_pin(weft_color_current(), -1), 0);
	l->ended = true;
	return 0;
}

static int run_lanes(void *count)
{
	weft_thread *t[LANES];

	for (int i = 0; i < *(int *)count; i++) {
		weft_thread_attr attr = { .on = true, .color = weft_color_new() };

		CHECK_EQ(weft_thread_start(&t[i], &attr, compare_all, &lane[i]), 0);
	}
	for (int i = 0; i < *(int *)count; i++)
		CHECK_EQ(weft_join(t[i], NULL), 0);
	return 0;
}

/* Runs so many lanes to their end, or until all wait. */
static int run(int count)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };
	int rc = weft_run(run_lanes, &count, &opt);

	for (int i = 0; i < count; i++)
		comparison_give_up(&lane[i].c);
	return rc;
}

static void no_report(enum weft_report_kind kind __attribute__((unused)),
		      const char *text __attribute__((unused)), void *arg __attribute__((unused)))
{
}

/* Asks the question once more, of one program, in a run of its own: it may not end, which is
 * a failure too. The schedule that failed is tried with the next, smaller one, too.
 */
static bool fails(const struct program *p, void *unused __attribute__((unused)))
{
	struct lane *l = &lane[0];

	l->given = p;
	l->givens = 1;
	run(1);
	l->given = NULL;
	if (!l->failed && l->ended)
		return false;
	l->c.known = l->c.seed;
	return true;
}

/* Gives the text about a failure, to be freed, and leaves the failure in lane 0. */
static char *explain(struct lane *l)
{
	struct comparison found = l->c;
	struct program p = l->c.p;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	CHECK(f != NULL);
	l->c = lane[0].c;
	lane[0].c = found;
	lane[0].c.manners = 1u << found.manner;
	lane[0].c.known = found.seed;
	/* Where two cores are at it, it takes a while until they meet again. */
	lane[0].c.schedules = found.manner == BESIDE_IT ? 20 * SCHEDULES : SCHEDULES;
	weft_on_report(no_report, NULL);
	if (fails(&p, NULL))
		program_shrink(&p, fails, NULL);
	fprintf(f, "\nseed %llu, program %ld", (unsigned long long)first_seed, found.compared);
	if (!fails(&p, NULL)) {
		fputs(", which fails seldom", f);
		lane[0].c = found;
	}
	fputs(":\n", f);
	comparison_print(f, &lane[0].c);
	fclose(f);
	return text;
}

/* Asks a question of many programs. Gives the text about a failure, to be freed, or NULL if
 * there was none.
 */
static char *ask(question *holds, unsigned manners, enum seeded_bug bug, uint64_t seed)
{
	struct lane *failed = NULL;
	long compared = 0, too_large = 0;
	int rc;

	first_seed = seed;
	atomic_store(&next_program, 0);
	atomic_store(&enough, false);
	lanes = workers == 1 ? 1 : LANES;
	for (int i = 0; i < lanes; i++)
		comparison_init(&lane[i].c, holds, manners, bug);
	rc = run(lanes);
	for (int i = 0; i < lanes; i++)
		if (lane[i].failed || !lane[i].ended)
			failed = &lane[i];
	if (failed != NULL)
		return explain(failed);
	CHECK_EQ(rc, 0);
	for (int i = 0; i < lanes; i++) {
		compared += lane[i].c.compared;
		too_large += lane[i].c.too_large;
		comparison_fini(&lane[i].c);
	}
	printf("%ld programs compared, %ld too large\n", compared, too_large);
	CHECK(too_large <= compared / 20 + 1);
	return NULL;
}

static void must_hold(question *holds, unsigned manners)
{
	char *text;

	programs = how_many();
	text = ask(holds, manners, NO_BUG, TEST_SEED);
	if (text != NULL)
		test_fail(__FILE__, __LINE__, "%s", text);
}

enum { EXAMPLES = sizeof examples / sizeof examples[0] };

/* Whether an example has just the outcomes it should have, in any order. */
static void check_example(struct interpreter *in, const struct example *e)
{
	size_t length = 0;
	struct program p;
	int n;

	program_parse(&p, e->program);
	n = interpret(in, &p, e->rules);
	for (int i = 0; i < n; i++) {
		char *text;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		CHECK(f != NULL);
		outcome_print(f, &interpreter_outcomes(in)[i]);
		fclose(f);
		if (strstr(e->outcomes, text) == NULL)
			test_fail(__FILE__, __LINE__, "%s: %s", e->rule, text);
		length += size;
		free(text);
	}
	if (length != strlen(e->outcomes))
		test_fail(__FILE__, __LINE__, "%s: outcomes are missing", e->rule);
}

TEST(the_interpreter_follows_the_rules)
{
	struct interpreter *in = interpreter_new();

	CHECK(in != NULL);
	for (int i = 0; i < EXAMPLES; i++)
		check_example(in, &examples[i]);
	interpreter_free(in);
}

TEST(weft_follows_the_rules)
{
	static struct program p[EXAMPLES];

	for (int i = 0; i < EXAMPLES; i++)
		program_parse(&p[i], examples[i].program);
	workers = 2;
	first_seed = TEST_SEED;
	comparison_init(&lane[0].c, outcomes_are_allowed, ALL_MANNERS, NO_BUG);
	lane[0].c.schedules = SCHEDULES;
	lane[0].given = p;
	lane[0].givens = EXAMPLES;
	CHECK_EQ(run(1), 0);
	if (lane[0].failed)
		comparison_print(stdout, &lane[0].c);
	CHECK(!lane[0].failed);
	comparison_fini(&lane[0].c);
}

TEST(programs_end_only_as_the_semantics_allow)
{
	workers = 1;
	must_hold(outcomes_are_allowed, ONE_COLOR);
}

TEST(programs_on_two_workers_end_only_as_the_semantics_allow)
{
	workers = 2;
	must_hold(outcomes_are_allowed, 1u << BESIDE_IT);
}

TEST(taking_async_out_of_a_program_that_does_not_wait_changes_nothing)
{
	workers = 1;
	must_hold(async_can_be_elided, ONE_COLOR);
}

TEST(taking_cancel_out_of_a_program_without_try_changes_nothing)
{
	workers = 1;
	must_hold(cancel_can_be_elided, ONE_COLOR);
}

/* A bug that is seeded must be found, and what is shown must be small. It is in this test,
 * not in Weft: TSan, which makes it ten times as slow, has nothing to add. The seed is always
 * the same: one program in a few hundred fails because of what ran before it (which stacks are
 * new, say), not by itself, and so cannot be made small. */
static void must_find(enum seeded_bug bug)
{
	char *text;

#ifdef WF_TSAN
	SKIP("ThreadSanitizer has nothing to add to it");
#endif
	workers = 1;
	programs = ENOUGH;
	text = ask(outcomes_are_allowed, ONE_COLOR, bug, 1);
	CHECK(text != NULL);
	printf("%s", text);
	free(text);
	comparison_fini(&lane[0].c);
	CHECK(lane[0].c.p.count <= 10);
}

TEST(cancel_that_loses_a_message_is_found)
{
	must_find(LOSES_MESSAGE);
}

TEST(a_tamed_function_that_forgets_a_message_is_found)
{
	must_find(GIVES_UP);
}

TEST(a_shield_that_cancel_enters_is_found)
{
	must_find(SHIELD_IS_OPEN);
}

TEST(cancel_that_goes_too_far_is_found)
{
	must_find(CANCELS_OUTER);
}

TEST(cancel_that_later_waits_do_not_see_is_found)
{
	must_find(CANCELS_ONCE);
}

TEST(async_that_starts_late_is_found)
{
	must_find(STARTS_LATE);
}

TEST_MAIN
