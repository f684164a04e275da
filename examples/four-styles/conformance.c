/* conformance.c - what each of the four key servers must do; KEYS_SERVER names the program. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/test.h"

#define LINE_MAX_LETTERS 255 /* without the end */

static int server_pid, server_port;

/* The server dies with the test. */
static void server_begin(const char *patience_ms)
{
	const char *program = getenv("KEYS_SERVER");
	int ends[2];
	FILE *out;

	CHECK(program != NULL);
	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	server_pid = fork();
	CHECK(server_pid >= 0);
	if (server_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		execl(program, program, "127.0.0.1:0", patience_ms, NULL);
		_exit(127);
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	CHECK_EQ(fscanf(out, "port %d", &server_port), 1);
}

static int server_sockets(void)
{
	char path[64], what[64];
	struct dirent *entry;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof path, "/proc/%d/fd", server_pid);
	dir = opendir(path);
	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL)
		n += readlinkat(dirfd(dir), entry->d_name, what, sizeof what) > 7 &&
		     memcmp(what, "socket:", 7) == 0;
	closedir(dir);
	return n;
}

static long server_memory(void)
{
	char path[64];
	long size, resident;
	FILE *in;

	snprintf(path, sizeof path, "/proc/%d/statm", server_pid);
	in = fopen(path, "r");
	CHECK(in != NULL);
	CHECK_EQ(fscanf(in, "%ld %ld", &size, &resident), 2);
	fclose(in);
	return resident * sysconf(_SC_PAGESIZE);
}

struct client {
	int fd;
	FILE *in;
};

static struct client dial_with_buffer(int bytes)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)server_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	struct client c = { fd, fdopen(fd, "r") };

	CHECK(c.in != NULL);
	CHECK_EQ(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), 0);
	if (bytes > 0)
		CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return c;
}

static void say(struct client *c, const char *text)
{
	size_t len = strlen(text);

	CHECK_EQ(send(c->fd, text, len, MSG_NOSIGNAL), len);
}

