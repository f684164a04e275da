/* Primitive events that are cancelled, at every stage: what brings something that nobody gets is
 * undone, and memory of who waited is not touched any more. */
/* backends: both */
#include "tame/primitives.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness/faults.h"

/* How many events of this color run between the call and the cancel. */
enum { STAGES = 6 };

static void let_run(struct fn *f, int stage)
{
	for (int i = 0; i < stage && !has_next(f); i++)
		weft_yield();
}

THREAD_TEST(a_cancelled_sleep_never_comes, 1)
{
	struct fn f;

	fn_begin(&f);
	for (int stage = 0; stage < STAGES; stage++) {
		weft_sleep_ev(1000 * WEFT_SEC, of_none(&f, 1));
		weft_sleep_ev(0, of_none(&f, 2));
		let_run(&f, stage);
		cancel(&f);
		settle();
		CHECK(!has_next(&f));
	}
	fn_end(&f);
	return 0; /* weft_run ends: no timer is left */
}

THREAD_TEST(no_byte_is_read_that_nobody_gets, 1)
{
	struct fn f;
	int fd[2];

	fn_begin(&f);
	for (int stage = 0; stage < 4 * STAGES; stage++) {
		char *gone = malloc(8), buf[8];
		ssize_t n = -1;
		bool came;

		if (stage % 2)
			make_pipe(fd);
		else
			socket_pair(fd);
		if (stage % 4 < 2)
			weft_read_ev(fd[0], gone, 8, of_size(&f, 1, &n));
		else if (stage % 2)
			weft_read_exactly_ev(fd[0], gone, 5, of_size(&f, 1, &n));
		else
			weft_recv_ev(fd[0], gone, 8, 0, of_size(&f, 1, &n));
		let_run(&f, stage / 8);
		CHECK_EQ(write(fd[1], "hello", 5), 5);
		let_run(&f, stage / 4);
		came = has_next(&f);
		cancel(&f);
		free(gone);
		settle();
		CHECK_EQ(n, came ? 5 : -1);
		CHECK_EQ(weft_write(fd[1], "x", 1), 1);
		CHECK_EQ(weft_read(fd[0], buf, 8), came ? 1 : 6);
		CHECK_EQ(weft_close(fd[0]), 0);
		CHECK_EQ(weft_close(fd[1]), 0);
	}
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_cancelled_write_does_not_look_at_its_memory_again, 1)
{
	struct fn f;

	fn_begin(&f);
	for (int stage = 0; stage < STAGES; stage++) {
		size_t len = 1 << 20;
		char *gone = malloc(len), buf[4096];
		ssize_t n = -1, m;
		int fd[2];

		memset(gone, 'x', len);
		socket_pair(fd);
		if (stage % 2)
			weft_write_all_ev(fd[1], gone, len, of_size(&f, 1, &n));
		else
			for (int i = 0; i < 20 && !(i > 0 && !has_next(&f)); i++) {
				if (i > 0)
					CHECK_EQ(next(&f), 1);
				weft_write_ev(fd[1], gone, len, of_size(&f, 1, &n));
			}
		let_run(&f, stage);
		cancel(&f);
		memset(gone, 'y', len);
		free(gone);
		CHECK_EQ(weft_read(fd[0], buf, sizeof buf), sizeof buf);
		settle();
		CHECK_EQ(weft_close(fd[1]), 0);
		while ((m = weft_read(fd[0], buf, sizeof buf)) > 0)
			CHECK(memchr(buf, 'y', (size_t)m) == NULL);
		CHECK_EQ(weft_close(fd[0]), 0);
	}
	fn_end(&f);
	return 0;
}

