/* number.c - files that a ring has by numbers of its own: they are right, and given up in time. */
#include <stdio.h>
#include <sys/stat.h>

#include <weft/sync.h>

#include "base/capacity.h"
#include "harness/faults.h"
#include "io/fd.h"
#include "threads/blocking.h"

#ifdef WEFT_HAVE_URING
#include "io/uring.h"

static bool has_numbers(void)
{
	return wf_io == &wf_uring && WF_CONTAINER(wf_poller_of(0), struct wf_uring, base)->alone;
}
#else
static bool has_numbers(void)
{
	return false;
}
#endif

enum { SIZE = 512, OFTEN = 2 * WF_RING_FILE_USES + 2, FILES = WF_RING_FILES + 3 };

/* Byte i of the nth file. */
static char byte_of(int nth, int i)
{
	return (char)(nth * 7 + i);
}

static void make_file(int nth, char *path, size_t size)
{
	char bytes[SIZE];
	int fd;

	for (int i = 0; i < SIZE; i++)
		bytes[i] = byte_of(nth, i);
	snprintf(path, size, "/tmp/weft-number-%d-%d", getpid(), nth);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes, SIZE), SIZE);
	close(fd);
}

static void post_sem(void *sem)
{
	CHECK_EQ(weft_sem_post(sem), 0);
}

/* Past the page cache: weft_pread would find it there. */
static int64_t read_byte(int fd, char *byte, int i)
{
	weft_sem done = WEFT_SEM_INIT(0);
	weft_op op;
	int rc;

	weft_op_init(&op, weft_color_current(), post_sem, &done);
	rc = weft_op_pread(&op, fd, byte, 1, i);
	if (rc < 0)
		return rc;
	CHECK_EQ(weft_sem_wait(&done), 0);
	weft_sem_fini(&done);
	return op.result;
}

static void read_often(int fd, int nth)
{
	for (int i = 0; i < OFTEN; i++) {
		char byte = 0;

		CHECK_EQ(read_byte(fd, &byte, i), 1);
		CHECK_EQ(byte, byte_of(nth, i));
	}
}

static bool is_numbered(int fd)
{
	struct wf_fd *f = wf_fd_peek(fd);
	bool is;

	wf_lock_take(&f->lock);
	is = f->number != 0;
	wf_lock_give(&f->lock);
	return is;
}

static int lock_file(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole);
}

static int open_locked(const char *path)
{
	int fd = weft_open(path, O_RDWR, 0);

	CHECK(fd >= 0);
	CHECK_EQ(lock_file(fd), 0);
	return fd;
}

/* The lock goes with the last who has the open file. */
static void check_all_gave_it_up(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(lock_file(fd), 0);
	close(fd);
}

static void run_alone(int workers, weft_thread_fn *fn)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

static int open_three_ways(void *unused)
{
	char path[64];
	int opened, foreign, adopted;

	(void)unused;
	make_file(1, path, sizeof path);
	opened = weft_open(path, O_RDONLY, 0);
	foreign = open(path, O_RDONLY | O_CLOEXEC);
	adopted = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_EQ(weft_fd_adopt(adopted), 0);
	read_often(opened, 1);
	read_often(foreign, 1);
	read_often(adopted, 1);
	CHECK_EQ(is_numbered(opened), has_numbers());
	CHECK(!is_numbered(foreign));
	CHECK_EQ(is_numbered(adopted), has_numbers());
	CHECK_EQ(weft_close(opened), 0);
	CHECK_EQ(weft_close(foreign), 0);
	CHECK_EQ(weft_close(adopted), 0);
	unlink(path);
	return 0;
}

TEST(a_file_that_only_weft_closes_gets_a_number)
{
	run_alone(1, open_three_ways);
}

static int close_it(void *fd)
{
	return weft_fd_close(*(int *)fd);
}

enum { BY_CLOSE, AT_ONCE_HERE, BY_THE_POOL, WAYS };

static void close_by(int way, int fd)
{
	if (way == BY_CLOSE)
		CHECK_EQ(weft_close(fd), 0);
	else if (way == AT_ONCE_HERE)
		CHECK_EQ(weft_fd_close(fd), 0);
	else
		CHECK_EQ(weft_offload(close_it, &fd), 0);
	while (fcntl(fd, F_GETFD) >= 0)
		weft_yield(); /* the owner of the ring closes it */
}

static int close_from_all_over(void *unused)
{
	weft_color there = weft_color_new(), here = weft_color_new();
	char path[64];

	(void)unused;
	CHECK_EQ(weft_color_pin(here, 0), 0);
	CHECK_EQ(weft_color_pin(there, 1), 0);
	make_file(1, path, sizeof path);
	for (int way = 0; way < 2 * WAYS; way++) {
		int fd = open_locked(path);

		CHECK_EQ(weft_hop(here), 0);
		read_often(fd, 1);
		CHECK_EQ(is_numbered(fd), has_numbers());
		if (way >= WAYS)
			CHECK_EQ(weft_hop(there), 0);
		close_by(way % WAYS, fd);
		check_all_gave_it_up(path);
	}
	unlink(path);
	return 0;
}

