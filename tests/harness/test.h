/* test.h - tests as sentences, each in its own process under a time limit.
 *
 *	TEST(a_full_ring_refuses_the_next_push)
 *	{
 *		CHECK_EQ(ring_push(&ring, 5), -ENOSPC);
 *	}
 *	TEST_MAIN
 *
 * `prog` runs all, `prog NAME...` only those. The environment:
 *	WEFT_TEST_SEED=n     repeats what a random test did
 *	WEFT_TEST_LIMIT=n    seconds that one test may take
 *	WEFT_TEST_QUICK=1    smaller stress sizes, see TEST_SIZE
 *	WEFT_TEST_FULL=1     the largest, where a test has such (make check ARGS=--full)
 *	WEFT_TEST_NOFORK=1   all in this process and without limit, for debuggers
 *	WEFT_TEST_VERBOSE=1  shows what tests print even if they pass
 */
#ifndef HARNESS_TEST_H
#define HARNESS_TEST_H

#include <stdbool.h>
#include <stdint.h>

struct test_case {
	const char *name;
	void (*run)(void);
	struct test_case *next;
};

/* Tests run in the order registered, which is the order in the file. */
void test_register(struct test_case *test);
int test_main(int argc, char **argv);

/* End the test as failed, on whatever thread. */
_Noreturn void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void test_equal(intmax_t a, intmax_t b, const char *text_a, const char *text_b, const char *file,
		int line);
void test_same_text(const char *a, const char *b, const char *text_a, const char *text_b,
		    const char *file, int line);
/* Ends the test as skipped, on whatever thread: this machine or this build cannot run it. */
_Noreturn void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Whether fn ends the process that calls it by abort. */
void test_must_abort(void (*fn)(void), const char *text, const char *file, int line);

/* The seed of this run; asking for it marks the test as random. */
uint64_t test_seed(void);

/* The next number of a repeatable sequence (splitmix64) that starts at *state. */
uint64_t test_random(uint64_t *state);

/* Whether stress sizes should be small; or as large as they ever are, which takes minutes. */
bool test_quick(void);
bool test_full(void);

#define TEST(sentence) \
	static void test_##sentence(void); \
	__attribute__((constructor)) static void register_##sentence(void) \
	{ \
		static struct test_case test = { #sentence, test_##sentence, 0 }; \
\
		test_register(&test); \
	} \
	static void test_##sentence(void)

#define CHECK(cond) \
	do { \
		if (!(cond)) \
			test_fail(__FILE__, __LINE__, "not so: %s", #cond); \
	} while (0)

/* Integers of any width, and pointers. */
#define CHECK_EQ(a, b) test_equal((intmax_t)(a), (intmax_t)(b), #a, #b, __FILE__, __LINE__)

#define CHECK_STR(a, b) test_same_text((a), (b), #a, #b, __FILE__, __LINE__)

#define CHECK_ABORTS(fn) test_must_abort((fn), #fn, __FILE__, __LINE__)

/* The reason is printed, and the test is counted as skipped in the last line. */
#define SKIP(...) test_skip(__VA_ARGS__)

#define TEST_SEED test_seed()

/* How much of `full` a stress test should do here. */
#define TEST_SIZE(full) (test_quick() ? ((full) + 9) / 10 : (full))

#define TEST_MAIN \
	int main(int argc, char **argv) \
	{ \
		return test_main(argc, argv); \
	}

#endif
