/* abuse.c - weft-httpd against clients that are slow, greedy, wrong or malicious. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define END "Host: x\r\nConnection: close\r\n\r\n"
#define HOST "Host: x\r\n"

TEST(refuses_requests_that_can_be_read_in_two_ways)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{ "nonsense\r\n\r\n", 400 },
		{ "GET /\r\n\r\n", 400 },
		{ "GET  / HTTP/1.1\r\n" END, 400 },
		{ "GET / HTTP/1.1 \r\n" END, 400 },
		{ " GET / HTTP/1.1\r\n" END, 400 },
		{ "\r\n\r\nGET / HTTP/1.1\r\n" END, 400 },
		{ "GET / HTTP/1.1\n" END, 400 },
		{ "GET / HTTP/1.1\r" END, 400 },
		{ "GET / HTTP/2.0\r\n" END, 505 },
		{ "GET / HTTP/11\r\n" END, 400 },
		{ "GET / HTTP/1.10\r\n" END, 400 },
		{ "GET x HTTP/1.1\r\n" END, 400 },
		{ "GET /# HTTP/1.1\r\n" END, 400 },
		{ "GET /\x80 HTTP/1.1\r\n" END, 400 },
		{ "GET http:///x HTTP/1.1\r\n" END, 400 },
		{ "GET http://u@x/ HTTP/1.1\r\n" END, 400 },
		{ "GET * HTTP/1.1\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400 },
		{ "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost x\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n X: y\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX: y\r\n z\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\n: y\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX\x01: y\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX: \x01\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX: \x7f\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: -1\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: +1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 0x1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length:\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n" END, 413 },
		{ "GET / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n" END, 413 },
		{ "GET / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n" END
		  "0\r\n\r\n",
		  400 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n" END
		  "0\r\n\r\n",
		  400 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: identity\r\n" END, 501 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n" END, 501 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n" END, 501 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n" END,
		  400 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding:\x0b"
		  "chunked\r\n" END,
		  400 },
		{ "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
		{ "GET\t/ HTTP/1.1\r\n" END, 400 },
		{ "GET /\tHTTP/1.1\r\n" END, 400 },
		{ "GET /  HTTP/1.1\r\n" END, 400 },
		{ "GET / http/1.1\r\n" END, 400 },
		{ "GET / HTTP/ 1.1\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX: y\r\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX\r\n: y\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX: y\r\n\tz\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nX: y\x0b\r\n" END, 400 },
		{ "GET / HTTP/1.1\r\nContent-Length : 1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length\t: 1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1 1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1\r\n 1\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: \"1\"\r\n" END "x", 400 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n" END "0\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding\x0b: chunked\r\n" END "0\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding:\r\n chunked\r\n" END "0\r\n\r\n", 501 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n" END "0\r\n\r\n",
		  501 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: \"chunked\"\r\n" END "0\r\n\r\n", 501 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: chunked;q=1\r\n" END "0\r\n\r\n", 501 },
	};

	site_make();
	SERVER();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (ask(cases[i].text) != cases[i].status)
			CHECK_STR(cases[i].text, answer);
		CHECK_STR(header("Connection"), "close");
		CHECK_EQ(times("HTTP/1.1 "), 1);
	}
	CHECK_EQ(get("/", ""), 200);
	server_end();
}

TEST(refuses_chunks_that_are_not)
{
	static const char *const bodies[] = {
		"x\r\n\r\n",
		"\r\n\r\n",
		"-1\r\n\r\n",
		" 1\r\nx\r\n0\r\n\r\n",
		"1 \r\nx\r\n0\r\n\r\n",
		"0x1\r\nx\r\n0\r\n\r\n",
		"1\nx\r\n0\r\n\r\n",
		"1\r\nxy\r\n0\r\n\r\n",
		"1\r\nx\n0\r\n\r\n",
		"1\rx\r\n0\r\n\r\n",
		"1;\x01\r\nx\r\n0\r\n\r\n",
		"1;\nx\r\n0\r\n\r\n",
		"10000000000000000\r\nx",
		"ffffffffffffffff\r\nx",
		"0\r\n X: y\r\n\r\n",
		"0\r\nX: y\n\r\n",
		"0\r\n\rx",
		"1\r\nxAB0\r\n\r\n",
		"1\rAx\r\n0\r\n\r\n",
		"0\r\nX: y\rA\r\n",
		"0\r\nnonsense\r\n\r\n",
		"0\r\nno colon\r\n\r\n",
		"0\r\nX: y\r\nX\r\n\r\n",
		"0\r\n: y\r\n\r\n",
		"0\r\nX : y\r\n\r\n",
		"0\r\nX\t: y\r\n\r\n",
		"0\r\nX/: y\r\n\r\n",
		"0\r\nX: y\r\n z\r\n\r\n",
		"0\r\nX: y\r\n\tz: y\r\n\r\n",
		"0\r\nX: y\rZ: y\r\n\r\n",
		"0\r\nX: y\nZ: y\r\n\r\n",
		"0\r\nX\n: y\r\n\r\n",
		"0\r\nX: \x7f\r\n\r\n",
		"0\r\nGET /stolen HTTP/1.1\r\nHost: x\r\n\r\n",
		"1;x\ry\r\nx\r\n0\r\n\r\n",
		"1;\x7f\r\nx\r\n0\r\n\r\n",
		"0;\n\r\n\r\n",
		"0\r\n\n\r\n",
	};
	char text[512];

	SERVER();
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		for (int echo = 0; echo < 2; echo++) {
			snprintf(text, sizeof text,
				 "POST /%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
				 "chunked\r\n\r\n%s"
				 "GET /stolen HTTP/1.1\r\nHost: x\r\n\r\n",
				 echo ? "echo" : "", bodies[i]);
			ask(text);
			CHECK_EQ(times("HTTP/1.1 "), 1);
			CHECK_EQ(times("HTTP/1.1 404"), 0);
			if (!echo)
				CHECK_EQ(times("HTTP/1.1 400 "), 1);
		}
	}
	server_end();
}

TEST(extensions_and_trailers_as_they_should_be_are_passed_over)
{
	static const char *const bodies[] = {
		"5;a\r\nhello\r\n0\r\n\r\n",
		"5;a=b;c=\"d e\"\r\nhello\r\n0;last\r\n\r\n",
		"5\r\nhello\r\n0\r\nX:\r\n\r\n",
		"5\r\nhello\r\n0\r\nX:y\r\nY-Z: a: \xff,\tb \r\n\r\n",
	};
	char text[512];

	SERVER();
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		snprintf(text, sizeof text,
			 "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
			 "chunked\r\n\r\n%sGET /next HTTP/1.1\r\n" END,
			 bodies[i]);
		CHECK_EQ(ask(text), 200);
		CHECK_EQ(times("hello"), 1);
		CHECK_EQ(times("HTTP/1.1 404 "), 1);
	}
	server_end();
}

/* A request that has a byte of 0 where the text has a '?', on a connection of its own. */
static int ask_with_zero(const char *text)
{
	char bytes[256];
	size_t size = strlen(text);
	int fd = dial(), status = 0;

	memcpy(bytes, text, size);
	*(char *)memchr(bytes, '?', size) = '\0';
	say_bytes(fd, bytes, size);
	shutdown(fd, SHUT_WR);
	hear(fd, 0);
	close(fd);
	sscanf(answer, "HTTP/1.1 %d ", &status);
	return status;
}