TEST(a_number_is_given_up_before_its_file_is_closed)
{
	run_alone(2, close_from_all_over);
}

static int use_more_than_there_are_numbers(void *unused)
{
	char path[FILES][64];
	int fd[FILES];

	(void)unused;
	for (int i = 0; i < FILES; i++)
		make_file(i, path[i], sizeof path[i]);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < FILES; i++) {
			fd[i] = weft_open(path[i], O_RDONLY, 0);
			read_often(fd[i], i);
			CHECK_EQ(is_numbered(fd[i]), has_numbers() && i < WF_RING_FILES);
		}
		for (int i = 0; i < FILES; i++)
			read_often(fd[i], i);
		for (int i = 0; i < FILES; i++)
			CHECK_EQ(weft_close(fd[i]), 0);
	}
	for (int i = 0; i < FILES; i++)
		unlink(path[i]);
	return 0;
}

TEST(more_files_than_numbers_are_read_all_the_same)
{
	run_alone(1, use_more_than_there_are_numbers);
}

static int close_behind_the_back(void *unused)
{
	char path[2][64];
	int fd;

	(void)unused;
	for (int i = 0; i < 2; i++)
		make_file(i, path[i], sizeof path[i]);
	fd = open_locked(path[0]);
	read_often(fd, 0);
	close(fd);
	CHECK_EQ(weft_open(path[1], O_RDONLY, 0), fd);
	read_often(fd, 1);
	check_all_gave_it_up(path[0]);
	CHECK_EQ(weft_close(fd), 0);
	for (int i = 0; i < 2; i++)
		unlink(path[i]);
	return 0;
}

TEST(a_number_is_not_used_for_another_file_that_has_the_descriptor)
{
	run_alone(1, close_behind_the_back);
}

static char left_path[64];
static int left;

static int leave_it_open(void *unused)
{
	(void)unused;
	make_file(1, left_path, sizeof left_path);
	left = open_locked(left_path);
	read_often(left, 1);
	CHECK_EQ(is_numbered(left), has_numbers());
	return 0;
}

TEST(numbers_are_given_up_when_the_run_ends)
{
	run_alone(2, leave_it_open);
	close(left);
	check_all_gave_it_up(left_path);
	unlink(left_path);
}

/* Files come and go on two workers, and each finds what it has opened. */

static char race_path[4][64];

static uint64_t below(uint64_t *seed, uint64_t n)
{
	return test_random(seed) % n;
}

static int come_and_go(void *seed)
{
	uint64_t s = *(uint64_t *)seed;

	for (int i = 0; i < TEST_SIZE(300); i++) {
		int nth = (int)below(&s, 4), fd = weft_open(race_path[nth], O_RDONLY, 0);

		CHECK(fd >= 0);
		for (uint64_t n = below(&s, OFTEN + 8); n > 0; n--) {
			char byte = 0;
			int at = (int)below(&s, SIZE);

			CHECK_EQ(read_byte(fd, &byte, at), 1);
			CHECK_EQ(byte, byte_of(nth, at));
			if (below(&s, 8) == 0)
				CHECK_EQ(weft_hop(weft_color_new()), 0);
		}
		if (below(&s, 2) == 0)
			CHECK_EQ(weft_close(fd), 0);
		else
			CHECK_EQ(weft_fd_close(fd), 0);
	}
	return 0;
}

static int race(void *unused)
{
	enum { THREADS = 6 };
	weft_thread *t[THREADS];
	uint64_t seed[THREADS], s = TEST_SEED;

	(void)unused;
	for (int i = 0; i < THREADS; i++) {
		weft_thread_attr attr = { .on = true, .color = weft_color_new() };

		seed[i] = test_random(&s);
		CHECK_EQ(weft_thread_start(&t[i], &attr, come_and_go, &seed[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(weft_join(t[i], NULL), 0);
	return 0;
}

TEST(files_come_and_go_and_each_read_is_of_its_own)
{
	for (int i = 0; i < 4; i++)
		make_file(i, race_path[i], sizeof race_path[i]);
	run_alone(2, race);
	for (int i = 0; i < 4; i++)
		unlink(race_path[i]);
}

#ifdef WEFT_FAULTS
static int steps;

static int use_and_close(void *unused)
{
	char byte;
	int fd = weft_open(left_path, O_RDONLY, 0);

	(void)unused;
	fault_expected_at(fd, __FILE__, __LINE__);
	for (int i = 0; fd >= 0 && i < OFTEN; i++)
		fault_expected_at(read_byte(fd, &byte, i), __FILE__, __LINE__);
	if (fd >= 0)
		fault_expected_at(weft_close(fd), __FILE__, __LINE__);
	steps = 1;
	return 0;
}

TEST(whatever_fails_a_file_is_read_without_a_number)
{
	make_file(1, left_path, sizeof left_path);
	setenv("WEFT_STALL_MS", "-1", 1);
	fail_each_call(use_and_close, &steps, 1);
	unlink(left_path);
}
#endif

TEST_MAIN
