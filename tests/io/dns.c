/* dns.c - tests of name lookup, against a name server of our own on loopback. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/weft.h>

#include "base/fault.h"
#include "harness/test.h"

#ifdef WEFT_HAVE_CARES

/* The server. The first label of a name says what it does:
 *	four    one IPv4 address         six     one IPv6 address
 *	both    one of each              nx      no such name
 *	silent  no answer                broken  server failure
 *	long    40 addresses: too long for UDP, comes by TCP
 *	n<K>    the IPv4 address 10.x.y.z of number K
 */
enum { TYPE_A = 1, TYPE_AAAA = 28, NXDOMAIN = 3, SERVFAIL = 2, TRUNCATED = 2 };

static struct {
	int udp, tcp, stop[2];
	pthread_t thread;
	_Atomic int asked;
	sem_t silent; /* posted for each question that gets no answer */
} server;

struct packet {
	unsigned char bytes[2048];
	size_t len;
};

static void put(struct packet *p, const void *bytes, size_t len)
{
	CHECK(p->len + len <= sizeof p->bytes);
	memcpy(p->bytes + p->len, bytes, len);
	p->len += len;
}

static void put_address(struct packet *p, int type, const void *addr)
{
	/* The name is that of the question, 12 bytes in; class IN, 60 seconds. */
	unsigned char head[12] = { 0xc0, 12, 0, (unsigned char)type,    0, 1, 0, 0,
				   0,    60, 0, type == TYPE_A ? 4 : 16 };

	put(p, head, sizeof head);
	put(p, addr, head[11]);
	p->bytes[7]++;
}

static void put_numbered(struct packet *p, int k)
{
	unsigned char addr[4] = { 10, (unsigned char)(k >> 16), (unsigned char)(k >> 8),
				  (unsigned char)k };

	put_address(p, TYPE_A, addr);
}

static bool is(const char *label, const char *word)
{
	return strcmp(label, word) == 0;
}

static void put_addresses(struct packet *p, const char *label, int type, bool tcp)
{
	static const unsigned char v4[4] = { 192, 0, 2, 1 };
	static const unsigned char v6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 6 };

	if (is(label, "nx"))
		p->bytes[3] |= NXDOMAIN;
	else if (is(label, "broken"))
		p->bytes[3] |= SERVFAIL;
	else if (is(label, "long") && !tcp)
		p->bytes[2] |= TRUNCATED;
	else if (is(label, "long") && type == TYPE_A)
		for (int k = 0; k < 40; k++)
			put_numbered(p, k);
	else if (label[0] == 'n' && type == TYPE_A)
		put_numbered(p, atoi(label + 1));
	else if (type == TYPE_A && (is(label, "four") || is(label, "both")))
		put_address(p, TYPE_A, v4);
	else if (type == TYPE_AAAA && (is(label, "six") || is(label, "both")))
		put_address(p, TYPE_AAAA, v6);
}

/* Turns a question into its answer; false: say nothing. */
static bool make_answer(struct packet *p, bool tcp)
{
	size_t end = 12;
	char label[64];
	int type;

	server.asked++;
	if (p->len < 17 || p->bytes[12] >= sizeof label)
		return false;
	memcpy(label, p->bytes + 13, p->bytes[12]);
	label[p->bytes[12]] = '\0';
	while (end < p->len && p->bytes[end] != 0)
		end += p->bytes[end] + 1u;
	CHECK(end + 5 <= p->len);
	type = p->bytes[end + 2];
	p->len = end + 5;
	p->bytes[2] |= 0x84; /* an answer, with authority */
	p->bytes[3] = 0x80;
	memset(p->bytes + 6, 0, 6);
	if (is(label, "silent")) {
		sem_post(&server.silent);
		return false;
	}
	put_addresses(p, label, type, tcp);
	return true;
}