TEST(a_zero_byte_is_bad_wherever_it_stands)
{
	static const char *const texts[] = {
		"?GET / HTTP/1.1\r\n" END,
		"GET? / HTTP/1.1\r\n" END,
		"GET /? HTTP/1.1\r\n" END,
		"GET / HTTP/1.1?\r\n" END,
		"GET / HTTP/1.1\r\nX?: y\r\n" END,
		"GET / HTTP/1.1\r\nX: ?\r\n" END,
		"GET / HTTP/1.1\r\nX: y?\r\n" END,
		"GET / HTTP/1.1\r\n?\r\n" END,
		"GET / HTTP/1.1\r\nContent-Length: 1?\r\n" END "x",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
		"chunked\r\n\r\n1?\r\nx\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
		"chunked\r\n\r\n1;?\r\nx\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX?: "
		"y\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ?\r\n\r\n",
	};

	SERVER();
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (ask_with_zero(texts[i]) != 400 || times("HTTP/1.1 ") != 1)
			CHECK_STR(texts[i], answer);
	server_end();
}

TEST(no_path_leaves_the_root)
{
	static const char *const paths[] = {
		"/../etc/passwd",
		"/../../../../../../../../etc/passwd",
		"/dir/../../etc/passwd",
		"/%2e%2e/etc/passwd",
		"/%2e%2e%2fetc%2fpasswd",
		"/..%2f..%2fetc/passwd",
		"/dir/%2e%2e/%2e%2e/etc/passwd",
		"/.%2e/etc/passwd",
		"/./.././etc/passwd",
		"//../etc/passwd",
		"/out/passwd",
		"/out/../passwd",
		"/out",
		"/up/etc/passwd",
		"/up/",
		"/%00",
		"/a.txt%00.html",
		"/a%",
		"/a%2",
		"/a%zz",
		"/.hidden",
		"/%2ehidden",
		"/dir/../.hidden",
		"/fifo",
		"/%ff",
		"/..\\..\\etc/passwd",
		"/proc/self/environ",
		"http://x/../etc/passwd",
	};

	site_make();
	SERVER();
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		int status = get(paths[i], "");

		if (status != 400 && status != 404 && status != 403)
			CHECK_STR(paths[i], answer);
		CHECK(strstr(answer, "root:") == NULL && strstr(answer, "secret") == NULL);
	}
	CHECK_EQ(get("/../a.txt", ""), 400);
	CHECK_EQ(get("/dir/../a.txt", ""), 200);
	CHECK_EQ(get("//dir/.//./index.html", ""), 200);
	server_end();
}

