/* conformance.c - weft-httpd answers as HTTP says: files, ranges, conditions, bodies. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define END "Host: x\r\nConnection: close\r\n\r\n"

TEST(serves_files_with_their_type_and_length)
{
	site_make();
	SERVER();
	CHECK_EQ(get("/a.txt", ""), 200);
	CHECK_STR(body(), "abcdefghijklmnopqrstuvwxyz");
	CHECK_STR(header("Content-Type"), "text/plain; charset=utf-8");
	CHECK_STR(header("Content-Length"), "26");
	CHECK_STR(header("Connection"), "close");
	CHECK_STR(header("Accept-Ranges"), "bytes");
	CHECK(header("Date") != NULL && header("Last-Modified") != NULL);
	CHECK_EQ(get("/", ""), 200);
	CHECK_STR(body(), "<p>home</p>\n");
	CHECK_EQ(get("/dir/b%20c.txt?query", ""), 200);
	CHECK_STR(body(), "b c");
	CHECK_EQ(get("/within", ""), 200);
	CHECK_EQ(get("http://x/a.txt", ""), 200);
	CHECK_EQ(get("/none", ""), 404);
	CHECK_EQ(get("/dir", ""), 301);
	CHECK_STR(header("Location"), "/dir/");
	CHECK_EQ(get("/dir?a=b", ""), 301);
	CHECK_STR(header("Location"), "/dir/?a=b");
	CHECK_STR(server_end(), "stopped after 8 requests on 8 connections");
}

TEST(a_head_is_that_of_the_get_without_its_body)
{
	char got[4096];

	site_make();
	SERVER();
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(get(i == 0 ? "/a.txt" : "/none", ""), i == 0 ? 200 : 404);
		snprintf(got, sizeof got, "%.*s", (int)(body() - answer), answer);
		*strstr(got, "Date: ") = '\0';
		ask(i == 0 ? "HEAD /a.txt HTTP/1.1\r\n" END : "HEAD /none HTTP/1.1\r\n" END);
		CHECK_STR(body(), "");
		CHECK(header("Content-Length") != NULL);
		CHECK_EQ(strncmp(answer, got, strlen(got)), 0);
	}
	server_end();
}

static void check_large(size_t first, size_t size)
{
	const char *got = body();

	CHECK_EQ(answer + answer_size - got, size);
	for (size_t i = 0; i < size; i++)
		if (got[i] != site_byte(first + i))
			CHECK_EQ(i, size); /* the first that differs */
}

TEST(large_files_come_whole)
{
	site_make();
	SERVER();
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(get("/large.bin", ""), 200);
		check_large(0, FILES_LARGE);
	}
	CHECK_EQ(get("/large.bin", "Range: bytes=1000000-1999999\r\n"), 206);
	check_large(1000000, 1000000);
	CHECK_STR(header("Content-Range"), "bytes 1000000-1999999/3000000");
	CHECK_EQ(get("/large.bin", "Range: bytes=-5\r\n"), 206);
	check_large(FILES_LARGE - 5, 5);
	server_end();
}

TEST(answers_ranges)
{
	static const struct {
		const char *range;
		int status;
		const char *body, *content_range;
	} cases[] = {
		{ "bytes=0-0", 206, "a", "bytes 0-0/26" },
		{ "bytes=1-3", 206, "bcd", "bytes 1-3/26" },
		{ "bytes=24-", 206, "yz", "bytes 24-25/26" },
		{ "bytes=24-99999999999999999999999", 206, "yz", "bytes 24-25/26" },
		{ "bytes=-2", 206, "yz", "bytes 24-25/26" },
		{ "bytes=-100", 206, "abcdefghijklmnopqrstuvwxyz", "bytes 0-25/26" },
		{ "bytes=26-", 416, "", "bytes */26" },
		{ "bytes=99999999999999999999999-", 416, "", "bytes */26" },
		{ "bytes=-0", 416, "", "bytes */26" },
		{ "bytes=3-1", 200, NULL, NULL },
		{ "bytes=", 200, NULL, NULL },
		{ "bytes=-", 200, NULL, NULL },
		{ "bytes=a-b", 200, NULL, NULL },
		{ "lines=1-2", 200, NULL, NULL },
		{ "bytes=0-1,3-4", 200, NULL, NULL },
	};
	char line[128];

	site_make();
	SERVER();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(line, sizeof line, "Range: %s\r\n", cases[i].range);
		CHECK_EQ(get("/a.txt", line), cases[i].status);
		CHECK_STR(body(), cases[i].body ? cases[i].body : "abcdefghijklmnopqrstuvwxyz");
		if (cases[i].content_range != NULL)
			CHECK_STR(header("Content-Range"), cases[i].content_range);
	}
	server_end();
}

