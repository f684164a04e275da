/* syscall.c - system calls without the C library do what they do with it. */
#include "platform/syscall.h"

#include <fcntl.h>
#include <unistd.h>

#include "harness/test.h"

/* Every level has something on its stack that it looks at when the others are back. */
static WF_NOINLINE long sum_down(volatile long *above, int depth)
{
	volatile long here = depth;
	long sum = 0;

	if (depth > 0)
		sum = sum_down(&here, depth - 1);
	(void)wf_syscall6(SYS_getppid, 0, 0, 0, 0, 0, 0);
	wf_return_stack_push();
	return sum + here + *above;
}

TEST(returns_go_where_they_should_whatever_the_CPU_was_made_to_expect)
{
	volatile long top = 0;

	CHECK_EQ(sum_down(&top, 100), 100 * 101);
}

TEST(a_system_call_returns_a_count_or_an_error)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char buf[16] = "full";
	struct iovec iov = { buf, sizeof buf };
	int64_t n = wf_preadv2(fd, &iov, 1, 0, 0);

	CHECK(fd >= 0);
	if (n == -ENOSYS)
		SKIP("the kernel, or its emulator, has no preadv2");
	CHECK_EQ(n, 16);
	CHECK_EQ(buf[0], 0);
	CHECK_EQ(wf_preadv2(-1, &iov, 1, 0, 0), -EBADF);
	close(fd);
}

TEST(the_probe_is_made_once)
{
	bool slow;

	wf_syscall_probe();
	slow = wf_slow_returns;
	wf_syscall_probe();
	CHECK_EQ(wf_slow_returns, slow);
}

TEST_MAIN