/* A request with `count` bytes of something in its midst. */
static int ask_with(const char *before, size_t count, char what, const char *after)
{
	size_t b = strlen(before), a = strlen(after);
	char *text = malloc(b + count + a + 1);
	int status;

	memcpy(text, before, b);
	memset(text + b, what, count);
	memcpy(text + b + count, after, a + 1);
	status = ask(text);
	free(text);
	return status;
}

TEST(refuses_what_is_too_large)
{
	char many[8192] = "GET /a.txt HTTP/1.1\r\n", *at = many + strlen(many);

	site_make();
	SERVER("--max-head", "8192", "--max-headers", "20", "--max-body", "1000");
	CHECK_EQ(ask_with("GET /", 9000, 'x', " HTTP/1.1\r\n" END), 414);
	CHECK_EQ(ask_with("GET /", 100000, 'x', " HTTP/1.1\r\n" END), 414);
	CHECK_EQ(ask_with("GET /", 2000, 'x', " HTTP/1.1\r\n" END), 414);
	CHECK_EQ(ask_with("GET / HTTP/1.1\r\nX: ", 9000, 'x', "\r\n" END), 431);
	CHECK_EQ(ask_with("GET / HTTP/1.1\r\nX: ", 7000, 'x', "\r\n" END), 200);
	CHECK_EQ(ask_with("GET / HTTP/1.1\r\n", 9000, 'x', ": y\r\n" END), 431);
	for (int i = 0; i < 19; i++)
		at += sprintf(at, "X: y\r\n");
	strcpy(at, "Host: x\r\n\r\n");
	CHECK_EQ(ask(many), 200);
	strcpy(at, "X: y\r\nHost: x\r\n\r\n");
	CHECK_EQ(ask(many), 431);
	CHECK_EQ(ask("POST / HTTP/1.1\r\nContent-Length: 1001\r\n" END), 413);
	CHECK_EQ(ask_with("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" HOST "\r\n3e9\r\n",
			  1001, 'x', "\r\n0\r\n\r\n"),
		 413);
	CHECK_EQ(ask_with("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" HOST "\r\n1;", 5000,
			  'x', "\r\nx\r\n0\r\n\r\n"),
		 400);
	CHECK_EQ(ask_with("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" HOST "\r\n0\r\n",
			  5000, 'x', ": y\r\n\r\n"),
		 400);
	server_end();
}