/* Asks with a condition: a name, and a value that may be of the file itself. */
static int with(const char *name, const char *value, const char *more)
{
	char line[512];

	snprintf(line, sizeof line, "%s: %s\r\n%s", name, value, more);
	return get("/a.txt", line);
}

TEST(answers_conditional_requests)
{
	static const char old[] = "Sun, 06 Nov 1994 08:49:37 GMT";
	static const char far[] = "Fri, 31 Dec 2100 08:49:37 GMT";
	char tag[64], weak[80], list[128], date[64];

	site_make();
	SERVER();
	CHECK_EQ(get("/a.txt", ""), 200);
	snprintf(tag, sizeof tag, "%s", header("ETag"));
	snprintf(date, sizeof date, "%s", header("Last-Modified"));
	snprintf(weak, sizeof weak, "W/%s", tag);
	snprintf(list, sizeof list, "\"x\", %s", tag);
	CHECK_EQ(with("If-None-Match", tag, ""), 304);
	CHECK_STR(body(), "");
	CHECK_STR(header("ETag"), tag);
	CHECK(header("Content-Length") == NULL);
	CHECK_EQ(with("If-None-Match", weak, ""), 304);
	CHECK_EQ(with("If-None-Match", list, ""), 304);
	CHECK_EQ(with("If-None-Match", "*", ""), 304);
	CHECK_EQ(with("If-None-Match", "\"x\"", ""), 200);
	CHECK_EQ(with("If-Modified-Since", date, ""), 304);
	CHECK_EQ(with("If-Modified-Since", far, ""), 304);
	CHECK_EQ(with("If-Modified-Since", old, ""), 200);
	CHECK_EQ(with("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT", ""), 200);
	CHECK_EQ(with("If-Modified-Since", "Sun Nov  6 08:49:37 1994", ""), 200);
	CHECK_EQ(with("If-Modified-Since", "yesterday", ""), 200);
	CHECK_EQ(with("If-Modified-Since", date, "If-None-Match: \"x\"\r\n"), 200);
	CHECK_EQ(with("If-Match", tag, ""), 200);
	CHECK_EQ(with("If-Match", weak, ""), 412);
	CHECK_EQ(with("If-Match", "\"x\"", ""), 412);
	CHECK_EQ(with("If-Unmodified-Since", date, ""), 200);
	CHECK_EQ(with("If-Unmodified-Since", old, ""), 412);
	CHECK_EQ(with("If-Range", tag, "Range: bytes=0-1\r\n"), 206);
	CHECK_EQ(with("If-Range", weak, "Range: bytes=0-1\r\n"), 200);
	CHECK_EQ(with("If-Range", date, "Range: bytes=0-1\r\n"), 206);
	CHECK_EQ(with("If-Range", old, "Range: bytes=0-1\r\n"), 200);
	server_end();
}

