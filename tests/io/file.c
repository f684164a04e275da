/* file.c - operations on regular files, and sending files. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "io/sync.h"

static int temp_file(size_t size)
{
	int fd = memfd_create("weft", MFD_CLOEXEC);
	char *p = malloc(size);

	CHECK(fd >= 0);
	for (size_t i = 0; i < size; i++)
		p[i] = (char)(i * 31 + i / 4096);
	CHECK_EQ(write(fd, p, size), size);
	free(p);
	return fd;
}

static char byte_at(size_t i)
{
	return (char)(i * 31 + i / 4096);
}

static void check_bytes(const char *p, size_t from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		CHECK_EQ(p[i], byte_at(from + i));
}

TEST(a_file_is_opened_written_synced_read_and_closed)
{
	char path[] = "/tmp/weft-file-XXXXXX", buf[64];
	int fd = mkstemp(path);
	struct stat st;

	CHECK(fd >= 0);
	close(fd);
	runtime_begin(2);
	fd = (int)DO(open, AT_FDCWD, path, O_RDWR | O_TRUNC, 0600);
	CHECK(fd >= 0);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(DO(write, fd, "hello ", 6), 6);
	CHECK_EQ(DO(write, fd, "world", 5), 5);
	CHECK_EQ(DO(pwrite, fd, "W", 1, 6), 1);
	CHECK_EQ(DO(fsync, fd, false), 0);
	CHECK_EQ(DO(fsync, fd, true), 0);
	CHECK_EQ(DO(pread, fd, buf, 64, 0), 11);
	CHECK_EQ(memcmp(buf, "hello World", 11), 0);
	CHECK_EQ(DO(read, fd, buf, 64), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(DO(read, fd, buf, 6), 6);
	CHECK_EQ(DO(read, fd, buf, 64), 5);
	CHECK_EQ(memcmp(buf, "World", 5), 0);
	CHECK_EQ(DO(close, fd), 0);
	CHECK_EQ(fstat(fd, &st), -1);
	CHECK_EQ(DO(open, AT_FDCWD, "/no/such/file", O_RDONLY, 0), -ENOENT);
	CHECK_EQ(DO(open, 12345, "x", O_RDONLY, 0), -EBADF);
	CHECK_EQ(DO(open, AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0), -ENOTDIR);
	runtime_end();
	unlink(path);
}

TEST(reads_at_offsets_run_side_by_side_and_each_gets_its_part)
{
	enum { N = 64, LEN = 10000 };
	static char buf[N][LEN];
	struct call *c[N];
	int fd = temp_file((size_t)N * LEN);

	runtime_begin(2);
	for (int i = 0; i < N; i++)
		c[i] = START(pread, fd, buf[i], LEN, (int64_t)i * LEN);
	for (int i = 0; i < N; i++) {
		CHECK_EQ(WAIT(c[i]), LEN);
		check_bytes(buf[i], (size_t)i * LEN, LEN);
	}
	CHECK_EQ(DO(pread, fd, buf[0], LEN, (int64_t)N * LEN - 10), 10);
	CHECK_EQ(DO(pread, fd, buf[0], LEN, (int64_t)N * LEN), 0);
	runtime_end();
}

/* More than the kernel is given at a time, of one file. */
TEST(many_reads_of_a_file_wait_for_their_turn_and_can_be_cancelled)
{
	enum { N = 600, LEN = 64, STEP = 7 };
	static char buf[N][LEN];
	struct call *c[N];
	int fd = temp_file((size_t)N * LEN);
	int64_t n;

	runtime_begin(1);
	worker_hold();
	for (int i = 0; i < N; i++)
		c[i] = START(pread, fd, buf[i], LEN, (int64_t)i * LEN);
	for (int i = 3; i < N; i += STEP) {
		int rc = weft_op_cancel(&c[i]->op);

		/* With a pool of threads it may have been read. */
		CHECK(rc == 0 || rc == -EALREADY);
		if (strcmp(backend_name(), "uring") == 0 && i >= 256)
			CHECK_EQ(c[i]->op.result, -ECANCELED); /* the kernel need not be asked */
	}
	worker_go();
	for (int i = 0; i < N; i++) {
		n = WAIT(c[i]);
		if (i % STEP == 3 && n == -ECANCELED)
			continue;
		CHECK_EQ(n, LEN);
		check_bytes(buf[i], (size_t)i * LEN, LEN);
	}
	worker_hold();
	for (int i = 0; i < N; i++)
		c[i] = START(pread, fd, buf[i], LEN, (int64_t)i * LEN);
	CHECK_EQ(weft_fd_close(fd), 0);
	worker_go();
	for (int i = 0; i < N; i++) {
		n = WAIT(c[i]);
		CHECK(n == LEN || n == -ECANCELED || n == -EBADF);
	}
	runtime_end();
	CHECK(fcntl(fd, F_GETFD) < 0);
}