/* The next line, without its end; "" if there is none. */
static const char *hear(struct client *c)
{
	static char line[512];

	if (fgets(line, sizeof line, c->in) == NULL)
		return "";
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static struct client dial(void)
{
	struct client c = dial_with_buffer(0);

	CHECK_STR(hear(&c), "hello");
	return c;
}

static const char *ask(struct client *c, const char *text)
{
	say(c, text);
	return hear(c);
}

static void check_error(const char *answer)
{
	CHECK_EQ(strncmp(answer, "error: ", 7), 0);
}

static void check_closed(struct client *c)
{
	CHECK_STR(hear(c), "");
	fclose(c->in);
}

/* Lets time go by for the server, so that what is sent to it is likely to be there. What is checked
 * must hold in any case. */
static void let_time_go_by(const char *ms)
{
	struct client c = dial_with_buffer(0);
	char line[64];

	sprintf(line, "WAIT nothing %s\n", ms);
	send(c.fd, line, strlen(line), MSG_NOSIGNAL);
	hear(&c);
	hear(&c);
	fclose(c.in);
}

TEST(it_keeps_what_it_is_told)
{
	struct client c;

	server_begin("60000");
	c = dial();
	CHECK_STR(ask(&c, "GET cat\n"), "none");
	CHECK_STR(ask(&c, "SET cat a small animal\n"), "ok");
	CHECK_STR(ask(&c, "GET cat\n"), "= a small animal");
	CHECK_STR(ask(&c, "WAIT cat 1\n"), "= a small animal");
	CHECK_STR(ask(&c, "SET cat \n"), "ok");
	CHECK_STR(ask(&c, "GET cat\n"), "= ");
	CHECK_STR(ask(&c, "DEL cat\n"), "ok");
	CHECK_STR(ask(&c, "DEL cat\n"), "none");
	CHECK_STR(ask(&c, "GET cat\n"), "none");
	CHECK_STR(ask(&c, "QUIT\n"), "bye");
	check_closed(&c);
}

TEST(it_goes_on_after_a_wrong_line)
{
	static const char *const wrong[] = {
		"\n",           " \n",           "GET\n",       "GET \n",
		"GET a b\n",    "SET a\n",       "get a\n",     "QUIT now\n",
		"WAIT a\n",     "WAIT a b\n",    "WAIT a -1\n", "WAIT a 99999999999\n",
		"WAIT a 1 2\n", "WHATEVER a b\n"
	};
	struct client c;

	server_begin("60000");
	c = dial();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		check_error(ask(&c, wrong[i]));
	CHECK_STR(ask(&c, "GET a\n"), "none");
}

TEST(a_line_may_come_in_pieces)
{
	const char *text = "SET cat a small animal\nGET cat\n";
	struct client c;

	server_begin("60000");
	c = dial();
	for (; *text != '\0'; text++)
		CHECK_EQ(send(c.fd, text, 1, MSG_NOSIGNAL), 1);
	CHECK_STR(hear(&c), "ok");
	CHECK_STR(hear(&c), "= a small animal");
}

TEST(lines_sent_ahead_are_answered_in_order)
{
	enum { LINES = 1000 };
	char text[64 * LINES], *at = text;
	struct client c;

	server_begin("60000");
	c = dial();
	for (int i = 0; i < LINES; i++)
		at += sprintf(at, "SET number %d\nGET number\n", i);
	say(&c, text);
	for (int i = 0; i < LINES; i++) {
		sprintf(text, "= %d", i);
		CHECK_STR(hear(&c), "ok");
		CHECK_STR(hear(&c), text);
	}
}

TEST(a_line_that_is_too_long_ends_the_connection)
{
	char text[LINE_MAX_LETTERS + 2], answer[LINE_MAX_LETTERS];
	struct client c;

	server_begin("60000");
	c = dial();
	memset(text, 'x', sizeof text);
	memcpy(text, "SET a ", 6);
	strcpy(text + LINE_MAX_LETTERS, "\n");
	CHECK_STR(ask(&c, text), "ok");
	sprintf(answer, "= %.*s", LINE_MAX_LETTERS - 6, text + 6);
	CHECK_STR(ask(&c, "GET a\n"), answer);

	strcpy(text + LINE_MAX_LETTERS, "x");
	check_error(ask(&c, text));
	check_closed(&c);
	c = dial();
	CHECK_STR(ask(&c, "GET a\n"), answer);
}

TEST(many_clients_are_served_beside_each_other)
{
	enum { CLIENTS = 200 };
	static struct client c[CLIENTS];
	char text[64];

	server_begin("60000");
	for (int i = 0; i < CLIENTS; i++)
		c[i] = dial();
	for (int i = 0; i < CLIENTS; i++) {
		sprintf(text, "SET key%d %d\n", i, i);
		say(&c[i], text);
	}
	for (int i = 0; i < CLIENTS; i++)
		CHECK_STR(hear(&c[i]), "ok");
	for (int i = 0; i < CLIENTS; i++) {
		sprintf(text, "GET key%d\n", CLIENTS - 1 - i);
		say(&c[i], text);
	}
	for (int i = 0; i < CLIENTS; i++) {
		sprintf(text, "= %d", CLIENTS - 1 - i);
		CHECK_STR(hear(&c[i]), text);
	}
}

TEST(a_set_answers_all_who_wait)
{
	enum { CLIENTS = 50 };
	struct client c[CLIENTS], other;

	server_begin("60000");
	for (int i = 0; i < CLIENTS; i++) {
		c[i] = dial();
		say(&c[i], "WAIT dawn 60000\nDEL night\n");
	}
	let_time_go_by("20");
	other = dial();
	CHECK_STR(ask(&other, "SET dawn at six\n"), "ok");
	for (int i = 0; i < CLIENTS; i++) {
		CHECK_STR(hear(&c[i]), "= at six");
		CHECK_STR(hear(&c[i]), "none");
	}
}

TEST(waiting_and_setting_race_and_nothing_is_lost)
{
	enum { ROUNDS = 300 };
	struct client waiter, setter;
	char text[64];

	server_begin("60000");
	waiter = dial();
	setter = dial();
	for (int i = 0; i < ROUNDS; i++) {
		sprintf(text, "WAIT round%d 60000\n", i);
		say(&waiter, text);
		sprintf(text, "SET round%d %d\n", i, i);
		CHECK_STR(ask(&setter, text), "ok");
		sprintf(text, "= %d", i);
		CHECK_STR(hear(&waiter), text);
	}
}

TEST(a_wait_ends_when_its_time_is_over)
{
	struct client c, other;

	server_begin("60000");
	c = dial();
	other = dial();
	say(&other, "WAIT dawn 60000\n");
	CHECK_STR(ask(&c, "WAIT dawn 0\n"), "none");
	CHECK_STR(ask(&c, "WAIT dawn 20\n"), "none");
	CHECK_STR(ask(&c, "SET dawn at six\n"), "ok");
	CHECK_STR(hear(&other), "= at six");
}

/* Time and answer come at the same time, again and again: one of them is told. */
TEST(a_wait_has_one_answer)
{
	enum { ROUNDS = 200 };
	struct client waiter, setter;
	const char *answer;

	server_begin("60000");
	waiter = dial();
	setter = dial();
	for (int i = 0; i < ROUNDS; i++) {
		say(&waiter, "WAIT dawn 1\nGET marker\n");
		CHECK_STR(ask(&setter, "WAIT nothing 1\n"), "none");
		CHECK_STR(ask(&setter, "SET dawn 6\n"), "ok");
		answer = hear(&waiter);
		CHECK(strcmp(answer, "= 6") == 0 || strcmp(answer, "none") == 0);
		CHECK_STR(hear(&waiter), "none");
		CHECK_STR(ask(&setter, "DEL dawn\n"), "ok");
	}
}

TEST(a_wait_that_was_answered_is_not_answered_again)
{
	struct client waiter, setter;

	server_begin("60000");
	waiter = dial();
	setter = dial();
	say(&waiter, "WAIT dawn 100\n");
	let_time_go_by("20");
	CHECK_STR(ask(&setter, "SET dawn at six\n"), "ok");
	hear(&waiter);
	let_time_go_by("100");
	CHECK_STR(ask(&waiter, "GET dusk\n"), "none");
}

/* Sanitizers keep memory that was freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOST_GROWTH (100 << 20)
#else
#define MOST_GROWTH (300 << 10)
#endif

static void wait_often(int rounds)
{
	enum { CLIENTS = 50, AHEAD = 10 };
	struct client c[CLIENTS];

	for (int i = 0; i < CLIENTS; i++)
		c[i] = dial();
	for (; rounds > 0; rounds--) {
		for (int i = 0; i < CLIENTS * AHEAD; i++)
			say(&c[i % CLIENTS], "WAIT nothing 0\n");
		for (int i = 0; i < CLIENTS * AHEAD; i++)
			CHECK_STR(hear(&c[i % CLIENTS]), "none");
	}
	for (int i = 0; i < CLIENTS; i++)
		fclose(c[i].in);
	while (server_sockets() > 1) /* one listens */
		;
}