/* Files are not in the page cache where the kernel was told so; else it is answered at once. */
THREAD_TEST(a_cancelled_read_of_a_file_does_not_touch_its_memory, 1)
{
	char path[64];
	struct fn f;
	int fd;

	fn_begin(&f);
	snprintf(path, sizeof path, "/tmp/weft-cancel-%d", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(ftruncate(fd, 1 << 20), 0);
	for (int stage = 0; stage < 10 * STAGES; stage++) {
		char *gone = malloc(100000);
		ssize_t n = -1;

		CHECK_EQ(fdatasync(fd), 0);
		CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
		weft_pread_ev(fd, gone, 100000, stage * 4096, of_size(&f, 1, &n));
		let_run(&f, stage / 10);
		cancel(&f);
		free(gone);
		if (stage % 2)
			settle();
	}
	CHECK_EQ(weft_close(fd), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(no_connection_is_lost, 1)
{
	int ls = listener(), before = open_descriptors();
	struct sockaddr_in addr = address_of(ls);
	struct fn f;

	fn_begin(&f);
	for (int stage = 0; stage < 2 * STAGES; stage++) {
		struct sockaddr_storage *gone = malloc(sizeof *gone);
		int fd = -1, client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		weft_accept_ev(ls, gone, of_int(&f, 1, &fd));
		if (stage % 2)
			weft_yield();
		CHECK_EQ(connect(client, (struct sockaddr *)&addr, sizeof addr), 0);
		let_run(&f, stage / 2);
		cancel(&f);
		free(gone);
		settle();
		if (fd < 0)
			fd = weft_accept(ls, NULL);
		CHECK(fd >= 0);
		CHECK_EQ(weft_close(fd), 0);
		CHECK_EQ(weft_close(client), 0);
	}
	CHECK_EQ(open_descriptors(), before);
	CHECK_EQ(weft_close(ls), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(no_descriptor_is_left_over, 1)
{
	int ls = listener(), before = open_descriptors();
	struct sockaddr_in addr = address_of(ls);
	struct fn f;

	fn_begin(&f);
	for (int stage = 0; stage < 2 * STAGES; stage++) {
		int fd = -1, rc = -1, client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		weft_open_ev("/proc/self/status", stage % 2 ? O_RDONLY : O_RDONLY | O_CREAT, 0600,
			     of_int(&f, 1, &fd));
		weft_connect_ev(client, (struct sockaddr *)&addr, sizeof addr, of_int(&f, 2, &rc));
		let_run(&f, stage / 2);
		cancel(&f);
		settle();
		if (fd >= 0)
			CHECK_EQ(weft_close(fd), 0);
		CHECK_EQ(weft_close(client), 0);
	}
	YIELD_UNTIL(open_descriptors() == before);
	CHECK_EQ(weft_close(ls), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_signal_that_nobody_wants_any_more_is_the_next_ones, 1)
{
	struct fn f, g;

	fn_begin(&f);
	fn_begin(&g);
	for (int stage = 0; stage < 2 * STAGES; stage++) {
		int a = 0, b = 0;

		weft_signal_ev(SIGUSR2, of_int(&f, 1, &a));
		CHECK_EQ(raise(SIGUSR2), 0);
		let_run(&f, stage);
		cancel(&f);
		weft_signal_ev(SIGUSR2, of_int(&g, 2, &b));
		if (a != 0)
			CHECK_EQ(raise(SIGUSR2), 0);
		CHECK_EQ(next(&g), 2);
		CHECK_EQ(b, SIGUSR2);
	}
	fn_end(&g);
	fn_end(&f);
	return 0;
}

static atomic_int seen;

static void see(void *unused)
{
	(void)unused;
	seen = 1;
}

/* Signals are told of in the order of their numbers: when the second was seen in another color
 * the first has been given to us, who have not let anything run in ours. */
THREAD_TEST(a_signal_that_is_on_its_way_when_it_is_cancelled_is_the_next_ones, 2)
{
	weft_color other = weft_color_new();
	struct fn f;

	CHECK(SIGUSR1 < SIGUSR2);
	CHECK_EQ(weft_on_signal(SIGUSR2, other, see, NULL), 0);
	fn_begin(&f);
	for (int i = 0; i < 10; i++) {
		int a = 0, b = 0;

		seen = 0;
		weft_signal_ev(SIGUSR1, of_int(&f, 1, &a));
		CHECK_EQ(raise(SIGUSR1), 0);
		CHECK_EQ(raise(SIGUSR2), 0);
		WAIT_FOR(seen);
		cancel(&f);
		CHECK_EQ(a, 0);
		weft_signal_ev(SIGUSR1, of_int(&f, 2, &b));
		CHECK_EQ(next(&f), 2);
		CHECK_EQ(b, SIGUSR1);
	}
	fn_end(&f);
	CHECK_EQ(weft_hop(other), 0); /* its last call has returned there */
	CHECK_EQ(weft_off_signal(SIGUSR2), 0);
	return 0;
}

/* How many descriptors are of that file. */
static int opened(const char *path)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir)) != NULL) {
		char to[64] = "";

		if (readlinkat(dirfd(dir), entry->d_name, to, sizeof to - 1) > 0)
			n += strcmp(to, path) == 0;
	}
	closedir(dir);
	return n;
}

/* It is made by others while nothing runs in our color. */
THREAD_TEST(a_descriptor_that_is_on_its_way_when_it_is_cancelled_is_closed, 2)
{
	char path[64];
	struct fn f;

	fn_begin(&f);
	snprintf(path, sizeof path, "/tmp/weft-opened-%d", getpid());
	for (int i = 0; i < 10; i++) {
		int fd = -1;

		weft_open_ev(path, O_RDWR | O_CREAT, 0600, of_int(&f, 1, &fd));
		WAIT_FOR(opened(path) > 0);
		cancel(&f);
		CHECK_EQ(fd, -1);
		YIELD_UNTIL(opened(path) == 0);
	}
	CHECK_EQ(unlink(path), 0);
	fn_end(&f);
	return 0;
}

static char *const argv_cat[] = { (char *)(intptr_t) "cat", NULL };

THREAD_TEST(a_child_that_nobody_waits_for_lives_on_and_can_be_waited_for, 1)
{
	struct fn f;

	fn_begin(&f);
	for (int stage = 0; stage < STAGES; stage++) {
		int fd[2], fds[3] = { -1, -1, -1 }, rc = -1, status = -1;
		pid_t pid = -1;

		make_pipe(fd);
		fds[0] = fd[0];
		weft_spawn_ev("cat", argv_cat, NULL, fds, &pid, of_two(&f, 1, &rc, &status));
		CHECK(pid > 0);
		let_run(&f, stage);
		cancel(&f);
		settle();
		CHECK_EQ(rc, -1);
		close(fd[0]);
		close(fd[1]);
		BLOCK (&f)
			weft_child_ev(pid, in_two(&f, &rc, &status));
		CHECK_EQ(rc, 0);
		CHECK_EQ(status, 0);
	}
	fn_end(&f);
	return 0;
}

static atomic_int calls, calls_ended;

static int blocks(void *fd)
{
	char byte;

	calls++;
	CHECK_EQ(read((int)(intptr_t)fd, &byte, 1), 1);
	calls_ended++;
	return 0;
}

THREAD_TEST(a_call_that_has_begun_comes_to_its_end, 1)
{
	struct fn f;
	int fd[2], rc = -1;

	fn_begin(&f);
	make_pipe(fd);
	weft_offload_ev(blocks, (void *)(intptr_t)fd[0], of_int(&f, 1, &rc));
	YIELD_UNTIL(calls == 1);
	cancel(&f);
	settle();
	CHECK_EQ(calls_ended, 0);
	CHECK_EQ(write(fd[1], "x", 1), 1);
	YIELD_UNTIL(calls_ended == 1);
	CHECK_EQ(rc, -1);
	CHECK_EQ(close(fd[0]), 0);
	CHECK_EQ(close(fd[1]), 0);
	fn_end(&f);
	return 0;
}

/* Asks a server that never answers, so that only the cancel can end what it asks for; but the
 * file of hosts has an answer for `localhost`. */
static int ask_silent_server(void)
{
	char server[32], hosts[] = "/tmp/weft-hosts-XXXXXX";
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), file = mkostemp(hosts, O_CLOEXEC);
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

#ifndef WEFT_HAVE_CARES
	SKIP("built without c-ares");
#endif
	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof addr), 0);
	CHECK_EQ(write(file, "127.0.0.1 localhost\n", 20), 20);
	close(file);
	snprintf(server, sizeof server, "127.0.0.1:%d", ntohs(address_of(fd).sin_port));
	CHECK_EQ(weft_lookup_servers(server, hosts), 0);
	return fd;
}

