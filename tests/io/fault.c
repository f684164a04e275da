/* fault.c - the nth call to the outside world fails, for every n: each time the
 * run ends, every operation started is done, and no descriptor is left over. */
#include <netinet/in.h>

#include "harness/faults.h"
#include "io/sync.h"

/* A small program with a bit of everything, each step when the last is over. */
static struct {
	int step, pending;
	weft_op op[2];
	int fd[2], ls, cl, conn, file;
	char buf[2][64];
	bool watching;
} prog;

static void next_step(void);

static void one_done(void *arg)
{
	/* Its partner must not wait for what will never come. */
	if (((weft_op *)arg)->result < 0 && prog.pending == 2)
		(void)weft_op_cancel(arg == &prog.op[0] ? &prog.op[1] : &prog.op[0]);
	if (--prog.pending == 0)
		next_step();
}

/* Counts what was started. */
static void began(int rc)
{
	if (rc == 0)
		prog.pending++;
	else
		CHECK(rc == -ENOMEM || rc == -EMFILE || rc == -EAGAIN || rc == -EBADF);
}

static void on_watch(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_off_fd(prog.fd[1], WEFT_READ), 0);
	if (--prog.pending == 0)
		next_step();
}

static void send_done(void *arg)
{
	/* Nothing was sent, so nothing will call the watch. */
	if (((weft_op *)arg)->result < 0 && weft_off_fd(prog.fd[1], WEFT_READ) == 0)
		prog.pending--;
	if (--prog.pending == 0)
		next_step();
}

static void connect_step(void)
{
	static struct sockaddr_in addr;
	socklen_t len = sizeof addr;

	prog.ls = weft_listen_on("127.0.0.1:0");
	if (prog.ls < 0)
		return;
	CHECK_EQ(getsockname(prog.ls, (struct sockaddr *)&addr, &len), 0);
	prog.cl = socket(AF_INET, SOCK_STREAM, 0);
	began(weft_op_accept(&prog.op[0], prog.ls, NULL, NULL));
	began(weft_op_connect(&prog.op[1], prog.cl, (struct sockaddr *)&addr, len));
}

static void watch_step(void)
{
	int rc = weft_on_fd(prog.fd[1], WEFT_READ, WEFT_MAIN, on_watch, NULL);

	began(rc);
	if (rc == 0) {
		weft_op_init(&prog.op[0], WEFT_MAIN, send_done, &prog.op[0]);
		began(weft_op_send(&prog.op[0], prog.fd[0], "x", 1, 0));
	}
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		(void)weft_fd_close(fd);
}

static void take_step(int step)
{
	if (step == 2)
		prog.file = (int)prog.op[0].result;
	if (step == 5)
		prog.conn = prog.ls >= 0 ? (int)prog.op[0].result : -1;
	for (int i = 0; i < 2; i++)
		weft_op_init(&prog.op[i], WEFT_MAIN, one_done, &prog.op[i]);
	switch (step) {
	case 0:
		make_pair(prog.fd);
		began(weft_op_recv(&prog.op[0], prog.fd[1], prog.buf[0], 64, 0));
		began(weft_op_send(&prog.op[1], prog.fd[0], "hello", 5, 0));
		break;
	case 1:
		began(weft_op_open(&prog.op[0], AT_FDCWD, "/proc/self/exe", O_RDONLY, 0));
		break;
	case 2:
		began(weft_op_pread(&prog.op[0], prog.file, prog.buf[0], 64, 1000));
		began(weft_op_fsync(&prog.op[1], prog.file, true));
		break;
	case 3:
		began(weft_op_recv(&prog.op[0], prog.fd[1], prog.buf[0], 64, 0));
		began(weft_op_sendfile(&prog.op[1], prog.fd[0], prog.file, 0, 64));
		break;
	case 4:
		connect_step();
		break;
	case 5:
		watch_step();
		break;
	case 6:
		began(weft_op_close(&prog.op[0], prog.conn));
		began(weft_op_close(&prog.op[1], prog.file));
		break;
	case 7:
		began(weft_op_recv(&prog.op[0], prog.fd[0], prog.buf[0], 64, 0));
		began(weft_op_close(&prog.op[1], prog.fd[0]));
		break;
	case 8:
		close_if_open(prog.cl);
		close_if_open(prog.ls);
		close_if_open(prog.fd[1]);
		break;
	}
}

static void next_step(void)
{
	while (prog.pending == 0 && prog.step <= 8)
		take_step(prog.step++);
}

static int start(void *unused)
{
	(void)unused;
	next_step();
	return 0;
}

TEST(any_one_failure_is_an_error_and_never_a_hang)
{
	weft_options opt = { .workers = 1 };
	long n = 0;
	int rc, before = open_descriptors();

	do {
		memset(&prog, 0, sizeof prog);
		prog.cl = prog.ls = prog.conn = prog.file = -1;
		wf_fault_arm(++n);
		rc = weft_run(start, NULL, &opt);
		CHECK(rc == 0 || rc == -ENOMEM || rc == -EMFILE || rc == -EAGAIN);
		CHECK(prog.step == 0 || prog.step == 9);
		check_descriptors(before, n);
	} while (wf_fault_site() != NULL);
	CHECK_EQ(rc, 0);
	CHECK(n > 20);
}

TEST_MAIN