static void serve_udp(void)
{
	struct sockaddr_storage from;
	socklen_t from_len = sizeof from;
	struct packet p;
	ssize_t n = recvfrom(server.udp, p.bytes, sizeof p.bytes, 0, (void *)&from, &from_len);

	if (n < 0)
		return;
	p.len = (size_t)n;
	if (make_answer(&p, false))
		sendto(server.udp, p.bytes, p.len, 0, (void *)&from, from_len);
}

static void read_whole(int fd, void *to, size_t len)
{
	CHECK_EQ(recv(fd, to, len, MSG_WAITALL), len);
}

static void serve_tcp(int fd)
{
	unsigned char len[2];
	struct packet p;

	/* As many questions as come on this connection. */
	while (recv(fd, len, 2, MSG_WAITALL) == 2) {
		p.len = (size_t)len[0] << 8 | len[1];
		CHECK(p.len <= sizeof p.bytes);
		read_whole(fd, p.bytes, p.len);
		if (!make_answer(&p, true))
			continue;
		len[0] = (unsigned char)(p.len >> 8);
		len[1] = (unsigned char)p.len;
		send(fd, len, 2, MSG_NOSIGNAL | MSG_MORE);
		send(fd, p.bytes, p.len, MSG_NOSIGNAL);
	}
	close(fd);
}

static void *serve(void *unused)
{
	struct pollfd fds[3] = { { server.stop[0], POLLIN, 0 },
				 { server.udp, POLLIN, 0 },
				 { server.tcp, POLLIN, 0 } };

	(void)unused;
	while (poll(fds, 3, -1) >= 0 && fds[0].revents == 0) {
		if (fds[1].revents)
			serve_udp();
		if (fds[2].revents)
			serve_tcp(accept(server.tcp, NULL, NULL));
	}
	return NULL;
}

static char hosts_path[64];

static void write_hosts(const char *text)
{
	int fd = open(hosts_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A port for TCP that another process may have for UDP: then the next is tried. */
static bool bind_both(struct sockaddr_in *addr)
{
	socklen_t len = sizeof *addr;

	*addr = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	server.tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(bind(server.tcp, (void *)addr, len), 0);
	CHECK_EQ(listen(server.tcp, 16), 0);
	CHECK_EQ(getsockname(server.tcp, (void *)addr, &len), 0);
	server.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(server.udp, (void *)addr, len) == 0)
		return true;
	CHECK_EQ(errno, EADDRINUSE);
	close(server.tcp);
	close(server.udp);
	return false;
}

static void server_start(void)
{
	struct sockaddr_in addr;
	char text[64];

	sem_init(&server.silent, 0, 0);
	CHECK_EQ(pipe2(server.stop, O_CLOEXEC), 0);
	while (!bind_both(&addr))
		;
	CHECK_EQ(pthread_create(&server.thread, NULL, serve, NULL), 0);

	snprintf(hosts_path, sizeof hosts_path, "/tmp/weft-test-hosts-%d", (int)getpid());
	write_hosts("# a comment\n"
		    "127.0.0.9 Here here.alias # four\n"
		    "not-an-address four\n"
		    "::9\there\n"
		    "\n"
		    "10.9.9.9");
	snprintf(text, sizeof text, "127.0.0.1:%d", ntohs(addr.sin_port));
	CHECK_EQ(weft_lookup_servers(text, hosts_path), 0);
}

static void server_end(void)
{
	CHECK_EQ(write(server.stop[1], "", 1), 1);
	pthread_join(server.thread, NULL);
	close(server.udp);
	close(server.tcp);
	close(server.stop[0]);
	close(server.stop[1]);
	unlink(hosts_path);
	CHECK_EQ(weft_lookup_servers(NULL, NULL), 0);
}

/* Lookups */

enum { COLOR = 11, MANY = 500 };
static weft_lookup ups[MANY];
static _Atomic int done;

static void run(int (*fn)(void *))
{
	weft_options opt = { .workers = 2 };

	server_start();
	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
	server_end();
}

static void on_done(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_current(), COLOR);
	done++;
}

