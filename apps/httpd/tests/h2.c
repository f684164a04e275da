/* h2.c - weft-httpd by HTTP/2, with clients that are slow, greedy or malicious. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h2_client.h"

/* Settings: the window of each stream, as a client wants it at first. */
#define NO_WINDOW "\0\4\0\0\0\0"
#define WIDE_WINDOW "\0\4\x7f\xff\xff\xff"

static int plain(void)
{
	return h2_dial("", 0);
}

static int status_of(int fd, int stream)
{
	while (h2_hear(fd))
		if (last.type == HEADERS && last.stream == stream)
			return last.status;
	return 0;
}

static int get_by_h2(const char *path)
{
	int fd = plain(), status;

	h2_ask(fd, 1, "GET", path, true);
	status = status_of(fd, 1);
	close(fd);
	return status;
}

/* The server gets all four in one piece, so that none is answered before the others are there. */
TEST(a_slow_request_does_not_hold_up_the_others)
{
	int fd, on = 1, off = 0;

	SERVER();
	fd = plain();
	CHECK_EQ(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
	h2_ask(fd, 1, "GET", "/slow", true);
	h2_ask(fd, 3, "GET", "/none", true);
	h2_ask(fd, 5, "GET", "/slow", true);
	h2_ask(fd, 7, "GET", "/", true);
	CHECK_EQ(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof off), 0);
	CHECK_EQ(h2_hear_end(fd) + h2_hear_end(fd), 3 + 7);
	CHECK_EQ(h2_hear_end(fd) + h2_hear_end(fd), 1 + 5);
	h2_ask(fd, 9, "GET", "/", true);
	CHECK_EQ(h2_hear_end(fd), 9);
	close(fd);
	CHECK_STR(server_end(), "stopped after 5 requests on 1 connections");
}

TEST(a_long_reply_does_not_hold_up_requests_behind_it)
{
	int fd;

	site_make();
	SERVER();
	fd = h2_dial(WIDE_WINDOW, 6);
	h2_say(fd, WINDOW_UPDATE, 0, 0, "\x7f\xff\0\0", 4);
	for (int i = 1; i <= 15; i += 2)
		h2_ask(fd, i, "GET", "/large.bin", true);
	do
		CHECK(h2_hear(fd));
	while (last.type != DATA);
	h2_ask(fd, 17, "GET", "/a.txt", true);
	CHECK_EQ(h2_hear_end(fd), 17);
	close(fd);
	while (status_number("open") > 1)
		;
	server_end();
}

TEST(requests_under_way_are_answered_before_the_server_ends)
{
	int fd;

	SERVER();
	do { /* until the slow one is still under way */
		fd = plain();
		h2_ask(fd, 1, "GET", "/slow", true);
		h2_ask(fd, 3, "GET", "/", true);
	} while (h2_hear_end(fd) != 3);
	kill(server.pid, SIGTERM);
	CHECK_EQ(h2_hear_end(fd), 1);
	CHECK_EQ(last.type, DATA);
	while (h2_hear(fd))
		;
	close(fd);
}

TEST(a_long_reply_goes_on_while_the_server_ends)
{
	size_t size = 0;
	int fd;

	site_make();
	SERVER();
	fd = plain();
	h2_ask(fd, 1, "GET", "/large.bin", true);
	do {
		CHECK(h2_hear(fd));
		size += last.type == DATA ? last.size : 0;
	} while (size < 65535); /* that is all that it may send */
	kill(server.pid, SIGTERM);
	do
		CHECK(h2_hear(fd));
	while (last.type != GOAWAY);
	h2_say(fd, WINDOW_UPDATE, 0, 0, "\0\x40\0\0", 4);
	h2_say(fd, WINDOW_UPDATE, 0, 1, "\0\x40\0\0", 4);
	do {
		CHECK(h2_hear(fd));
		size += last.type == DATA ? last.size : 0;
	} while (!(last.flags & END_STREAM));
	CHECK_EQ(size, FILES_LARGE);
	while (h2_hear(fd))
		;
	close(fd);
}

