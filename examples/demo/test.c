/* test.c - weft-demo from outside: what it answers to good and to bad requests, and
 * how it ends. WEFT_DEMO names the program.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"

static struct {
	pid_t pid;
	FILE *out;
	int port;
} demo;

static char answer[1 << 20];

/* Starts it on any free port, with settings for its environment: "NAME=VALUE". */
static void start(const char *setting)
{
	const char *program = getenv("WEFT_DEMO");
	char line[256];
	int ends[2];

	CHECK(program != NULL);
	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	demo.pid = fork();
	CHECK(demo.pid >= 0);
	if (demo.pid == 0) {
		if (setting != NULL)
			putenv((char *)(uintptr_t)setting);
		dup2(ends[1], STDOUT_FILENO);
		execl(program, program, "--port", "0", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	demo.out = fdopen(ends[0], "r");
	CHECK(fgets(line, sizeof line, demo.out) != NULL);
	CHECK_EQ(sscanf(line, "Weft demo: http://127.0.0.1:%d/", &demo.port), 1);
}

/* Asks it to end; gives the last line that it printed. */
static const char *stop(void)
{
	static char line[256];
	int status;

	CHECK_EQ(kill(demo.pid, SIGTERM), 0);
	CHECK(fgets(line, sizeof line, demo.out) != NULL);
	CHECK_EQ(waitpid(demo.pid, &status, 0), demo.pid);
	CHECK_EQ(status, 0);
	fclose(demo.out);
	return line;
}

static int dial(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)demo.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	size_t size = strlen(text);

	CHECK_EQ(send(fd, text, size, MSG_NOSIGNAL), size);
}

/* Reads until `size` bytes have come (0: until the server closes). */
static void hear(int fd, size_t size)
{
	size_t have = 0;

	while (size == 0 || have < size) {
		ssize_t n = recv(fd, answer + have, sizeof answer - 1 - have, 0);

		CHECK(n >= 0);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	answer[have] = '\0';
}

/* One request on a connection of its own; gives the status. */
static int ask(const char *text)
{
	int fd = dial(), status = 0;

	say(fd, text);
	shutdown(fd, SHUT_WR);
	hear(fd, 0);
	close(fd);
	sscanf(answer, "HTTP/1.1 %d ", &status);
	return status;
}

static int count(const char *word)
{
	int n = 0;

	for (const char *at = answer; (at = strstr(at, word)) != NULL; at++)
		n++;
	return n;
}

TEST(serves_its_pages)
{
	start(NULL);
	CHECK_EQ(ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 200);
	CHECK(strstr(answer, "</html>") != NULL);
	CHECK_EQ(ask("GET /stats?now HTTP/1.0\r\n\r\n"), 200);
	CHECK(strstr(answer, "\"requests\": 2") != NULL);
	CHECK_EQ(ask("HEAD / HTTP/1.0\r\n\r\n"), 200);
	CHECK(strstr(answer, "html>") == NULL);
	CHECK_EQ(ask("GET /slow HTTP/1.0\r\n\r\n"), 200);
	CHECK(strstr(answer, "below 1000000 take 131434272 ") != NULL);
	CHECK_EQ(ask("GET /nothing HTTP/1.0\r\n\r\n"), 404);
	CHECK_STR(stop(), "stopped after 5 requests on 5 connections\n");
}

TEST(refuses_bad_requests_with_the_right_status)
{
	static char huge[20000];

	start(NULL);
	CHECK_EQ(ask("nonsense\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.1\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.1\r\nHost x\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.1\r\nHost : x\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n"), 400);
	CHECK_EQ(ask("GET x HTTP/1.0\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/2.0\r\n\r\n"), 505);
	CHECK_EQ(ask("POST / HTTP/1.0\r\n\r\n"), 405);
	CHECK_EQ(ask("GET / HTTP/1.0\r\nContent-Length: -1\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"), 400);
	CHECK_EQ(ask("GET / HTTP/1.0\r\nContent-Length: 99999999999999999999999\r\n\r\n"), 413);
	CHECK_EQ(ask("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 501);
	memset(huge, 'x', sizeof huge - 1);
	memcpy(huge, "GET / HTTP/1.0\r\nX: ", 19);
	CHECK_EQ(ask(huge), 431);
	CHECK_EQ(ask("GET / HTTP/1.0\r\n\r\n"), 200);
	stop();
}

TEST(answers_requests_that_come_in_pieces_or_many_at_once)
{
	static const char three[] = "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345"
				    "\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"
				    "GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	int fd;

	start(NULL);
	fd = dial();
	say(fd, three);
	hear(fd, 0);
	CHECK_EQ(count("HTTP/1.1 404 "), 3);
	close(fd);

	fd = dial();
	for (const char *at = three; *at != '\0'; at++)
		say(fd, (char[]){ *at, '\0' });
	hear(fd, 0);
	CHECK_EQ(count("HTTP/1.1 404 "), 3);
	close(fd);
	CHECK_STR(stop(), "stopped after 6 requests on 2 connections\n");
}

TEST(takes_lines_that_end_without_a_carriage_return)
{
	start(NULL);
	CHECK_EQ(ask("GET /stats HTTP/1.0\n\n"), 200);
	CHECK_EQ(ask("\nGET /stats HTTP/1.1\nHost: x\r\nConnection: close\n\r\n"), 200);
	CHECK_EQ(ask("GET /a HTTP/1.1\nHost: x\n\nGET /b HTTP/1.0\n\n"), 404);
	CHECK_EQ(count("HTTP/1.1 404 "), 2);
	CHECK_STR(stop(), "stopped after 4 requests on 3 connections\n");
}

TEST(names_the_port_that_is_taken)
{
	char command[512], line[256] = "", expected[256];
	FILE *out;

	start(NULL);
	snprintf(command, sizeof command, "'%s' --port %d 2>&1", getenv("WEFT_DEMO"), demo.port);
	snprintf(expected, sizeof expected, "weft-demo: cannot listen on port %d: %s\n", demo.port,
		 strerror(EADDRINUSE));
	out = popen(command, "r");
	CHECK(out != NULL);
	CHECK(fgets(line, sizeof line, out) != NULL);
	CHECK_STR(line, expected);
	CHECK_EQ(WEXITSTATUS(pclose(out)), EXIT_FAILURE);
	stop();
}

TEST(ends_although_clients_hold_on)
{
	int idle, half, slow;

	start(NULL);
	idle = dial();
	half = dial();
	slow = dial();
	say(half, "GET / HT");
	say(slow, "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n");
	hear(slow, 1);
	say(slow, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
	stop();
	close(idle);
	close(half);
	close(slow);
}

TEST(says_busy_when_overloaded)
{
	int fds[50], busy = 0;

	setenv("WEFT_WORKERS", "1", 1);
	start("WEFT_QUEUE_DEPTH=1");
	for (int i = 0; i < 50; i++) {
		fds[i] = dial();
		say(fds[i], "GET /slow HTTP/1.0\r\n\r\n");
	}
	for (int i = 0; i < 50; i++) {
		hear(fds[i], 0);
		CHECK_EQ(count("HTTP/1.1 200 ") + count("HTTP/1.1 503 "), 1);
		busy += count("HTTP/1.1 503 ");
		close(fds[i]);
	}
	CHECK(busy > 0);
	stop();
}

TEST(says_busy_when_it_has_too_many_connections)
{
	static int fds[501];

	start(NULL);
	for (int i = 0; i < 501; i++)
		fds[i] = dial();
	hear(fds[500], 0);
	CHECK_EQ(count("HTTP/1.1 503 "), 1);
	for (int i = 0; i < 501; i++)
		close(fds[i]);
	stop();
}

TEST_MAIN