static uint64_t under_way(void)
{
	weft_stats_all all;

	CHECK(weft_stats(&all, NULL, 0) >= 0);
	return all.ops;
}

THREAD_TEST_WITHOUT_STAND_INS(a_cancelled_lookup_leaves_nothing, 1)
{
	static const char *const names[] = { "nobody.example", "localhost" };
	int server = ask_silent_server(), descriptors = open_descriptors();
	uint64_t before = under_way();
	struct fn f;

	fn_begin(&f);
	for (int stage = 0; stage < 4 * STAGES; stage++) {
		struct sockaddr_storage *all = NULL, one;
		struct in_addr ip = { 1 };
		int rc = -1, rc2 = -1, came, came2;
		bool came3;

		weft_lookup_all_ev(names[stage % 2], 1, AF_INET, 0, of_socks(&f, 1, &rc, &all));
		weft_lookup_ev(names[stage % 2], 1, AF_INET, 0, of_sock(&f, 2, &rc2, &one));
		weft_resolve_ev(names[stage % 2], of_ip(&f, 3, &ip));
		let_run(&f, stage / 2);
		came = rc;
		came2 = rc2;
		came3 = ip.s_addr != 1;
		CHECK(stage % 2 || !has_next(&f));
		cancel(&f);
		settle();
		CHECK(!has_next(&f));
		CHECK_EQ(rc, came);
		CHECK_EQ(rc2, came2);
		CHECK_EQ(ip.s_addr != 1, came3);
		CHECK_EQ(all != NULL, came > 0);
		free(all);
		/* Long before the lookup would give up by itself. */
		for (int i = 0; i < 100 && under_way() != before; i++)
			settle();
		CHECK_EQ(under_way(), before);
	}
	YIELD_UNTIL(open_descriptors() == descriptors);
	close(server);
	fn_end(&f);
	return 0;
}

