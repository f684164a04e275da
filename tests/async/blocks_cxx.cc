/* Blocks in C++: all that they do in C, objects of their own, and exceptions. */
#define TEST_PART

#include "blocks.c"
#include "blocks_cancel.c"
#include "blocks_frames.c"
#include "blocks_many.c"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>

BLOCK_TEST(an_exception_of_a_block_cancels_the_others_and_is_thrown_at_the_end)
{
	int slept = 1, after = 0;

	try {
		weft_finish (q) {
			weft_async {
				slept = weft_sleep(AN_HOUR);
			};
			weft_async {
				weft_yield();
				throw std::runtime_error("first");
			};
			weft_async {
				yield_times(5);
				throw std::runtime_error("second");
			};
			after = 1;
		}
		after = 2;
	} catch (const std::runtime_error &e) {
		CHECK_STR(e.what(), "first");
	}
	CHECK_EQ(after, 1);
	CHECK_EQ(slept, -ECANCELED);
	return 0;
}

BLOCK_TEST(one_that_is_thrown_before_the_block_waits_is_kept_too)
{
	int after = 0;

	try {
		weft_finish (q) {
			weft_async {
				throw 5;
			};
			after = 1;
			CHECK(weft_cancelled());
		}
		after = 2;
	} catch (int i) {
		CHECK_EQ(i, 5);
	}
	CHECK_EQ(after, 1);
	return 0;
}

static int leave_early(bool *waited)
{
	weft_finish (q) {
		weft_async {
			weft_yield();
			*waited = true;
			throw std::string("from the block");
		};
		return 1;
	}
	return 2;
}

BLOCK_TEST(however_the_finish_block_is_left_the_exception_is_thrown)
{
	bool waited = false;
	int rc = 0;

	try {
		rc = leave_early(&waited);
	} catch (const std::string &text) {
		CHECK_STR(text.c_str(), "from the block");
	}
	CHECK(waited);
	CHECK_EQ(rc, 0);
	return 0;
}

BLOCK_TEST(one_that_leaves_the_finish_block_goes_on_when_all_have_ended)
{
	bool waited = false;

	try {
		weft_finish (q) {
			weft_async {
				yield_times(3);
				waited = true;
				throw 1;
			};
			throw 2;
		}
	} catch (int i) {
		CHECK_EQ(i, 2);
		CHECK(waited);
	}
	return 0;
}

static void rethrow_after_waits(int i, int *right)
{
	try {
		throw std::to_string(i);
	} catch (const std::string &) {
		try {
			yield_times(1 + i % 3);
			throw;
		} catch (const std::string &text) {
			yield_times(i % 2);
			*right += text == std::to_string(i);
		}
	}
}

BLOCK_TEST(blocks_that_wait_in_their_handlers_keep_their_own_exceptions)
{
	int right = 0;

	weft_finish (q) {
		for (int i = 0; i < 20; i++) {
			weft_async_own (i) {
				rethrow_after_waits(i, &right);
			};
		}
		rethrow_after_waits(100, &right);
	}
	CHECK_EQ(right, 21);
	return 0;
}

BLOCK_TEST(a_block_started_in_a_handler_leaves_the_exception_to_it)
{
	std::string seen;

	try {
		throw std::runtime_error("outer");
	} catch (const std::runtime_error &) {
		weft_finish (q) {
			weft_async {
				try {
					throw std::runtime_error("inner");
				} catch (const std::runtime_error &e) {
					weft_yield();
					seen += e.what();
				}
			};
		}
		try {
			throw;
		} catch (const std::runtime_error &e) {
			seen += e.what();
		}
	}
	CHECK_STR(seen.c_str(), "innerouter");
	return 0;
}

/* Its stack is the next body's. */
BLOCK_TEST(what_a_body_had_in_hand_when_it_ended_is_nobody_elses)
{
	bool none = false;

	weft_finish (q) {
		weft_async {
			weft_yield();
			try {
				throw 1;
			} catch (int) {
				weft_exit(0);
			}
		};
	}
	weft_finish (q) {
		weft_async {
			weft_finish (r) {
				weft_async {
					weft_yield();
				};
				none = std::current_exception() == nullptr;
			}
		};
	}
	CHECK(none);
	return 0;
}

BLOCK_TEST(own_objects_are_copied_and_destroyed)
{
	auto shared = std::make_shared<int>(5);
	std::string text = "a text that is too long to be kept inside of the object";
	long most = 0;
	int right = 0;

	weft_finish (q) {
		for (int i = 0; i < 5; i++) {
			weft_async_own (shared, text, i) {
				yield_times(i);
				right += text.size() > 40 && *shared == 5;
				text += "more";
			};
			most = shared.use_count();
		}
		text = "";
	}
	CHECK(most > 1);
	CHECK_EQ(right, 5);
	CHECK_EQ(shared.use_count(), 1);
	return 0;
}

struct server {
	int requests = 0;

	int serve(int n)
	{
		int rc = 0;

		weft_finish (q, &rc) {
			for (int i = 0; i < n; i++) {
				weft_async {
					weft_yield();
					requests++;
				};
			}
		}
		return rc;
	}
};

BLOCK_TEST(blocks_in_member_functions_see_the_object)
{
	server s;

	CHECK_EQ(s.serve(7), 0);
	CHECK_EQ(s.requests, 7);
	return 0;
}

/* In C++ a block is an expression: an if or a loop needs no braces around it. */
BLOCK_TEST(without_braces_a_block_belongs_to_the_statement_before_it)
{
	int ran = 0;

	weft_finish (q) {
		if (opaque(0))
			weft_async {
				ran += 100;
			};
		for (int i = 0; i < 3; i++)
			weft_async {
				ran++;
			};
	}
	CHECK_EQ(ran, 3);
	return 0;
}

/* Only blocks keep what they throw. Out of another body nothing can be thrown: its caller
 * may have gone on. */
static int throws(void *)
{
	throw 5;
}

static int catches(void *)
{
	(void)close(STDERR_FILENO);
	try {
		(void)weft_async_call(throws, nullptr);
	} catch (int) {
		_exit(0);
	}
	return 0;
}

TEST(an_exception_that_leaves_another_body_ends_the_program)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(weft_run(catches, NULL, NULL) != 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
}

TEST_MAIN