TEST(a_bad_request_behind_a_good_one_is_logged)
{
	char log[128];

	site_make();
	snprintf(log, sizeof log, "%s/log", site);
	SERVER("--access-log", log, "--max-head", "20000");
	CHECK_EQ(ask_with("GET /a.txt HTTP/1.1\r\n" HOST "\r\nGET / HTTP/1.1\r\nX: ", 30000, 'x',
			  "\r\n\r\n"),
		 200);
	CHECK_EQ(times("HTTP/1.1 431 "), 1);
	server_end();
}

/* A byte now and then does not help: the server closes all the same. */
static void hear_drips(const char *text)
{
	int fd = dial();
	ssize_t n;

	say(fd, text);
	do {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		say(fd, "X");
		n = poll(&p, 1, 5) > 0 ? recv(fd, answer, sizeof answer, 0) : 1;
	} while (n > 0);
	close(fd);
}

/* The server is stopped meanwhile: however slow this machine is, the client has spoken before its
 * time begins. */
static int dial_in_time(const char *text)
{
	int fd, status;

	CHECK_EQ(kill(server.pid, SIGSTOP), 0);
	CHECK_EQ(waitpid(server.pid, &status, WUNTRACED), server.pid);
	fd = dial();
	say(fd, text);
	CHECK_EQ(kill(server.pid, SIGCONT), 0);
	return fd;
}

static void hear_late(const char *text)
{
	int fd = dial_in_time(text);

	hear(fd, 0);
	close(fd);
	CHECK_EQ(times("HTTP/1.1 408 "), 1);
}