/* As adapters give where there is no memory for them. */
THREAD_TEST_WITHOUT_STAND_INS(what_nobody_waits_for_from_the_beginning_is_not_done, 1)
{
	int fd[2], ls = listener(), before, x = 3;
	weft_channel *ch = weft_channel_new(sizeof(int), 1);
	static weft_mutex mutex = WEFT_MUTEX_INIT;
	static weft_tame_lock lock = WEFT_TAME_LOCK_INIT;
	weft_thread *t = start(nothing_to_do, NULL);
	char buf[8];

	weft_signal_ev(SIGUSR1, weft_tame_nobody());
	weft_lookup_all_ev("localhost", 1, AF_INET, 0, weft_tame_nobody());
	weft_lookup_all_ev("127.0.0.1", 1, AF_INET, 0, weft_tame_nobody());
	socket_pair(fd);
	settle();
	before = open_descriptors();
	CHECK_EQ(weft_write(fd[1], "hello", 5), 5);
	weft_sleep_ev(1000 * WEFT_SEC, weft_tame_nobody());
	weft_read_ev(fd[0], buf, sizeof buf, weft_tame_nobody());
	weft_fd_ev(fd[1], POLLIN, weft_tame_nobody());
	weft_accept_ev(ls, NULL, weft_tame_nobody());
	weft_open_ev("/proc/self/exe", O_RDONLY, 0, weft_tame_nobody());
	CHECK_EQ(weft_channel_try_send(ch, &x), 0);
	weft_channel_receive_ev(ch, &x, weft_tame_nobody());
	weft_channel_send_ev(ch, &x, weft_tame_nobody());
	weft_mutex_lock_ev(&mutex, weft_tame_nobody());
	weft_lock_ev(&lock, weft_tame_nobody());
	weft_join_ev(t, weft_tame_nobody());
	weft_scope_ev(NULL, NULL, weft_tame_nobody());
	settle();
	CHECK_EQ(weft_read(fd[0], buf, sizeof buf), 5);
	CHECK_EQ(weft_channel_try_receive(ch, &x), 0);
	CHECK_EQ(weft_channel_free(ch), 0);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	CHECK_EQ(join(t), 0);
	YIELD_UNTIL(open_descriptors() == before);
	CHECK_EQ(weft_close(fd[0]), 0);
	CHECK_EQ(weft_close(fd[1]), 0);
	CHECK_EQ(weft_close(ls), 0);
	return 0;
}