static weft_lookup *up(int i)
{
	weft_lookup_init(&ups[i], COLOR, on_done, NULL);
	return &ups[i];
}

/* The addresses of a lookup as text, in the order given. */
static const char *found(int i)
{
	static char text[4096];
	char one[INET6_ADDRSTRLEN];

	text[0] = '\0';
	for (int k = 0; k < ups[i].count; k++) {
		struct sockaddr_storage *a = &ups[i].addrs[k];
		struct sockaddr_in *in = (void *)a;
		struct sockaddr_in6 *in6 = (void *)a;
		bool v4 = a->ss_family == AF_INET;

		inet_ntop(a->ss_family, v4 ? (void *)&in->sin_addr : (void *)&in6->sin6_addr, one,
			  sizeof one);
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s/%d", k ? " " : "",
			 one, ntohs(v4 ? in->sin_port : in6->sin6_port));
	}
	weft_lookup_fini(&ups[i]);
	return text;
}

static const char *name;
static int family;

static void on_done_in_main(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_current(), WEFT_MAIN);
	done++;
}

static int look_up(void *unused)
{
	(void)unused;
	weft_lookup_init(&ups[0], WEFT_MAIN, on_done_in_main, NULL);
	CHECK_EQ(weft_lookup_start(&ups[0], name, 80, family, 0), 0);
	CHECK_EQ(done, 0);
	CHECK_EQ(weft_lookup_start(&ups[0], name, 80, family, 0), -EALREADY);
	return 0;
}

static int result_of(const char *host, int wanted)
{
	name = host;
	family = wanted;
	done = 0;
	run(look_up);
	CHECK_EQ(done, 1);
	return ups[0].result;
}

TEST(a_name_gives_its_ipv4_address)
{
	CHECK_EQ(result_of("four.test", AF_INET), 0);
	CHECK_STR(found(0), "192.0.2.1/80");
	CHECK_EQ(result_of("four.test", AF_UNSPEC), 0);
	CHECK_STR(found(0), "192.0.2.1/80");
}

TEST(a_name_gives_its_ipv6_address)
{
	CHECK_EQ(result_of("six.test", AF_INET6), 0);
	CHECK_STR(found(0), "2001:db8::6/80");
	CHECK_EQ(result_of("six.test", AF_UNSPEC), 0);
	CHECK_STR(found(0), "2001:db8::6/80");
}

TEST(a_name_may_have_addresses_of_both_families)
{
	CHECK_EQ(result_of("both.test", AF_UNSPEC), 0);
	CHECK_EQ(ups[0].count, 2);
	weft_lookup_fini(&ups[0]);
	CHECK_EQ(result_of("both.test", AF_INET6), 0);
	CHECK_STR(found(0), "2001:db8::6/80");
}

TEST(a_name_that_does_not_exist_says_so)
{
	CHECK_EQ(result_of("nx.test", AF_UNSPEC), -ENOENT);
	CHECK_EQ(ups[0].count, 0);
	CHECK_EQ(result_of("four.test", AF_INET6), -ENOENT);
	CHECK_EQ(result_of("a..b", AF_UNSPEC), -ENOENT);
}

TEST(a_server_that_fails_is_worth_another_try_later)
{
	CHECK_EQ(result_of("broken.test", AF_INET), -EAGAIN);
}

TEST(an_answer_that_is_too_long_comes_by_tcp)
{
	CHECK_EQ(result_of("long.test", AF_INET), 0);
	CHECK_EQ(ups[0].count, 40);
	weft_lookup_fini(&ups[0]);
}

