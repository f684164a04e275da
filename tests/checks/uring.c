/* uring.c - succeeds where the kernel lets this process use io_uring. */
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct io_uring_params params = { 0 };

	return syscall(SYS_io_uring_setup, 1, &params) < 0;
}