TEST(slow_clients_run_out_of_time)
{
	int idle, chunk;

	SERVER("--head-time", "150", "--idle-time", "150", "--body-time", "150");
	idle = dial();
	chunk = dial();
	say(chunk, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
	hear(idle, 0);
	CHECK_EQ(answer_size, 0);
	hear_late("GET / HTTP/1.1\r\nHost:");
	hear(chunk, 0);
	CHECK_EQ(times("0\r\n\r\n"), 0);
	close(idle);
	close(chunk);
	hear_drips("POST /echo HTTP/1.1\r\nContent-Length: 1000000\r\n" END);
	hear_drips("GET / HTTP/1.1\r\nX");
	server_end();
}

/* A client that has room for little. */
static int dial_narrow(void)
{
	int fd = dial(), small = 4096;

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
	return fd;
}

TEST(clients_that_do_not_read_run_out_of_time)
{
	int fd;

	site_make();
	SERVER("--send-time", "150");
	fd = dial_narrow();
	for (int i = 0; i < 10; i++)
		say(fd, "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
	while (status_number("late") == 0)
		;
	while (status_number("open") > 1)
		;
	CHECK_EQ(status_number("late"), 1);
	CHECK_EQ(status_number("broken"), 0);
	CHECK_EQ(program_unsent(server_port), 0);
	close(fd);
	server_end();
}

/* The whole reply may be in the kernel when the server has nothing more to do. */
TEST(clients_that_do_not_read_leave_nothing_when_all_was_sent)
{
	static const char *const requests[] = {
		"GET /large.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"GET /large.bin HTTP/1.0\r\n\r\n",
		"GET /some.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"GET /some.bin HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n",
		"GET /some.bin HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	};
	enum { COUNT = sizeof requests / sizeof *requests };
	static char some[300000];
	int fds[COUNT];

	site_make();
	site_write("some.bin", some, sizeof some);
	SERVER("--send-time", "150", "--idle-time", "300");
	for (int i = 0; i < COUNT; i++) {
		fds[i] = dial_narrow();
		say(fds[i], requests[i]);
		hear(fds[i], 1);
	}
	while (status_number("open") > 1)
		;
	while (program_unsent(server_port) > 0) /* until the kernel gives up the small ones, too */
		;
	for (int i = 0; i < COUNT; i++)
		close(fds[i]);
	server_end();
}

TEST(clients_that_read_late_get_everything)
{
	int fd;

	site_make();
	SERVER("--send-time", "60000");
	fd = dial();
	say(fd, "GET /large.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	hear(fd, 1);
	for (int i = 0; i < 100; i++)
		CHECK(status_number("open") > 1); /* it is a connection until it has all */
	hear(fd, 0);
	CHECK(answer_size > FILES_LARGE);
	for (size_t i = 0; i < FILES_LARGE; i += 997)
		CHECK_EQ(answer[answer_size - FILES_LARGE + i], site_byte(i));
	close(fd);
	server_end();
}

/* A client that has room for little from the start. */
static int dial_tight(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)server_port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

/* Else a client could leave any number of such replies in the kernel. */
TEST(a_reply_of_medium_size_counts_until_it_is_taken)
{
	static char some[60000];
	int fd;

	site_make();
	site_write("some.bin", some, sizeof some);
	SERVER("--send-time", "60000");
	fd = dial_tight();
	say(fd, "GET /some.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	hear(fd, 1);
	for (int i = 0; i < 100; i++)
		CHECK(status_number("open") > 1);
	hear(fd, 0);
	CHECK(answer_size >= sizeof some);
	close(fd);
	server_end();
}

TEST(empty_lines_without_end_are_no_way_to_stay)
{
	static char lines[20000];
	int fd;

	for (size_t i = 0; i < sizeof lines; i += 2)
		memcpy(lines + i, "\r\n", 2);
	SERVER();
	fd = dial();
	while (recv(fd, answer, sizeof answer, MSG_DONTWAIT) < 0)
		say_bytes(fd, lines, sizeof lines);
	CHECK_EQ(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
	close(fd);
	server_end();
}

/* Asks for much at once; how often it was busy. */
static int overload(void)
{
	int fds[50], busy = 0;

	for (int i = 0; i < 50; i++) {
		fds[i] = dial();
		say(fds[i], "GET /slow HTTP/1.1\r\n" END);
	}
	for (int i = 0; i < 50; i++) {
		hear(fds[i], 0);
		CHECK_EQ(times("HTTP/1.1 200 ") + times("HTTP/1.1 503 "), 1);
		busy += times("HTTP/1.1 503 ");
		close(fds[i]);
	}
	return busy;
}

TEST(says_busy_when_overloaded)
{
	setenv("WEFT_WORKERS", "1", 1);
	setenv("WEFT_QUEUE_DEPTH", "1", 1);
	SERVER();
	while (overload() == 0) /* those who ask may be the slower ones */
		;
	server_end();
}

/* A connection that has been let in. */
static int dial_kept(void)
{
	int fd = dial();

	say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	while (hear_reply(fd) != 200) {
		close(fd);
		fd = dial();
		say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	return fd;
}

TEST(says_busy_on_kept_connections_too_and_recovers)
{
	int fds[4], kept;

	setenv("WEFT_WORKERS", "1", 1);
	setenv("WEFT_QUEUE_DEPTH", "1", 1);
	SERVER("--queue-time", "100");
	kept = dial_kept();
	for (int i = 0; i < 4; i++)
		fds[i] = dial_kept();
	for (int i = 0; i < 4; i++)
		say(fds[i], "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
	do /* until the queue has been found too long */
		say(kept, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	while (hear_reply(kept) == 200);
	CHECK_EQ(times("HTTP/1.1 503 "), 1);
	CHECK_STR(header("Retry-After"), "1");
	CHECK_STR(header("Connection"), "close");
	close(kept);
	for (int i = 0; i < 4; i++) {
		CHECK(hear_reply(fds[i]) > 0);
		close(fds[i]);
	}
	while (get("/", "") != 200)
		;
	server_end();
}

/* A close that tells the other side that it went wrong, as kill -9 may. */
static void slam(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(fd);
}

/* A connection for which the server computes for a while. */
static int dial_busy(void)
{
	int fd = dial();

	for (int i = 0; i < 5; i++)
		say(fd, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
	return fd;
}

/* A connection whose reply is under way, and waits for the client to read it. */
static int dial_stalled(void)
{
	int fd = dial_tight();

	for (int i = 0; i < 10; i++) /* the kernel's buffers hold one */
		say(fd, "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
	hear(fd, 100);
	CHECK_EQ(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
	return fd;
}

TEST(says_busy_when_all_places_are_taken_by_busy_connections)
{
	int fds[20];

	SERVER("--max-connections", "20");
	for (int i = 0; i < 20; i++)
		fds[i] = dial_busy();
	CHECK_EQ(get("/", ""), 503);
	CHECK_EQ(times("Retry-After: 1\r\n"), 1);
	for (int i = 0; i < 20; i++)
		slam(fds[i]);
	while (get("/", "") != 200) /* until it has noticed that they are gone */
		;
	server_end();
}

TEST(clients_that_do_not_read_give_way)
{
	static char some[60000];
	int fds[40];

	site_make();
	site_write("some.bin", some, sizeof some);
	SERVER("--max-connections", "20", "--send-time", "3600000");
	for (int i = 0; i < 20; i++)
		fds[i] = dial_stalled();
	for (int i = 20; i < 40; i++) {
		while (get("/a.txt", "") != 200) /* until it has found that they do not read */
			;
		fds[i] = dial_tight(); /* whose reply is in the kernel as a whole */
		say(fds[i], "GET /some.bin HTTP/1.1\r\n" END);
		hear(fds[i], 1);
	}
	while (get("/a.txt", "") != 200)
		;
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	server_end();
}

/* The first of these connections that the server has closed. */
static int find_closed(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		if (recv(fds[i], answer, 1, MSG_DONTWAIT) == 0)
			return i;
	return -1;
}

/* When the second is answered the first is over, for the server too. Where most connections have
 * but one request, silent ones are not even accepted. */
static void ask_twice_on(int fd)
{
	for (int i = 0; i < 2; i++) {
		say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
		CHECK_EQ(hear_reply(fd), 200);
	}
}

static void ask_twice(void)
{
	int fd = dial();

	ask_twice_on(fd);
	close(fd);
}

TEST(silent_connections_give_way_to_honest_ones)
{
	int fds[100];

	SERVER("--max-connections", "20", "--head-time", "3600000", "--idle-time", "3600000");
	for (int i = 0; i < 100; i++) {
		fds[i] = dial_from(i % 3 == 0   ? "127.0.0.2"
				   : i % 3 == 1 ? "127.0.0.3"
						: "127.0.0.4");
		ask_twice();
	}
	for (int i = 0; i < 80; i++)
		CHECK_EQ(find_closed(&fds[i], 1), 0);
	CHECK_EQ(find_closed(&fds[99], 1), -1);
	for (int i = 0; i < 100; i++)
		close(fds[i]);
	server_end();
}

TEST(silent_connections_give_their_descriptors_back)
{
	int fds[200];

	server_begin(64, (const char *const[]){ "--max-connections", "1000", "--head-time",
						"3600000", NULL });
	for (int i = 0; i < 200; i++) {
		fds[i] = dial();
		if (i % 20 == 19)
			ask_twice();
	}
	for (int i = 0; i < 200; i++)
		close(fds[i]);
	server_end();
}

/* Some of each kind that can be had for almost nothing: silence at first, half a head, a body that
 * does not come, silence after a request. */
static int dial_idle(int kind)
{
	static const char *const words[] = {
		"", "GET / HTTP/1.1\r\nHost:",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nx",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	};
	int fd = dial();

	say(fd, words[kind]);
	if (kind == 3)
		CHECK_EQ(hear_reply(fd), 200);
	return fd;
}

TEST(whatever_a_client_waits_with_it_gives_way)
{
	int fds[8];

	for (int kind = 0; kind < 4; kind++) {
		SERVER("--max-connections", "8", "--head-time", "3600000", "--idle-time", "3600000",
		       "--body-time", "3600000");
		for (int i = 0; i < 8; i++)
			fds[i] = dial_idle(kind);
		for (int i = 0; i < 20; i++)
			while (get("/", "") != 200) /* until it has read what they said */
				;
		while (status_number("open") > 8)
			;
		for (int i = 0; i < 8; i++)
			close(fds[i]);
		server_end();
	}
}

TEST(the_connection_that_is_idle_longest_gives_way_first)
{
	int fds[4];

	setenv("WEFT_WORKERS", "1",
	       1); /* so that all happens in the order in which we hear of it */
	SERVER("--max-connections", "4", "--head-time", "3600000", "--idle-time", "3600000");
	for (int i = 0; i < 4; i++)
		fds[i] = dial();
	for (int i = 1; i <= 4; i++)
		ask_twice_on(fds[i % 4]);
	for (int i = 1; i < 4; i++) {
		CHECK_EQ(get("/", ""), 200);
		CHECK_EQ(find_closed(fds, 4), i);
		close(fds[i]);
		fds[i] = dial();
	}
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	server_end();
}

TEST(a_client_that_has_never_spoken_has_the_time_of_a_head_only)
{
	int silent, idle;

	SERVER("--head-time", "150", "--idle-time", "3600000");
	silent = dial();
	idle = dial_in_time("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK_EQ(hear_reply(idle), 200);
	hear(silent, 0);
	CHECK_EQ(answer_size, 0);
	CHECK_EQ(find_closed(&idle, 1), -1);
	close(silent);
	close(idle);
	server_end();
}

TEST(an_address_that_has_its_share_loses_a_connection_of_its_own)
{
	int fds[5], busy[5], other;

	SERVER("--max-per-address", "5", "--head-time", "3600000");
	other = dial_from("127.0.0.2");
	for (int i = 0; i < 5; i++)
		fds[i] = dial();
	CHECK_EQ(get("/", ""), 200);
	CHECK_EQ(find_closed(fds, 5), 0);
	CHECK_EQ(find_closed(&other, 1), -1);
	for (int i = 0; i < 5; i++)
		busy[i] = dial_busy();
	CHECK_EQ(get("/", ""), 503);
	CHECK_EQ(find_closed(&other, 1), -1);
	for (int i = 0; i < 5; i++) {
		close(fds[i]);
		slam(busy[i]);
	}
	close(other);
	while (get("/", "") != 200) /* until it has noticed that they are gone */
		;
	server_end();
}

/* A server whose descriptors are counted: stand-ins would have some of their own. */
static void server_without_stand_ins(void)
{
	setenv("WEFT_STALL_MS", "3600000", 1);
	SERVER();
}

TEST(clients_that_vanish_leave_nothing_behind)
{
	int clients = TEST_SIZE(500), before, fds[16];
	long threads;
	char seen[100];

	site_make();
	server_without_stand_ins();
	CHECK_EQ(get("/large.bin", ""), 200);
	threads = status_number("threads");
	before = program_descriptors(&server);
	for (int i = 0; i < clients; i++) {
		int *fd = &fds[i % 16];

		if (i >= 16)
			slam(*fd);
		*fd = dial();
		say(*fd, i % 3 == 0 ? "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n"
			 : i % 3 == 1
				 ? "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\nGET /large"
				 : "POST /a HTTP/1.1\r\nContent-Length: 9999\r\nHost: x\r\n\r\nx");
		if (i % 2 == 0 && i % 3 != 2)
			CHECK(recv(*fd, seen, sizeof seen, 0) > 0);
	}
	for (int i = 0; i < 16; i++)
		slam(fds[i]);
	while (status_number("open") > 1)
		;
	while (status_number("threads") > threads || program_descriptors(&server) > before)
		;
	server_end();
}

/* A process that asks for much, and takes some of it. */
static pid_t start_client(void)
{
	pid_t pid = fork();
	int fd;

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	fd = dial();
	say(fd, "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(recv(fd, answer, 10000, 0) > 0);
	pause();
	_exit(0);
}

TEST(clients_that_are_killed_leave_nothing_behind)
{
	int clients = TEST_SIZE(100), before;
	pid_t pids[100];
	long threads;

	site_make();
	server_without_stand_ins();
	CHECK_EQ(get("/large.bin", ""), 200);
	threads = status_number("threads");
	before = program_descriptors(&server);
	for (int i = 0; i < clients; i++)
		pids[i] = start_client();
	while (status_number("open") <= clients)
		;
	for (int i = 0; i < clients; i++)
		CHECK_EQ(kill(pids[i], SIGKILL), 0);
	for (int i = 0; i < clients; i++)
		CHECK_EQ(waitpid(pids[i], NULL, 0), pids[i]);
	while (status_number("open") > 1 || status_number("threads") > threads ||
	       program_descriptors(&server) > before)
		;
	server_end();
}

TEST(recovers_when_descriptors_have_run_out)
{
	int fds[100], answered = 0;

	site_make();
	server_begin(64, (const char *const[]){ "--max-connections", "1000", NULL });
	for (int i = 0; i < 100; i++) {
		fds[i] = dial();
		say(fds[i], "GET /large.bin HTTP/1.1\r\n" END);
	}
	/* Those that were not accepted wait for the others. A connection can lose its place while its
	 * request is on the way from the kernel to its thread. */
	for (int i = 0; i < 100; i++) {
		hear(fds[i], 0);
		answered += times("HTTP/1.1 200 ") + times("HTTP/1.1 503 ");
		close(fds[i]);
	}
	CHECK(answered > 50 && answered <= 100);
	while (get("/a.txt", "") != 200) /* until it has closed them, too */
		;
	server_end();
}

/* A request that may be right, with some bytes changed at random. */
static size_t random_request(uint64_t *state, char *out)
{
	static const char *const lines[] = { "GET /", "HEAD /a.txt", "POST /x", "OPTIONS *",
					     "PUT /" };
	static const char *const parts[] = {
		"Host: x\r\n",
		"Connection: keep-alive\r\n",
		"Content-Length: 5\r\n",
		"Transfer-Encoding: chunked\r\n",
		"Range: bytes=1-4\r\n",
		"If-None-Match: \"x\"\r\n",
		"Expect: 100-continue\r\n",
		"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n",
	};
	char *at = out;
	size_t size;

	at += sprintf(at, "%s HTTP/1.1\r\nHost: x\r\n", lines[test_random(state) % 5]);
	for (uint64_t n = test_random(state) % 4; n > 0; n--)
		at += sprintf(at, "%s", parts[test_random(state) % 8]);
	at += sprintf(at, "\r\n%s", test_random(state) % 2 ? "5\r\nhello\r\n0\r\n\r\n" : "");
	size = (size_t)(at - out);
	for (uint64_t n = test_random(state) % 4; n > 0; n--)
		out[test_random(state) % size] = (char)test_random(state);
	return size;
}

TEST(survives_random_requests)
{
	uint64_t state = TEST_SEED;
	int rounds = test_full() ? 100000 : TEST_SIZE(5000);
	char text[4096];

	site_make();
	SERVER("--head-time", "1000");
	for (int i = 0; i < rounds; i++) {
		int fd = dial();

		for (uint64_t n = test_random(&state) % 4 + 1; n > 0; n--)
			say_bytes(fd, text, random_request(&state, text));
		shutdown(fd, SHUT_WR);
		hear(fd, 0);
		CHECK(answer_size == 0 || strncmp(answer, "HTTP/1.1 ", 9) == 0);
		close(fd);
	}
	CHECK_EQ(get("/a.txt", ""), 200);
	while (status_number("open") > 1)
		;
	server_end();
}

TEST_MAIN
