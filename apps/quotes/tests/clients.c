/* clients.c - weft-quotes as its clients see it: by plain sockets. WEFT_QUOTES names the
 * program. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/tests/program.h"
#include "harness/test.h"

enum { QUOTE = 64 };

/* The server */

static struct program server;
static int port;

static struct {
	long clients, quotes, skipped, accepted, refused, left, dropped;
} counters;

static void server_begin(int descriptors, const char *const flags[])
{
	const char *words[32] = { "--listen", "127.0.0.1:0" };

	for (int n = 2; n < 31 && *flags != NULL; n++)
		words[n] = *flags++;
	server = (struct program){ .descriptors = descriptors };
	program_start(&server, getenv("WEFT_QUOTES"), words);
	CHECK_EQ(sscanf(program_line(&server), "weft-quotes: 127.0.0.1:%d ", &port), 1);
}
#define SERVER(...) server_begin(0, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static void read_counters(const char *title)
{
	const char *line = program_line(&server);
	const char *at = line + strlen("weft-quotes: ") + strlen(title);

	CHECK(strstr(line, title) != NULL);
	CHECK_EQ(sscanf(at,
			"%ld clients, %ld quotes, %ld skipped; %ld accepted, %ld refused, %ld "
			"left, %ld dropped",
			&counters.clients, &counters.quotes, &counters.skipped, &counters.accepted,
			&counters.refused, &counters.left, &counters.dropped),
		 7);
}

static void ask_counters(void)
{
	CHECK_EQ(kill(server.pid, SIGUSR1), 0);
	read_counters("");
}

static void server_end(void)
{
	CHECK_EQ(kill(server.pid, SIGTERM), 0);
	read_counters("stopped; ");
	CHECK_EQ(program_end(&server, 0), 0);
	CHECK_EQ(counters.clients, 0);
}

/* Clients */