/* 60 bytes for each wait would be too much. What one worker has is used again by it alone. */
TEST(waits_that_are_over_leave_no_memory_behind)
{
	long before;

	setenv("WEFT_WORKERS", "1", 1);
	setenv("WEFT_STALL_MS", "3600000", 1); /* nor is there a stand-in */
	server_begin("60000");
	wait_often(2);
	before = server_memory();
	wait_often(10);
	CHECK(server_memory() - before < MOST_GROWTH);
}

TEST(a_client_that_disappears_while_it_waits_is_forgotten)
{
	enum { CLIENTS = 20 };
	struct linger reset = { 1, 0 };
	struct client c[CLIENTS], other;

	server_begin("60000");
	other = dial();
	for (int i = 0; i < CLIENTS; i++) {
		c[i] = dial();
		say(&c[i], i % 2 ? "WAIT dawn 60000\n" : "WAIT dusk 20\n");
	}
	let_time_go_by("20");
	for (int i = 0; i < CLIENTS; i++) {
		CHECK_EQ(setsockopt(c[i].fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
		fclose(c[i].in);
	}
	CHECK_STR(ask(&other, "SET dawn at six\n"), "ok");
	while (server_sockets() > 2) /* one listens */
		CHECK_STR(ask(&other, "GET dawn\n"), "= at six");
}

TEST(a_client_that_has_closed_its_direction_gets_all_answers)
{
	struct client c;

	server_begin("60000");
	c = dial();
	say(&c, "SET a 1\nWAIT b 20\nGET a\nGET a");
	CHECK_EQ(shutdown(c.fd, SHUT_WR), 0);
	CHECK_STR(hear(&c), "ok");
	CHECK_STR(hear(&c), "none");
	CHECK_STR(hear(&c), "= 1");
	check_closed(&c);
}

TEST(a_client_that_sends_no_whole_line_in_time_is_left)
{
	struct client silent, slow;

	server_begin("50");
	silent = dial_with_buffer(0);
	slow = dial_with_buffer(0);
	send(slow.fd, "GET", 3, MSG_NOSIGNAL);
	hear(&silent);
	check_closed(&silent);
	hear(&slow);
	check_closed(&slow);
}

/* On a machine that is busy a line may come late: then it is tried again. */
static void has_time(const char *line, const char *pause_ms)
{
	bool answered;

	do {
		struct client c = dial_with_buffer(0);

		send(c.fd, line, strlen(line), MSG_NOSIGNAL);
		hear(&c);
		answered = strcmp(hear(&c), "none") == 0;
		let_time_go_by(pause_ms);
		send(c.fd, "GET nothing\n", 12, MSG_NOSIGNAL);
		answered = answered && strcmp(hear(&c), "none") == 0;
		fclose(c.in);
	} while (!answered);
}

TEST(a_client_that_waits_for_a_key_has_time)
{
	server_begin("100");
	has_time("WAIT nothing 150\n", "0");
}

TEST(a_client_has_time_again_after_each_answer)
{
	server_begin("100");
	has_time("WAIT nothing 60\n", "60");
}

TEST(a_client_that_takes_no_answers_in_time_is_left)
{
	struct client c;
	char text[LINE_MAX_LETTERS + 2], gets[600];
	ssize_t n;

	server_begin("200");
	c = dial_with_buffer(4096);
	snprintf(text, sizeof text, "SET a %0*d\n", LINE_MAX_LETTERS - 6, 7);
	for (size_t i = 0; i < sizeof gets; i++)
		gets[i] = "GET a\n"[i % 6];
	n = send(c.fd, text, strlen(text), MSG_NOSIGNAL);
	while (n >= 0)
		n = send(c.fd, gets, sizeof gets, MSG_NOSIGNAL);
	CHECK(errno == EPIPE || errno == ECONNRESET);
}

TEST_MAIN
