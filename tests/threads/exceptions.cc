/* C++: exceptions thrown and caught inside threads work across waits. What the C++
 * library keeps of them per kernel thread belongs to a thread of ours.
 *
 * Uses only what is public, as it is linked with the shared library too.
 */
#define _Noreturn [[noreturn]]

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <string>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

extern "C" {
#include "harness/test.h"
}

namespace
{

enum { WORKERS = 4, THREADS = 100 };

std::atomic<int> done;

int run(int (*fn)(void *), int workers)
{
	weft_options opt = {};

	opt.workers = workers;
	return weft_run(fn, nullptr, &opt);
}

/* Starts many of them: of a few colors, so that some share one and take turns in their
 * catch blocks, and others run beside them. */
int start_all(weft_thread_fn *fn)
{
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(weft_go_on(static_cast<weft_color>(100 + i % 7), fn,
				    reinterpret_cast<void *>(i)),
			 0);
	return 0;
}

struct mine {
	intptr_t number;
};

void throw_mine(intptr_t number)
{
	CHECK_EQ(weft_yield(), 0);
	throw mine{ number };
}

/* Within a catch block. */
void rethrow()
{
	CHECK_EQ(weft_yield(), 0);
	throw;
}

int throw_and_catch(void *arg)
{
	intptr_t number = reinterpret_cast<intptr_t>(arg);

	for (int i = 0; i < 50; i++) {
		try {
			throw_mine(number);
			CHECK(false);
		} catch (const mine &outer) {
			CHECK_EQ(weft_yield(), 0);
			CHECK_EQ(outer.number, number);
			try {
				rethrow();
				CHECK(false);
			} catch (const mine &again) {
				CHECK_EQ(weft_yield(), 0);
				CHECK_EQ(again.number, number);
				CHECK(&again == &outer);
			}
			try {
				CHECK_EQ(weft_sleep(1), 0);
				throw std::runtime_error(std::to_string(number));
			} catch (const std::exception &inner) {
				CHECK_EQ(weft_hop(weft_color_new()), 0);
				CHECK_STR(inner.what(), std::to_string(number).c_str());
			}
			CHECK(std::current_exception() != nullptr);
			CHECK_EQ(outer.number, number);
		}
		CHECK(std::current_exception() == nullptr);
	}
	done++;
	return 0;
}

int start_throwers(void *)
{
	return start_all(throw_and_catch);
}

/* A destructor that waits while an exception is on its way. */
struct waits_at_end {
	~waits_at_end()
	{
		CHECK_EQ(std::uncaught_exceptions(), 1);
		CHECK_EQ(weft_yield(), 0);
		CHECK_EQ(std::uncaught_exceptions(), 1);
		try {
			CHECK_EQ(weft_yield(), 0);
			throw 1;
		} catch (int) {
			CHECK_EQ(weft_yield(), 0);
			CHECK_EQ(std::uncaught_exceptions(), 1);
		}
	}
};

int unwind_and_wait(void *arg)
{
	CHECK_EQ(std::uncaught_exceptions(), 0);
	for (int i = 0; i < 20; i++) {
		try {
			waits_at_end guard;

			throw_mine(reinterpret_cast<intptr_t>(arg));
		} catch (const mine &e) {
			CHECK_EQ(std::uncaught_exceptions(), 0);
			CHECK_EQ(e.number, reinterpret_cast<intptr_t>(arg));
		}
	}
	done++;
	return 0;
}

int start_unwinders(void *)
{
	return start_all(unwind_and_wait);
}

/* An exception leaves a thread by the one who joins it. */
std::exception_ptr kept;

int throw_out(void *)
{
	try {
		throw_mine(77);
	} catch (...) {
		kept = std::current_exception();
	}
	return 1;
}

int join_thrower(void *)
{
	weft_thread_attr attr = {};
	weft_thread *t;
	int result = 0;

	attr.on = true;
	attr.color = 5;
	CHECK_EQ(weft_thread_start(&t, &attr, throw_out, nullptr), 0);
	try {
		throw mine{ 1 };
	} catch (const mine &own) {
		CHECK_EQ(weft_join(t, &result), 0);
		CHECK_EQ(own.number, 1);
	}
	CHECK_EQ(result, 1);
	try {
		std::rethrow_exception(kept);
	} catch (const mine &other) {
		CHECK_EQ(other.number, 77);
	}
	kept = nullptr;
	return 0;
}

int throw_uncaught(void *)
{
	throw_mine(1);
	return 0;
}

[[noreturn]] void on_terminate()
{
	_exit(std::uncaught_exceptions() == 1 || std::current_exception() ? 42 : 43);
}

} // namespace

TEST(exceptions_are_caught_by_the_thread_that_threw_them)
{
	CHECK_EQ(run(start_throwers, WORKERS), 0);
	CHECK_EQ(done.load(), THREADS);
}

TEST(a_semaphore_and_a_barrier_take_any_number)
{
	int number = 2;
	weft_sem sem = WEFT_SEM_INIT(number);
	weft_barrier barrier = WEFT_BARRIER_INIT(number);

	CHECK_EQ(weft_sem_trywait(&sem), 0);
	CHECK_EQ(weft_sem_trywait(&sem), 0);
	CHECK_EQ(weft_sem_trywait(&sem), -EBUSY);
	CHECK_EQ(weft_barrier_fini(&barrier), 0);
}

TEST(a_thread_may_wait_while_an_exception_unwinds_its_stack)
{
	CHECK_EQ(run(start_unwinders, WORKERS), 0);
	CHECK_EQ(done.load(), THREADS);
}

TEST(an_exception_can_be_handed_to_another_thread)
{
	CHECK_EQ(run(join_thrower, 2), 0);
}

TEST(an_exception_that_nobody_catches_ends_the_program_as_ever)
{
	int status = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		std::set_terminate(on_terminate);
		run(throw_uncaught, 1);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 42);
}

TEST_MAIN