/* Connects from an address of this machine's own. */
static int dial_from(const char *host)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr_in from = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 1;

	CHECK(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	CHECK_EQ(inet_pton(AF_INET, host, &from.sin_addr), 1);
	CHECK_EQ(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static int dial(void)
{
	return dial_from("127.0.0.1");
}

static void check_quote(const char *quote)
{
	CHECK_EQ(memcmp(quote, "WEFT ", 5), 0);
	CHECK_EQ(quote[QUOTE - 1], '\n');
	CHECK(memchr(quote, '\n', QUOTE - 1) == NULL);
}

/* Reads quotes: one, or (all) what comes until the end. Gives how many; what is cut off is none.
 */
static int read_quotes(int fd, bool all)
{
	char quote[QUOTE];
	int n = 0;

	do {
		ssize_t got = recv(fd, quote, sizeof quote, MSG_WAITALL);

		if (got <= 0)
			return n;
		CHECK_EQ(got, QUOTE);
		check_quote(quote);
		n++;
	} while (all);
	return n;
}

static bool has_quote(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static int dial_until_served(void)
{
	for (;;) {
		int fd = dial();

		if (read_quotes(fd, false) == 1)
			return fd;
		close(fd);
	}
}

/* Tests */

TEST(a_client_gets_a_quote_at_once_and_then_at_intervals)
{
	int fd;

	SERVER("--interval", "5", "--first", "1");
	fd = dial();
	for (int i = 0; i < 20; i++)
		CHECK_EQ(read_quotes(fd, false), 1);
	close(fd);
	server_end();
	CHECK_EQ(counters.accepted, 1);
	CHECK(counters.quotes >= 20);
}

TEST(who_comes_gets_a_quote_long_before_the_next_is_due)
{
	int fd[3];

	SERVER("--interval", "86400000");
	for (int i = 0; i < 3; i++) {
		fd[i] = dial();
		CHECK_EQ(read_quotes(fd[i], false), 1);
	}
	server_end();
	CHECK_EQ(counters.quotes, 3);
	CHECK_EQ(counters.left + counters.dropped, 0);
}

TEST(others_are_served_while_one_does_not_read)
{
	enum { SOME = 20 };
	int slow, fd;
	long before;

	setenv("WEFT_WORKERS", "1", 1);
	SERVER("--interval", "1", "--patience", "100000", "--max-unsent", "1");
	slow = dial();
	fd = dial();
	do {
		before = counters.quotes;
		for (int i = 0; i < SOME; i++)
			CHECK_EQ(read_quotes(fd, false), 1);
		ask_counters();
	} while (counters.quotes - before > SOME + SOME / 2);
	for (int i = 0; i < SOME; i++)
		CHECK_EQ(read_quotes(fd, false), 1);
	CHECK(read_quotes(slow, false) == 1);
	server_end();
	CHECK_EQ(counters.dropped, 0);
}

TEST(who_does_not_read_is_dropped_and_leaves_nothing_in_the_kernel)
{
	int slow, fd;

	SERVER("--interval", "1", "--patience", "3000", "--max-unsent", "1");
	slow = dial();
	fd = dial();
	do {
		CHECK_EQ(read_quotes(fd, false), 1);
		ask_counters();
	} while (counters.dropped == 0);
	CHECK_EQ(counters.clients, 1);
	CHECK_EQ(counters.left, 0);
	CHECK_EQ(read_quotes(fd, false), 1);
	close(fd);
	while (program_unsent(port) > 0) /* until the server knows that this one has left */
		;
	close(slow);
	server_end();
	CHECK_EQ(counters.dropped, 1);
}

/* It pauses longer and longer, until its buffers were full for a while. */
TEST(a_slow_client_misses_quotes_and_gets_whole_ones)
{
	int fd, pause = 1;

	SERVER("--interval", "1", "--patience", "100000", "--max-unsent", "1");
	fd = dial();
	do {
		poll(NULL, 0, pause);
		pause += pause / 2 + 1;
		while (has_quote(fd))
			CHECK_EQ(read_quotes(fd, false), 1);
		ask_counters();
	} while (counters.skipped == 0);
	CHECK_EQ(read_quotes(fd, false), 1);
	server_end();
	CHECK_EQ(counters.dropped, 0);
}

TEST(the_server_ends_while_a_client_does_not_read)
{
	int fd, pause = 1;
	long before;

	SERVER("--interval", "1", "--patience", "100000", "--max-unsent", "1");
	fd = dial();
	do {
		before = counters.quotes;
		poll(NULL, 0, pause++);
		ask_counters();
	} while (counters.quotes != before || counters.quotes < 2);
	server_end();
	CHECK_EQ(counters.dropped + counters.left, 0);
	CHECK_EQ(read_quotes(fd, true), counters.quotes);
}

TEST(at_the_end_all_clients_have_had_whole_quotes)
{
	enum { CLIENTS = 100 };
	int fd[CLIENTS], quotes = 0;

	SERVER("--interval", "10");
	for (int i = 0; i < CLIENTS; i++)
		fd[i] = dial();
	for (int i = 0; i < CLIENTS; i++)
		quotes += read_quotes(fd[i], false);
	CHECK_EQ(quotes, CLIENTS);
	server_end();
	for (int i = 0; i < CLIENTS; i++)
		quotes += read_quotes(fd[i], true);
	CHECK_EQ(quotes, counters.quotes);
	CHECK_EQ(counters.accepted, CLIENTS);
}

static void await_clients(long count)
{
	do
		ask_counters();
	while (counters.clients != count);
}

TEST(who_leaves_is_forgotten)
{
	enum { CLIENTS = 16 };
	const struct linger reset = { .l_onoff = 1 };
	uint64_t random = TEST_SEED;
	int fd[CLIENTS], before, rounds = TEST_SIZE(500), dialed;

	setenv("WEFT_STALL_MS", "-1", 1); /* stand-ins have descriptors too */
	SERVER("--interval", "2");
	close(dial_until_served());
	await_clients(0);
	dialed = (int)counters.accepted;
	before = program_descriptors(&server);
	for (int i = 0; i < CLIENTS; i++)
		fd[i] = -1;
	for (int i = 0; i < rounds; i++) {
		uint64_t r = test_random(&random);
		int *one = &fd[r % CLIENTS];

		if (*one < 0) {
			*one = dial();
			dialed++;
			continue;
		}
		if (r >> 8 & 1)
			setsockopt(*one, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		if (r >> 9 & 1)
			read_quotes(*one, false);
		if (r >> 10 & 1)
			CHECK_EQ(send(*one, "hello", 5, MSG_NOSIGNAL), 5);
		close(*one);
		*one = -1;
	}
	for (int i = 0; i < CLIENTS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	do
		ask_counters();
	while (counters.left + counters.dropped < dialed || counters.clients > 0);
	CHECK_EQ(program_descriptors(&server), before);
	close(dial_until_served());
	server_end();
}

TEST(too_many_clients_are_refused_until_one_leaves)
{
	int first, second;

	SERVER("--interval", "2", "--max-clients", "2");
	first = dial_until_served();
	second = dial_until_served();
	CHECK_EQ(read_quotes(dial(), true), 0);
	CHECK_EQ(read_quotes(second, false), 1);
	close(first);
	close(dial_until_served());
	server_end();
	CHECK(counters.refused >= 1);
}

TEST(one_address_gets_no_more_than_its_share)
{
	int first, other;

	SERVER("--interval", "2", "--max-per-address", "2");
	first = dial_until_served();
	dial_until_served();
	CHECK_EQ(read_quotes(dial(), true), 0);
	other = dial_from("127.0.0.2");
	CHECK_EQ(read_quotes(other, false), 1);
	close(first);
	close(dial_until_served());
	server_end();
	CHECK(counters.refused >= 1);
}

TEST(it_serves_on_when_there_are_descriptors_again)
{
	enum { CLIENTS = 100, DESCRIPTORS = 80 };
	int fd[CLIENTS];

	server_begin(DESCRIPTORS,
		     (const char *const[]){ "--interval", "2", "--max-clients", "1000", NULL });
	for (int i = 0; i < CLIENTS; i++)
		fd[i] = dial();
	for (int i = 0; i < CLIENTS; i++) {
		CHECK_EQ(read_quotes(fd[i], false), 1);
		close(fd[i]);
	}
	server_end();
	CHECK_EQ(counters.accepted, CLIENTS);
	CHECK_EQ(counters.refused, 0);
}

TEST(a_socket_that_listens_can_be_given)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char name[16];

	CHECK_EQ(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
	CHECK_EQ(listen(listener, 10), 0);
	snprintf(name, sizeof name, "fd:%d", listener);
	SERVER("--listen", name);
	close(listener);
	close(dial_until_served());
	server_end();
}

TEST_MAIN