TEST(who_has_said_all_gets_the_answers_all_the_same)
{
	int fd;

	SERVER();
	fd = plain();
	h2_ask(fd, 1, "GET", "/slow", true);
	shutdown(fd, SHUT_WR);
	CHECK_EQ(status_of(fd, 1), 200);
	CHECK_EQ(h2_hear_end(fd), 1);
	CHECK(!h2_hear(fd) || last.type == GOAWAY);
	close(fd);
	server_end();
}

TEST(a_long_location_comes_whole)
{
	char name[201] = "", path[2048], made[400];

	site_make();
	memset(name, 'n', 200);
	snprintf(made, sizeof made, "%s/%s", site, name);
	CHECK_EQ(mkdir(made, 0755), 0);
	SERVER();
	snprintf(path, sizeof path, "/%s?%0900d", name, 0);
	CHECK_EQ(get_by_h2(path), 301);
	snprintf(path, sizeof path, "/%s/?%0900d", name, 0);
	CHECK_STR(last.location, path);
	server_end();
}

TEST(a_body_that_is_too_long_is_refused_before_its_end)
{
	static const char much[10000];
	int fd;

	SERVER("--max-body", "15000");
	fd = plain();
	h2_ask(fd, 1, "POST", "/echo", false);
	for (int i = 0; i < 2; i++)
		h2_say(fd, DATA, 0, 1, much, sizeof much);
	CHECK_EQ(status_of(fd, 1), 413);
	for (int i = 0; i < 120; i++) /* that is as much as we are let */
		h2_say(fd, DATA, 0, 1, much, sizeof much);
	while (last.type != RST_STREAM)
		CHECK(h2_hear(fd));
	h2_ask(fd, 3, "POST", "/echo", false); /* what was thrown away does not count any more */
	h2_say(fd, DATA, END_STREAM, 3, much, sizeof much);
	CHECK_EQ(status_of(fd, 3), 200);
	close(fd);
	server_end();
}

TEST(all_heads_and_bodies_of_a_connection_have_a_limit)
{
	static char name[8000], many[15000];
	int fd, refused = 0;

	SERVER("--max-body", "15000");
	memcpy(many, "\x82\x84\x86\x01\x01x\0\x01y\x7f\x81\x60", 12); /* y: of 12,416 */
	memset(many + 12, 'y', 12416);
	fd = plain();
	for (int i = 1; i < 60; i += 2)
		h2_say(fd, HEADERS, END_HEADERS, i, many, 12 + 12416);
	CHECK_EQ(status_of(fd, 43), 503);
	CHECK_EQ(get_by_h2("/"), 200);
	close(fd);

	fd = plain();
	for (int i = 1; i < 9; i += 2) {
		h2_ask(fd, i, "POST", "/echo", false);
		h2_say(fd, DATA, 0, i, name, sizeof name);
	}
	for (int i = 0; i < 3; i++) {
		do
			CHECK(h2_hear(fd));
		while (last.type != HEADERS);
		refused += last.status == 503;
	}
	CHECK_EQ(refused, 3);
	close(fd);
	server_end();
}

static void echo(int fd, int stream, size_t size)
{
	static const char much[16000];

	h2_ask(fd, stream, "POST", "/echo", false);
	for (; size > sizeof much; size -= sizeof much)
		h2_say(fd, DATA, 0, stream, much, sizeof much);
	h2_say(fd, DATA, END_STREAM, stream, much, size);
}

/* Lets all that waits go. */
static void widen(int fd)
{
	h2_say(fd, SETTINGS, 0, 0, WIDE_WINDOW, 6);
	h2_say(fd, WINDOW_UPDATE, 0, 0, "\0\x10\0\0", 4);
}