TEST(answers_requests_that_come_in_pieces_or_many_at_once)
{
	static const char three[] =
		"GET /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345"
		"\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"
		"GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	int fd;

	site_make();
	SERVER();
	fd = dial();
	say(fd, three);
	hear(fd, 0);
	CHECK_EQ(times("HTTP/1.1 200 "), 2);
	CHECK_EQ(times("HTTP/1.1 404 "), 1);
	close(fd);

	fd = dial();
	for (const char *at = three; *at != '\0'; at++)
		say(fd, (char[]){ *at, '\0' });
	hear(fd, 0);
	CHECK_EQ(times("HTTP/1.1 200 "), 2);
	CHECK_EQ(times("HTTP/1.1 404 "), 1);
	close(fd);

	fd = dial();
	for (int i = 0; i < 1000; i++)
		say(fd, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
	say(fd, "GET /a.txt HTTP/1.1\r\n" END);
	hear(fd, 0);
	CHECK_EQ(times("HTTP/1.1 200 "), 1001);
	close(fd);
	CHECK_STR(server_end(), "stopped after 1007 requests on 3 connections");
}

TEST(keeps_connections_as_each_version_says)
{
	int fd;

	site_make();
	SERVER();
	CHECK_EQ(ask("GET /a.txt HTTP/1.0\r\n\r\nGET /a.txt HTTP/1.0\r\n\r\n"), 200);
	CHECK_EQ(times("HTTP/1.1 200 "), 1);
	fd = dial();
	say(fd, "GET /a.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	CHECK_EQ(hear_reply(fd), 200);
	CHECK_STR(header("Connection"), "keep-alive");
	say(fd, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK_EQ(hear_reply(fd), 200);
	CHECK(header("Connection") == NULL);
	say(fd, "GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n");
	CHECK_EQ(hear_reply(fd), 200);
	CHECK_STR(header("Connection"), "close");
	hear(fd, 0);
	CHECK_EQ(answer_size, 0);
	close(fd);
	server_end();
}

static void talk(int fd, int requests)
{
	for (int i = 0; i < requests; i++) {
		say(fd, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
		CHECK_EQ(hear_reply(fd), 200);
	}
	close(fd);
}

/* The kernel is told to hand connections over late or at once, as the last ones were. */
TEST(serves_connections_that_come_at_once_or_with_their_first_request)
{
	enum { MANY = 100 };

	site_make();
	SERVER("--max-per-address", "0");
	for (int i = 0; i < 4 * MANY; i++) {
		int silent = dial(), requests = 1 + i / MANY % 2;

		talk(dial(), requests);
		talk(silent, requests);
	}
	server_end();
}

TEST(reads_bodies_however_they_come)
{
	int fd;

	SERVER();
	CHECK_EQ(ask("POST /echo HTTP/1.1\r\nContent-Length: 5\r\n" END "hello"), 200);
	CHECK_STR(body(), "5\r\nhello\r\n0\r\n\r\n");
	CHECK_EQ(ask("POST /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello"), 200);
	CHECK_STR(body(), "hello");
	CHECK_EQ(ask("POST /echo HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n" END
		     "5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n"),
		 200);
	CHECK_STR(body(), "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n");
	CHECK_EQ(ask("PUT /echo HTTP/1.1\r\nContent-Length: 0\r\n" END), 200);
	CHECK_STR(body(), "0\r\n\r\n");

	fd = dial();
	say(fd, "POST /echo HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n" END);
	hear(fd, 25);
	CHECK_STR(answer, "HTTP/1.1 100 Continue\r\n\r\n");
	say(fd, "hello");
	hear(fd, 0);
	CHECK_STR(body(), "5\r\nhello\r\n0\r\n\r\n");
	close(fd);

	fd = dial(); /* who does not want the body does not ask for it */
	say(fd,
	    "GET /none HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\nHost: x\r\n\r\n");
	hear(fd, 0);
	CHECK_EQ(times("HTTP/1.1"), 1);
	CHECK_EQ(times("HTTP/1.1 404 "), 1);
	close(fd);
	CHECK_EQ(ask("POST /echo HTTP/1.1\r\nExpect: tea\r\n" END), 417);
	server_end();
}

TEST(says_which_methods_there_are)
{
	site_make();
	SERVER();
	CHECK_EQ(ask("POST /a.txt HTTP/1.1\r\n" END), 405);
	CHECK_STR(header("Allow"), "GET, HEAD, OPTIONS");
	CHECK_EQ(ask("OPTIONS * HTTP/1.1\r\n" END), 204);
	CHECK_STR(header("Allow"), "GET, HEAD, OPTIONS");
	CHECK(header("Content-Length") == NULL);
	CHECK_EQ(ask("TRACE / HTTP/1.1\r\n" END), 405);
	CHECK_EQ(ask("BREW / HTTP/1.1\r\n" END), 501);
	CHECK_EQ(ask("CONNECT x:80 HTTP/1.1\r\n" END), 501);
	CHECK_EQ(ask("get / HTTP/1.1\r\n" END), 501);
	server_end();
}

TEST(sees_that_a_file_has_changed)
{
	char tag[64];

	site_make();
	SERVER("--cache-time", "0");
	CHECK_EQ(get("/a.txt", ""), 200);
	snprintf(tag, sizeof tag, "%s", header("ETag"));
	site_write("a.txt", "changed", 7);
	CHECK_EQ(get("/a.txt", ""), 200);
	CHECK_STR(body(), "changed");
	CHECK(strcmp(header("ETag"), tag) != 0);
	server_end();
}

TEST(the_cache_forgets_what_is_too_much)
{
	char name[32];

	site_make();
	SERVER("--cache-size", "100000");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "f%d.txt", i);
		site_write(name, name, strlen(name));
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 200; i++) {
			snprintf(name, sizeof name, "/f%d.txt", i);
			CHECK_EQ(get(name, ""), 200);
			CHECK_STR(body(), name + 1);
		}
	}
	CHECK(status_number("cache_loads") > 200);
	server_end();
}

static bool file_has(const char *name, const char *word)
{
	char text[4096] = "";
	FILE *in = fopen(name, "r");

	CHECK(in != NULL);
	CHECK(fread(text, 1, sizeof text - 1, in) < sizeof text);
	fclose(in);
	return strstr(text, word) != NULL;
}

TEST(the_log_has_a_line_for_each_request_and_is_opened_anew)
{
	char log[128], old[160];

	site_make();
	snprintf(log, sizeof log, "%s/log", site);
	snprintf(old, sizeof old, "%s.old", log);
	SERVER("--access-log", log);
	CHECK_EQ(get("/a.txt?\"\\", ""), 200);
	CHECK_EQ(get("/none", ""), 404);
	while (!file_has(log, "\"GET /none HTTP/1.1\" 404 "))
		;
	CHECK_EQ(rename(log, old), 0);
	CHECK_EQ(kill(server.pid, SIGHUP), 0);
	while (access(log, F_OK) != 0) /* it is opened before the next lines */
		CHECK_EQ(get("/dir/", ""), 200);
	CHECK_EQ(get("/dir/", ""), 200);
	server_end();
	CHECK(file_has(old, "127.0.0.1 - - ["));
	CHECK(file_has(old, "\"GET /a.txt?\\x22\\x5c HTTP/1.1\" 200 "));
	CHECK(file_has(log, "\"GET /dir/ HTTP/1.1\" 200 "));
}

/* All of one connection come one after the other, so their lines do, too. */
TEST(the_log_has_the_requests_of_a_connection_in_their_order)
{
	enum { REQUESTS = 200 };
	char log[128], line[256], target[32];
	int fd, n = 0, status;
	FILE *in;

	site_make();
	snprintf(log, sizeof log, "%s/log", site);
	SERVER("--access-log", log);
	fd = dial();
	for (int i = 0; i < REQUESTS; i++) {
		snprintf(line, sizeof line, "GET /%s?%d HTTP/1.1\r\nHost: x\r\n\r\n",
			 i % 3 == 0 ? "none" : "a.txt", i);
		say(fd, line);
		CHECK_EQ(hear_reply(fd), i % 3 == 0 ? 404 : 200);
	}
	close(fd);
	server_end();
	in = fopen(log, "r");
	CHECK(in != NULL);
	for (; fgets(line, sizeof line, in) != NULL; n++) {
		CHECK_EQ(sscanf(strchr(line, '"'), "\"GET /%31s HTTP/1.1\" %d ", target, &status),
			 2);
		CHECK_EQ(atoi(strchr(target, '?') + 1), n);
		CHECK_EQ(status, n % 3 == 0 ? 404 : 200);
	}
	CHECK_EQ(n, REQUESTS);
	fclose(in);
}

TEST(a_request_under_way_ends_before_the_server_does)
{
	int idle, half, slow;

	SERVER();
	idle = dial();
	half = dial();
	slow = dial();
	say(idle, "GET /none HTTP/1.1\r\nHost: x\r\n\r\n"); /* else it may not be accepted yet */
	CHECK_EQ(hear_reply(idle), 404);
	say(half, "GET / HT");
	say(slow, "GET /none HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK_EQ(hear_reply(slow), 404);
	say(slow, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
		  "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK_EQ(hear_reply(slow), 200);
	server_end();
	hear(slow, 0);
	CHECK(strstr(answer, "below 1000000 take 131434272 ") != NULL);
	CHECK(strstr(answer, "Connection: close\r\n") != NULL);
	hear(idle, 0);
	CHECK_EQ(answer_size, 0);
	close(idle);
	close(half);
	close(slow);
}

TEST(the_status_page_counts)
{
	SERVER();
	CHECK_EQ(get("/_status", ""), 200);
	CHECK(strstr(answer, "</html>") != NULL);
	while (status_number("requests") < 5) /* each counts the last one or, just then, does not */
		;
	while (status_number("open") > 1)
		;
	CHECK_EQ(status_number("replies_4xx"), 0);
	CHECK(status_number("replies_2xx") >= 5);
	CHECK_EQ(get("/none", ""), 404);
	while (status_number("replies_4xx") != 1)
		;
	CHECK_EQ(status_number("replies_5xx"), 0);
	server_end();
	SERVER("--status", "none");
	CHECK_EQ(get("/_status", ""), 404);
	server_end();
}

TEST(names_the_address_that_is_taken)
{
	char command[512], line[256] = "", expected[256];
	FILE *out;

	SERVER();
	snprintf(command, sizeof command, "'%s' --listen 127.0.0.1:%d 2>&1", getenv("WEFT_HTTPD"),
		 server_port);
	snprintf(expected, sizeof expected, "weft-httpd: cannot listen on 127.0.0.1:%d: %s\n",
		 server_port, strerror(EADDRINUSE));
	out = popen(command, "r");
	CHECK(out != NULL);
	CHECK(fgets(line, sizeof line, out) != NULL);
	CHECK_STR(line, expected);
	CHECK_EQ(WEXITSTATUS(pclose(out)), EXIT_FAILURE);
	server_end();
}

TEST_MAIN