TEST(numeric_addresses_are_answered_as_events_without_a_server)
{
	CHECK_EQ(result_of("192.0.2.77", AF_UNSPEC), 0);
	CHECK_STR(found(0), "192.0.2.77/80");
	CHECK_EQ(result_of("::1", AF_INET6), 0);
	CHECK_STR(found(0), "::1/80");
	CHECK_EQ(result_of("fe80::1%lo", AF_UNSPEC), 0);
	CHECK(((struct sockaddr_in6 *)ups[0].addrs)->sin6_scope_id > 0);
	CHECK_STR(found(0), "fe80::1/80");
	CHECK_EQ(result_of("::1", AF_INET), -ENOENT);
	CHECK_EQ(server.asked, 0);
}

TEST(the_hosts_file_is_asked_first)
{
	CHECK_EQ(result_of("here", AF_UNSPEC), 0);
	CHECK_STR(found(0), "127.0.0.9/80 ::9/80");
	CHECK_EQ(result_of("HERE.ALIAS.", AF_INET), 0);
	CHECK_STR(found(0), "127.0.0.9/80");
	CHECK_EQ(server.asked, 0);
	/* A comment, or a line without an address, names nothing. */
	CHECK_EQ(result_of("four", AF_INET), 0);
	CHECK_STR(found(0), "192.0.2.1/80");
	CHECK(server.asked > 0);
}

TEST(localhost_is_never_asked_for)
{
	CHECK_EQ(result_of("localhost", AF_INET), 0);
	CHECK_STR(found(0), "127.0.0.1/80");
	CHECK_EQ(result_of("my.localhost.", AF_UNSPEC), 0);
	CHECK_STR(found(0), "127.0.0.1/80 ::1/80");
	CHECK_EQ(server.asked, 0);
}

static void ask_again(void *unused)
{
	(void)unused;
	CHECK_EQ(ups[0].result, 0);
	CHECK_STR(found(0), "127.0.0.9/80");
	write_hosts("127.0.0.10 here\n");
	CHECK_EQ(weft_lookup_start(up(1), "here", 80, AF_INET, 0), 0);
}

static int ask_twice(void *unused)
{
	(void)unused;
	weft_lookup_init(&ups[0], COLOR, ask_again, NULL);
	return weft_lookup_start(&ups[0], "here", 80, AF_INET, 0);
}

TEST(a_changed_hosts_file_is_read_again)
{
	run(ask_twice);
	CHECK_STR(found(1), "127.0.0.10/80");
}

static int ask_silent(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_lookup_start(up(0), "silent.test", 80, AF_UNSPEC, 30), 0);
	CHECK_EQ(weft_lookup_start(up(1), "four.test", 80, AF_UNSPEC, 0), 0);
	CHECK_EQ(weft_lookup_start(up(2), "silent.test", 80, AF_INET, 1), 0);
	return 0;
}

TEST(a_lookup_without_answer_ends_when_its_time_is_up)
{
	run(ask_silent);
	CHECK_EQ(done, 3);
	CHECK_EQ(ups[0].result, -ETIMEDOUT);
	CHECK_EQ(ups[1].result, 0);
	CHECK_EQ(ups[2].result, -ETIMEDOUT);
	CHECK_STR(found(1), "192.0.2.1/80");
}

static void cancel_first(void *unused)
{
	(void)unused;
	CHECK_EQ(ups[1].result, 0);
	CHECK_EQ(weft_lookup_cancel(&ups[1]), -EALREADY);
	CHECK_EQ(weft_lookup_cancel(&ups[0]), 0);
	CHECK_EQ(weft_lookup_cancel(&ups[0]), -EALREADY);
	CHECK_EQ(weft_lookup_start(up(3), "n7.test", 80, AF_INET, 0), 0);
}

static int ask_and_cancel(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_lookup_cancel(up(0)), -ENOENT);
	CHECK_EQ(weft_lookup_start(up(0), "silent.test", 80, AF_INET, 0), 0);
	sem_wait(&server.silent);
	weft_lookup_init(&ups[1], COLOR, cancel_first, NULL);
	CHECK_EQ(weft_lookup_start(&ups[1], "four.test", 80, AF_INET, 0), 0);
	CHECK_EQ(weft_lookup_start(up(2), "nx.test", 80, AF_INET, 0), 0);
	CHECK_EQ(weft_lookup_cancel(&ups[2]), 0);
	return 0;
}