/* Ended by the runtime where they stand: of all these only the locks that were free are told of. */
static struct {
	int locked, waits, ready, accepted, signal, joined, status;
	ssize_t n, m;
} told = { -1, -1, -1, -1, -1, -1, -1, -1, -1 };

static int sleep_long(void *unused)
{
	(void)unused;
	return weft_sleep(1000 * WEFT_SEC);
}

static int leave_much_under_way(void *unused)
{
	static char buf[100000];
	int fd[2], ls = listener();
	static struct fn f;
	static weft_mutex mutex = WEFT_MUTEX_INIT;
	static weft_tame_lock lock = WEFT_TAME_LOCK_INIT;

	(void)unused;
	fn_begin(&f);
	socket_pair(fd);
	weft_sleep_ev(1000 * WEFT_SEC, of_none(&f, 1));
	weft_read_ev(fd[0], buf, sizeof buf, of_size(&f, 1, &told.n));
	weft_recv_ev(fd[1], buf, sizeof buf, MSG_WAITALL, of_size(&f, 1, &told.m));
	weft_fd_ev(fd[0], POLLIN, of_int(&f, 1, &told.ready));
	weft_accept_ev(ls, NULL, of_int(&f, 1, &told.accepted));
	weft_signal_ev(SIGUSR1, of_int(&f, 1, &told.signal));
	weft_mutex_lock_ev(&mutex, of_int(&f, 2, &told.locked));
	weft_mutex_lock_ev(&mutex, of_int(&f, 1, &told.waits));
	weft_lock_ev(&lock, of_none(&f, 3));
	weft_lock_ev(&lock, of_none(&f, 1));
	weft_join_ev(start(sleep_long, NULL), of_two(&f, 1, &told.joined, &told.status));
	settle();
	CHECK_EQ(next(&f), 2);
	CHECK_EQ(next(&f), 3);
	CHECK(!has_next(&f));
	CHECK_EQ(weft_stop(), 0);
	close(ls);
	close(fd[0]);
	close(fd[1]);
	return 0;
}

TEST(a_run_that_is_stopped_forgets_what_is_under_way)
{
	struct sigaction action;

	run_on(2, leave_much_under_way, NULL);
	run_on(2, nothing_to_do, NULL);
	CHECK_EQ(told.locked, 0);
	CHECK_EQ(told.waits, -1);
	CHECK_EQ(told.ready, -1);
	CHECK_EQ(told.accepted, -1);
	CHECK_EQ(told.signal, -1);
	CHECK_EQ(told.joined, -1);
	CHECK_EQ(told.status, -1);
	CHECK_EQ(told.n, -1);
	CHECK_EQ(told.m, -1);
	CHECK_EQ(sigaction(SIGUSR1, NULL, &action), 0);
	CHECK(action.sa_handler == SIG_DFL);
}

TEST_MAIN