static void never_called(void *unused)
{
	(void)unused;
	CHECK(false);
}

TEST(many_reads_of_a_file_that_wait_are_given_up_at_the_stop)
{
	enum { N = 600 };
	static char buf[N];
	static weft_op op[N];
	int fd = temp_file(N);

	runtime_begin(1);
	worker_hold();
	for (int i = 0; i < N; i++) {
		weft_op_init(&op[i], weft_color_new(), never_called, NULL);
		CHECK_EQ(weft_op_pread(&op[i], fd, &buf[i], 1, i), 0);
	}
	CHECK_EQ(weft_stop(), 0);
	worker_go();
	runtime_join();
	for (int i = 0; i < N; i++)
		CHECK(op[i].result == -ECANCELED || op[i].result == 1);
	close(fd);
}

TEST(reads_at_the_files_position_follow_each_other)
{
	enum { N = 40, LEN = 5000 };
	static char buf[N][LEN];
	struct call *c[N];
	int fd = temp_file((size_t)N * LEN);

	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	runtime_begin(2);
	for (int i = 0; i < N; i++)
		c[i] = START(read, fd, buf[i], LEN);
	for (int i = 0; i < N; i++) {
		CHECK_EQ(WAIT(c[i]), LEN);
		check_bytes(buf[i], (size_t)i * LEN, LEN);
	}
	runtime_end();
}

TEST(a_cold_file_is_read_whole)
{
	enum { SIZE = 3 << 20 };
	char path[] = "/tmp/weft-cold-XXXXXX";
	static char all[SIZE], got[SIZE];
	struct iovec iov[3] = { { got, 5000 },
				{ got + 5000, 1000000 },
				{ got + 1005000, SIZE - 1005000 } };
	int fd = mkstemp(path);

	for (size_t i = 0; i < SIZE; i++)
		all[i] = byte_at(i);
	CHECK_EQ(write(fd, all, SIZE), SIZE);
	CHECK_EQ(fsync(fd), 0);
	runtime_begin(2);
	/* Half of it warm: the page cache answers for the beginning only. */
	for (int round = 0; round < 3; round++) {
		CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
		if (round > 0)
			CHECK_EQ(pread(fd, got, 4096, 0), 4096);
		memset(got, 0, SIZE);
		if (round < 2)
			CHECK_EQ(DO(pread, fd, got, SIZE, 0), SIZE);
		else
			CHECK_EQ(DO(readv, fd, iov, 3, 0), SIZE);
		CHECK_EQ(memcmp(got, all, SIZE), 0);
	}
	runtime_end();
	unlink(path);
}

TEST(devices_that_cannot_be_waited_for_work_like_files)
{
	char buf[100];
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);

	runtime_begin(1);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(DO(read, null, buf, 100), 0);
		CHECK_EQ(DO(write, null, buf, 100), 100);
		CHECK_EQ(DO(read, zero, buf, 100), 100);
		CHECK_EQ(DO(pread, zero, buf, 100, 5), 100);
	}
	runtime_end();
}

/* Sends [offset, offset + len) of a file of `size` and reads it on the other side. */
static void send_part(int sock[2], int file, size_t size, size_t offset, size_t len)
{
	size_t want = offset >= size ? 0 : len < size - offset ? len : size - offset;
	struct call *c = START(sendfile, sock[0], file, (int64_t)offset, len);
	char *buf = malloc(want + 1);

	for (size_t got = 0; got < want;) {
		ssize_t n = read(sock[1], buf + got, want - got);

		CHECK(n > 0);
		got += (size_t)n;
	}
	CHECK_EQ(WAIT(c), want);
	check_bytes(buf, offset, want);
	free(buf);
}

TEST(a_file_is_sent_through_a_socket)
{
	enum { SIZE = 3000000 };
	int file = temp_file(SIZE), sock[2];

	runtime_begin(2);
	for (int round = 0; round < 4; round++) {
		round & 1 ? make_tcp(sock) : make_pair(sock);
		if (round & 2)
			CHECK_EQ(fcntl(sock[0], F_SETFL, O_NONBLOCK), 0);
		send_part(sock, file, SIZE, 0, SIZE);
		send_part(sock, file, SIZE, 0, 100);
		send_part(sock, file, SIZE, 1234567, 10);
		send_part(sock, file, SIZE, SIZE - 5, 1000);
		send_part(sock, file, SIZE, SIZE, 1000);
		send_part(sock, file, SIZE, SIZE + 70000, 1000);
		send_part(sock, file, SIZE, 99, 0);
		send_part(sock, file, SIZE, SIZE - 100000, 1000000);
		CHECK_EQ(DO(sendfile, sock[0], 12345, 0, 5), -EBADF);
		CHECK_EQ(DO(sendfile, sock[0], sock[1], 0, 5), -EINVAL);
		CHECK_EQ(DO(close, sock[1]), 0);
		/* TCP hears of it only after it has sent something. */
		for (int64_t n = 1; n > 0;) {
			n = DO(sendfile, sock[0], file, 0, SIZE);
			CHECK(n < SIZE);
			CHECK(n > 0 || n == -ECONNRESET || n == -EPIPE);
		}
		CHECK_EQ(DO(close, sock[0]), 0);
	}
	runtime_end();
}