TEST(replies_that_wait_for_the_client_have_a_limit)
{
	int fd;

	SERVER("--max-unsent", "20000", "--max-body", "100000");
	fd = h2_dial(NO_WINDOW, 6);
	echo(fd, 1, 9000);
	CHECK_EQ(status_of(fd, 1), 200);
	echo(fd, 3, 15000); /* there is no room for it beside that */
	CHECK_EQ(status_of(fd, 3), 503);
	widen(fd);
	CHECK_EQ(h2_hear_end(fd) + h2_hear_end(fd), 1 + 3);
	echo(fd, 5, 21000); /* it is too long, even alone */
	CHECK_EQ(status_of(fd, 5), 500);
	CHECK_EQ(h2_hear_end(fd), 5);
	echo(fd, 7, 20000);
	CHECK_EQ(status_of(fd, 7), 200);
	CHECK_EQ(h2_hear_end(fd), 7);
	close(fd);
	server_end();
}

/* Both that were begun hold more than half of what is allowed. */
TEST(requests_wait_while_replies_wait_for_the_client)
{
	int fd;

	SERVER("--max-unsent", "20000", "--max-body", "100000");
	fd = h2_dial(NO_WINDOW, 6);
	for (int i = 1; i <= 19; i += 2)
		echo(fd, i, 8000);
	CHECK_EQ(status_of(fd, 3), 200);
	for (int i = 0; i < 2; i++) {
		h2_say(fd, PING, 0, 0, "12345678", 8);
		do {
			CHECK(h2_hear(fd));
			CHECK(last.type != HEADERS);
		} while (last.type != PING);
	}
	widen(fd);
	for (int i = 5; i <= 19; i += 2)
		CHECK_EQ(status_of(fd, i), 200);
	close(fd);
	server_end();
}

TEST(pings_do_not_make_an_idle_connection_stay)
{
	int fd;

	SERVER("--head-time", "150");
	fd = plain();
	do
		h2_say(fd, PING, 0, 0, "12345678", 8);
	while (h2_hear(fd));
	close(fd);
	CHECK_EQ(get_by_h2("/"), 200);
	server_end();
}

/* Goes on with other requests until the server has had enough of the one. */
static void ask_until_reset(int fd, int stream)
{
	int next = stream;

	do {
		next += 2;
		h2_ask(fd, next, "HEAD", "/", true);
		while (h2_hear_end(fd) != next && last.stream != stream)
			;
	} while (last.stream != stream);
	CHECK_EQ(last.type, RST_STREAM);
	h2_ask(fd, next + 2, "HEAD", "/", true);
	while (h2_hear_end(fd) != next + 2)
		CHECK(last.type == HEADERS);
}

TEST(a_stream_that_does_not_move_is_ended_while_others_go_on)
{
	int fd;

	site_make();
	SERVER("--send-time", "150", "--body-time", "150");
	fd = h2_dial(NO_WINDOW, 6);
	h2_ask(fd, 1, "GET", "/large.bin", true);
	ask_until_reset(fd, 1);
	close(fd);
	fd = plain();
	h2_ask(fd, 1, "POST", "/", false);
	ask_until_reset(fd, 1);
	close(fd);
	CHECK(status_number("late") >= 2);
	server_end();
}

TEST(handlers_of_requests_that_were_taken_back_are_not_too_many)
{
	int fd;

	SERVER();
	fd = plain();
	for (int i = 1; i < 600; i += 2) {
		h2_ask(fd, i, "GET", "/slow", true);
		h2_say(fd, RST_STREAM, 0, i, "\0\0\0\x08", 4);
	}
	while (h2_hear(fd))
		;
	close(fd);
	CHECK(status_number("threads") < 150);
	CHECK_EQ(get_by_h2("/"), 200);
	kill(server.pid, SIGKILL); /* nobody waits for the numbers */
}