TEST(a_cancelled_lookup_ends_at_once_and_disturbs_no_other)
{
	run(ask_and_cancel);
	CHECK_EQ(ups[0].result, -ECANCELED);
	CHECK_EQ(ups[2].result, -ECANCELED);
	CHECK_STR(found(1), "192.0.2.1/80");
	CHECK_EQ(ups[3].result, 0);
	CHECK_STR(found(3), "10.0.0.7/80");
	CHECK_EQ(done, 3);
}

static int ask_many(void *unused)
{
	char text[32];

	(void)unused;
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "n%d.test", i);
		CHECK_EQ(weft_lookup_start(up(i), text, 80, AF_INET, 0), 0);
	}
	return 0;
}

TEST(many_lookups_at_once_each_get_their_own_answer)
{
	char text[32];

	run(ask_many);
	CHECK_EQ(done, MANY);
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(ups[i].result, 0);
		snprintf(text, sizeof text, "10.0.%d.%d/80", i >> 8, i & 255);
		CHECK_STR(found(i), text);
	}
}

static pthread_t foreign;
static uint64_t seed;

static void *ask_and_cancel_many(void *unused)
{
	char text[32];

	(void)unused;
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "n%d.test", i);
		CHECK_EQ(weft_lookup_start(up(i), text, 80, AF_INET, 0), 0);
		if (test_random(&seed) % 2) {
			int r = weft_lookup_cancel(&ups[test_random(&seed) % (uint64_t)(i + 1)]);

			CHECK(r == 0 || r == -EALREADY);
		}
	}
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static int start_foreign(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	seed = TEST_SEED;
	return -pthread_create(&foreign, NULL, ask_and_cancel_many, NULL);
}

TEST(lookups_and_cancels_from_a_foreign_thread_end_exactly_once)
{
	(void)TEST_SEED;
	run(start_foreign);
	pthread_join(foreign, NULL);
	CHECK_EQ(done, MANY);
	for (int i = 0; i < MANY; i++) {
		CHECK(ups[i].result == 0 || ups[i].result == -ECANCELED);
		CHECK_EQ(ups[i].count, ups[i].result == 0);
		weft_lookup_fini(&ups[i]);
	}
}

/* Lookups that another thread cancels as soon as they begin. */
static _Atomic int racing = -1;
static weft_lookup *racers; /* each is used once: a cancel may come late */

static void *cancel_what_begins(void *unused)
{
	(void)unused;
	for (int i = racing; i < TEST_SIZE(20000); i = racing) {
		if (i >= 0)
			(void)weft_lookup_cancel(&racers[i]);
	}
	return NULL;
}

static void look_again(void *unused)
{
	weft_lookup *l;

	(void)unused;
	if (racing >= 0)
		weft_lookup_fini(&racers[racing]);
	if (racing + 1 == TEST_SIZE(20000)) {
		racing++;
		return;
	}
	l = &racers[racing + 1];
	weft_lookup_init(l, COLOR, look_again, NULL);
	racing++;
	CHECK_EQ(weft_lookup_start(l, "127.0.0.1", 80, AF_INET, 0), 0);
}

static int race_with_the_beginning(void *unused)
{
	(void)unused;
	pthread_create(&foreign, NULL, cancel_what_begins, NULL);
	return weft_post(COLOR, look_again, NULL);
}

TEST(a_cancel_that_races_with_the_beginning_is_exact)
{
	racers = calloc((size_t)TEST_SIZE(20000), sizeof *racers);
	run(race_with_the_beginning);
	pthread_join(foreign, NULL);
	CHECK_EQ(racing, TEST_SIZE(20000));
	free(racers);
}