TEST(a_cold_file_is_sent_through_a_socket)
{
	enum { SIZE = 2000000 };
	char path[] = "/tmp/weft-cold-XXXXXX";
	char *all = malloc(SIZE);
	int fd = mkstemp(path), sock[2];

	for (size_t i = 0; i < SIZE; i++)
		all[i] = byte_at(i);
	CHECK_EQ(write(fd, all, SIZE), SIZE);
	CHECK_EQ(fsync(fd), 0);
	make_pair(sock);
	runtime_begin(2);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
		send_part(sock, fd, SIZE, 0, SIZE + 10);
		CHECK_EQ(fcntl(sock[0], F_SETFL, O_NONBLOCK), 0);
	}
	runtime_end();
	unlink(path);
	free(all);
}

/* What is known of a file that was just sent must not outlive it. */
TEST(a_file_that_changed_is_sent_as_it_is_now)
{
	enum { SIZE = 1 << 20, SHORT = 300000 };
	int file = temp_file(SIZE), other, sock[2];

	make_tcp(sock);
	CHECK_EQ(fcntl(sock[0], F_SETFL, O_NONBLOCK), 0);
	runtime_begin(2);
	for (int round = 0; round < 3; round++) {
		send_part(sock, file, SIZE, 0, SIZE);
		send_part(sock, file, SIZE, 262144 - 10, 20);
	}
	CHECK_EQ(ftruncate(file, SHORT), 0);
	send_part(sock, file, SHORT, 0, SIZE);
	send_part(sock, file, SHORT, SHORT + 1, 10);
	other = temp_file(SIZE);
	CHECK_EQ(DO(close, file), 0);
	CHECK_EQ(dup2(sock[1], file), file);
	CHECK_EQ(DO(sendfile, sock[0], file, 0, 5), -EINVAL);
	CHECK_EQ(dup2(other, file), file);
	send_part(sock, file, SIZE, 0, SIZE);
	runtime_end();
}

TEST(files_are_sent_and_written_in_the_order_started)
{
	int file = temp_file(100000), sock[2];
	struct call *c[3];
	char buf[100006];

	make_pair(sock);
	CHECK_EQ(fcntl(sock[0], F_SETFL, O_NONBLOCK), 0);
	runtime_begin(2);
	c[0] = START(send, sock[0], "abc", 3, 0);
	c[1] = START(sendfile, sock[0], file, 0, 100000);
	c[2] = START(write, sock[0], "def", 3);
	CHECK_EQ(DO(recv, sock[1], buf, sizeof buf, MSG_WAITALL), sizeof buf);
	CHECK_EQ(WAIT(c[0]), 3);
	CHECK_EQ(WAIT(c[1]), 100000);
	CHECK_EQ(WAIT(c[2]), 3);
	CHECK_EQ(memcmp(buf, "abc", 3), 0);
	check_bytes(buf + 3, 0, 100000);
	CHECK_EQ(memcmp(buf + 100003, "def", 3), 0);
	runtime_end();
}

TEST(opening_a_fifo_does_not_wait_for_its_peer)
{
	char path[64], buf[4];
	int64_t in, out;

	snprintf(path, sizeof path, "/tmp/weft-fifo-%d", (int)getpid());
	unlink(path);
	CHECK_EQ(mkfifo(path, 0600), 0);
	runtime_begin(2);
	CHECK_EQ(DO(open, AT_FDCWD, path, O_WRONLY, 0), -ENXIO);
	in = DO(open, AT_FDCWD, path, O_RDONLY, 0);
	CHECK(in >= 0);
	CHECK_EQ(fcntl((int)in, F_GETFL) & O_NONBLOCK, 0);
	out = DO(open, AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_APPEND, 0);
	CHECK(out >= 0);
	CHECK(fcntl((int)out, F_GETFL) & O_NONBLOCK);
	CHECK_EQ(DO(write, (int)out, "abc", 3), 3);
	CHECK_EQ(DO(read, (int)in, buf, 4), 3);
	CHECK_EQ(DO(close, (int)out), 0);
	out = DO(open, AT_FDCWD, path, O_WRONLY | O_APPEND, 0);
	CHECK(out >= 0);
	CHECK_EQ(fcntl((int)out, F_GETFL) & (O_NONBLOCK | O_APPEND), O_APPEND);
	CHECK_EQ(fcntl((int)out, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(DO(close, (int)in), 0);
	CHECK_EQ(DO(close, (int)out), 0);
	runtime_end();
	unlink(path);
}

TEST_MAIN