/* Says this again and again, until the server closes. */
static void flood(int fd, int type, int flags, int stream, const void *data, size_t size)
{
	static char scrap[1 << 16];

	while (recv(fd, scrap, sizeof scrap, MSG_DONTWAIT) != 0 &&
	       send(fd, "", 0, MSG_NOSIGNAL) == 0)
		h2_say(fd, type, flags, stream, data, size);
	close(fd);
	CHECK_EQ(get_by_h2("/"), 200);
}

TEST(floods_end_the_connection)
{
	char block[100] = "";
	int fd;

	SERVER("--head-time", "500");
	memset(block, '\x86', sizeof block);
	fd = plain(); /* a head that never ends */
	h2_say(fd, HEADERS, 0, 1, "\x82\x84", 2);
	flood(fd, CONTINUATION, 0, 1, block, sizeof block);
	fd = plain();
	h2_say(fd, HEADERS, 0, 1, "\x82\x84", 2);
	flood(fd, CONTINUATION, 0, 1, "", 0);
	flood(plain(), SETTINGS, 0, 0, "", 0);
	flood(plain(), PING, 0, 0, "12345678", 8);
	flood(plain(), PRIORITY, 0, 1, "\0\0\0\3\1", 5);
	flood(plain(), WINDOW_UPDATE, 0, 0, "\0\1\0\0", 4);
	server_end();
}

TEST(a_small_head_does_not_grow_without_limit)
{
	static char block[16000];
	size_t size = 0;
	int fd;

	SERVER();
	fd = plain();
	memcpy(block, "\x82\x84\x86\x01\x01x\x40\x01y\x7f\x81\x1d", 12); /* of 3,840, kept */
	memset(block + 12, 'y', 3840);
	h2_say(fd, HEADERS, END_HEADERS | END_STREAM, 1, block, 12 + 3840);
	CHECK_EQ(status_of(fd, 1), 200);
	size = 6;
	memset(block + size, '\xbe', 10000); /* that one, ten thousand times: 38 MB */
	h2_say(fd, HEADERS, END_HEADERS | END_STREAM, 3, block, size + 10000);
	CHECK_EQ(status_of(fd, 3), 431);
	CHECK_EQ(get_by_h2("/"), 200);
	close(fd);
	server_end();
}

TEST(enough_requests_taken_back_are_enough)
{
	SERVER();
	for (int whole = 0; whole < 2; whole++) {
		int fd = plain();

		for (int i = 1; i < 100000 && send(fd, "", 0, MSG_NOSIGNAL) == 0 &&
				recv(fd, answer, sizeof answer, MSG_DONTWAIT) != 0;
		     i += 2) {
			h2_ask(fd, i, "GET", "/", whole);
			h2_say(fd, RST_STREAM, 0, i, "\0\0\0\x08", 4);
		}
		while (h2_hear(fd))
			;
		close(fd);
		CHECK_EQ(get_by_h2("/"), 200);
	}
	server_end();
}

TEST(survives_random_frames)
{
	uint64_t state = TEST_SEED;
	int rounds = test_full() ? 100000 : TEST_SIZE(2000);
	uint8_t data[64];

	site_make();
	SERVER("--head-time", "1000", "--body-time", "1000");
	for (int i = 0; i < rounds; i++) {
		int fd = plain();

		for (uint64_t n = test_random(&state) % 8; n > 0; n--) {
			size_t size = test_random(&state) % sizeof data;

			for (size_t j = 0; j < size; j++)
				data[j] = (uint8_t)test_random(&state);
			memcpy(data, "\x82\x84\x86\x41\x01x", 6);
			h2_say(fd, (int)(test_random(&state) % 11),
			       test_random(&state) % 2 ? 5 : (int)(test_random(&state) % 256),
			       (int)(test_random(&state) % 8), data, size);
		}
		shutdown(fd, SHUT_WR);
		hear(fd, 0);
		close(fd);
	}
	CHECK_EQ(get("/", ""), 200);
	while (status_number("open") > 1)
		;
	server_end();
}

TEST_MAIN