static int ask_by_fifo(void *unused)
{
	(void)unused;
	CHECK_EQ(unlink(hosts_path), 0);
	CHECK_EQ(mkfifo(hosts_path, 0600), 0);
	return weft_lookup_start(up(0), "localhost", 80, AF_INET, 0);
}

TEST(a_hosts_file_that_is_a_fifo_holds_up_nobody)
{
	run(ask_by_fifo);
	CHECK_STR(found(0), "127.0.0.1/80");
}

static int stop_while_asking(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_lookup_start(up(i), "silent.test", 80, AF_UNSPEC, i * 1000), 0);
	for (int i = 0; i < 4; i++)
		sem_wait(&server.silent);
	CHECK_EQ(weft_lookup_start(up(20), "silent.test", 80, AF_UNSPEC, 0), 0);
	return weft_stop();
}

TEST(a_runtime_may_stop_while_names_are_looked_up)
{
	run(stop_while_asking);
	CHECK_EQ(done, 0);
	CHECK_EQ(result_of("four.test", AF_INET), 0);
	CHECK_STR(found(0), "192.0.2.1/80");
}

static int misuse(void *unused)
{
	char text[300];

	(void)unused;
	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = '\0';
	CHECK_EQ(weft_lookup_start(NULL, "a", 0, AF_INET, 0), -EINVAL);
	CHECK_EQ(weft_lookup_start(up(0), NULL, 0, AF_INET, 0), -EINVAL);
	CHECK_EQ(weft_lookup_start(up(0), "", 0, AF_INET, 0), -EINVAL);
	CHECK_EQ(weft_lookup_start(up(0), text, 0, AF_INET, 0), -EINVAL);
	CHECK_EQ(weft_lookup_start(up(0), "a", 0, AF_UNIX, 0), -EINVAL);
	CHECK_EQ(weft_lookup_start(up(0), "a", 0, AF_INET, -1), -EINVAL);
	CHECK_EQ(weft_lookup_cancel(NULL), -EINVAL);
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_lookup_start(up(0), "a", 0, AF_INET, 0), -ESHUTDOWN);
	return 0;
}

TEST(wrong_use_is_refused_with_an_error)
{
	CHECK_EQ(weft_lookup_start(up(0), "a", 0, AF_INET, 0), -ESHUTDOWN);
	CHECK_EQ(weft_lookup_cancel(&ups[0]), -ESHUTDOWN);
	CHECK_EQ(weft_lookup_servers("not an address", NULL), -EINVAL);
	run(misuse);
	CHECK_EQ(done, 0);
}

#ifdef WEFT_FAULTS
static long nth_fault, faults_told;

static int ask_with_fault(void *unused)
{
	int r;

	(void)unused;
	wf_fault_arm(nth_fault);
	r = weft_lookup_start(up(0), "both.test", 80, AF_UNSPEC, 0);
	if (r < 0) {
		CHECK_EQ(r, -ENOMEM);
		done++;
		faults_told++;
	}
	return 0;
}

TEST(a_lookup_ends_with_an_answer_or_an_error_whatever_fails)
{
	for (nth_fault = 1; nth_fault <= 30; nth_fault++) {
		done = 0;
		ups[0].result = 0;
		run(ask_with_fault);
		wf_fault_arm(0);
		CHECK_EQ(done, 1);
		faults_told += ups[0].result < 0;
		CHECK(ups[0].result == 0 || ups[0].result == -ENOMEM || ups[0].result == -EMFILE ||
		      ups[0].result == -EAGAIN);
		weft_lookup_fini(&ups[0]);
	}
	CHECK(faults_told > 0); /* to whoever started it, or by its result */
}
#endif

#else

TEST(without_c_ares_a_lookup_says_that_it_is_not_there)
{
	weft_lookup l;

	weft_lookup_init(&l, WEFT_MAIN, NULL, NULL);
	CHECK_EQ(weft_lookup_start(&l, "localhost", 0, AF_INET, 0), -ENOSYS);
	weft_lookup_fini(&l);
}

#endif

TEST_MAIN
