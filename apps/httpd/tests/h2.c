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

enum { PROTOCOL_ERROR = 1, REFUSED_STREAM = 7, ENHANCE_YOUR_CALM = 11 };

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

/* A body that is begun, so much of it, and does not end. */
static int begin_body(size_t size)
{
	static const char much[16000];
	int fd = plain();

	h2_ask(fd, 1, "POST", "/echo", false);
	h2_say(fd, DATA, 0, 1, much, size);
	h2_say(fd, PING, 0, 0, "12345678", 8); /* its answer shows that all of it has come */
	return fd;
}

TEST(a_body_that_will_be_too_long_is_refused_before_it_comes)
{
	static const char *const lengths[] = { "1001", "99999999999999999",
					       "18446744073709551615" };
	char block[64] = "\x83\x86\x01\x01x\x04\x05/echo\x0f\x0d";
	size_t size = strlen(block);
	int fd;

	SERVER("--max-body", "1000", "--body-time", "3600000");
	for (int i = 0; i < 3; i++) {
		fd = plain();
		snprintf(block + size, sizeof block - size, "%c%s", (char)strlen(lengths[i]),
			 lengths[i]);
		h2_say(fd, HEADERS, END_HEADERS, 1, block, strlen(block));
		do
			CHECK(h2_hear(fd));
		while (last.type != HEADERS && last.type != RST_STREAM);
		CHECK(i == 2 || last.type == HEADERS); /* that is no length for nghttp2 */
		CHECK(last.type == RST_STREAM || last.status == 413);
		close(fd);
	}
	CHECK_EQ(get_by_h2("/"), 200);
	server_end();
}

TEST(heads_and_bodies_of_all_connections_have_a_limit)
{
	static const char some[1000];
	int fds[6], refused = 0, fd;

	SERVER("--max-head", "1000", "--max-kept", "40000", "--body-time", "3600000");
	for (int i = 0; i < 6; i++) { /* two find room */
		fds[i] = begin_body(15000);
		do
			CHECK(h2_hear(fds[i]));
		while (last.type != HEADERS && last.type != PING);
		refused += last.type == HEADERS && last.status == 503;
		CHECK_EQ(refused, i < 2 ? 0 : i - 1);
	}
	CHECK_EQ(get_by_h2("/"), 200);
	fd = plain();
	h2_ask(fd, 1, "POST", "/echo", false); /* what is small is no matter */
	h2_say(fd, DATA, END_STREAM, 1, some, 500);
	CHECK_EQ(status_of(fd, 1), 200);
	close(fd);
	for (int i = 0; i < 6; i++)
		close(fds[i]);
	while (status_number("open") > 1) /* until it has noticed that they are gone */
		;
	for (int i = 0; i < 2; i++) {
		fd = begin_body(15000);
		h2_say(fd, DATA, END_STREAM, 1, "", 0);
		CHECK_EQ(status_of(fd, 1), 200);
		close(fd);
	}
	server_end();
}

TEST(streams_of_all_connections_have_a_limit)
{
	int fds[3];

	SERVER("--max-head", "1000", "--max-kept", "310000", "--body-time", "3600000");
	for (int i = 0; i < 3; i++) { /* there is room for nearly 150 */
		fds[i] = plain();
		for (int j = 1; j < 140; j += 2)
			h2_ask(fds[i], j, "POST", "/echo", false);
		h2_say(fds[i], PING, 0, 0, "12345678", 8);
		do
			CHECK(h2_hear(fds[i]));
		while (last.type != PING && last.type != RST_STREAM);
		CHECK_EQ(last.type, i < 2 ? PING : RST_STREAM);
	}
	CHECK_EQ(last.data[3], REFUSED_STREAM);
	CHECK_EQ(get_by_h2("/"), 200);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	server_end();
}

TEST(who_tries_again_while_others_take_all_room_is_not_ended)
{
	int fds[2];

	SERVER("--max-head", "1000", "--max-kept", "100000", "--body-time", "3600000");
	for (int i = 0; i < 2; i++) {
		fds[i] = plain();
		for (int j = 1; j < 140; j += 2)
			h2_ask(fds[i], j, "POST", "/echo", false);
		h2_say(fds[i], PING, 0, 0, "12345678", 8);
		do
			CHECK(h2_hear(fds[i]));
		while (last.type != PING);
	}
	for (int i = 141; i < 800; i += 2) {
		h2_ask(fds[1], i, "GET", "/", true);
		do
			CHECK(h2_hear(fds[1]));
		while (last.stream != i);
		CHECK_EQ(last.type, RST_STREAM);
		CHECK_EQ(last.data[3], REFUSED_STREAM);
	}
	for (int i = 0; i < 2; i++)
		close(fds[i]);
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

TEST(replies_that_wait_have_a_limit_for_all_connections)
{
	int fds[6], fd;

	SERVER("--max-head", "1000", "--max-kept", "50000", "--send-time", "3600000");
	for (int i = 0; i < 6; i++) {
		fds[i] = h2_dial(NO_WINDOW, 6);
		echo(fds[i], 1, 12000);
		CHECK_EQ(status_of(fds[i], 1), i < 2 ? 200 : 503);
	}
	CHECK_EQ(get("/", ""), 200);
	for (int i = 0; i < 6; i++)
		close(fds[i]);
	while (status_number("open") > 1) /* until it has noticed that they are gone */
		;
	fd = plain();
	echo(fd, 1, 12000);
	CHECK_EQ(status_of(fd, 1), 200);
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

TEST(requests_that_would_wait_for_ever_end_with_the_clients_side)
{
	int fd;

	SERVER("--max-unsent", "20000", "--max-body", "100000", "--send-time", "3600000");
	fd = h2_dial(NO_WINDOW, 6);
	for (int i = 1; i <= 7; i += 2)
		echo(fd, i, 8000);
	CHECK_EQ(status_of(fd, 3), 200);
	shutdown(fd, SHUT_WR);
	while (h2_hear(fd))
		;
	close(fd);
	server_end();
}

TEST(pings_do_not_make_an_idle_connection_stay)
{
	int fd;

	SERVER("--head-time", "500");
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

	SERVER("--body-time", "150");
	fd = plain();
	h2_ask(fd, 1, "POST", "/echo", false);
	ask_until_reset(fd, 1);
	close(fd);
	CHECK(status_number("late") >= 1);
	server_end();
	site_make();
	SERVER("--send-time", "150");
	fd = h2_dial(NO_WINDOW, 6);
	h2_ask(fd, 1, "GET", "/large.bin", true);
	ask_until_reset(fd, 1);
	close(fd);
	CHECK(status_number("late") >= 1);
	server_end();
}

TEST(a_method_that_is_not_allowed_is_refused_before_its_body)
{
	static const char *const bad[] = { "POST /",   "GET /",         "PUT /", "PATCH /a",
					   "DELETE /", "OPTIONS /echo", "NONE /" };
	static const int status[] = { 405, 200, 405, 404, 405, 204, 501 };
	static const char some[10000];
	char method[16], path[16];
	int fd;

	SERVER("--max-body", "1000", "--body-time", "3600000");
	fd = plain();
	for (int i = 0; i < 7; i++) {
		CHECK_EQ(sscanf(bad[i], "%15s %15s", method, path), 2);
		h2_ask(fd, 2 * i + 1, method, path, false);
		if (i != 1) /* its handler could read a body */
			CHECK_EQ(status_of(fd, 2 * i + 1), status[i]);
		h2_say(fd, DATA, END_STREAM, 2 * i + 1, some, i == 1 ? 1000 : sizeof some);
		if (i == 1)
			CHECK_EQ(status_of(fd, 2 * i + 1), status[i]);
	}
	close(fd);
	server_end();
	site_make();
	SERVER("--max-body", "1000", "--body-time", "3600000");
	fd = plain();
	h2_ask(fd, 1, "POST", "/a.txt", false);
	CHECK_EQ(status_of(fd, 1), 405);
	h2_ask(fd, 3, "GET", "/a.txt", false);
	CHECK_EQ(status_of(fd, 3), 200);
	h2_say(fd, DATA, END_STREAM, 3, some, sizeof some);
	close(fd);
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

/* The connection ends with this error. */
static void check_goaway(int fd, int error)
{
	do
		CHECK(h2_hear(fd));
	while (last.type != GOAWAY);
	CHECK_EQ(last.data[7], error);
	while (h2_hear(fd))
		CHECK_EQ(last.type, GOAWAY);
	close(fd);
}

/* Reads some of a long reply. */
static void hear_data(int fd, size_t *size, size_t most)
{
	for (size_t until = *size + most; *size < until;) {
		CHECK(h2_hear(fd));
		CHECK(last.type != GOAWAY && last.type != RST_STREAM);
		*size += last.type == DATA ? last.size : 0;
	}
}

TEST(frames_without_effect_end_the_connection)
{
	static const struct {
		int type, stream;
		const char *data;
		size_t size;
	} kinds[] = {
		{ WINDOW_UPDATE, 0, "\0\0\0\1", 4 },
		{ PRIORITY, 3, "\0\0\0\0\1", 5 },
		{ DATA, 1, "", 0 },
		{ 0x55, 0, "", 0 }, /* unknown */
	};
	int fd;

	SERVER("--head-time", "3600000", "--body-time", "3600000", "--idle-time", "3600000");
	for (int i = 0; i < 4; i++) {
		fd = plain();
		h2_ask(fd, 1, "POST", "/echo", false);
		for (int j = 0; j < 10100; j++)
			h2_say(fd, kinds[i].type, 0, kinds[i].stream, kinds[i].data, kinds[i].size);
		check_goaway(fd, ENHANCE_YOUR_CALM);
	}
	server_end();
}

TEST(windows_may_grow_by_bytes_while_replies_use_them)
{
	size_t size = 0;
	int fd;

	site_make();
	SERVER();
	fd = h2_dial(NO_WINDOW, 6);
	h2_ask(fd, 1, "GET", "/large.bin", true);
	while (size < 12000) {
		h2_say(fd, WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4);
		hear_data(fd, &size, 1);
	}
	close(fd);
	server_end();
}

/* As clients do that read by so much at a time. */
TEST(a_client_may_announce_what_it_has_taken_in_small_steps)
{
	enum { STEP = 64, FRAME = 13 };
	static const char step[2 * FRAME] = "\0\0\4\x08\0\0\0\0\1\0\0\0\x40"
					    "\0\0\4\x08\0\0\0\0\0\0\0\0\x40";
	static char steps[(1 << 16) / STEP * sizeof step];
	size_t size = 0, count = 0;
	int fd;

	for (size_t i = 0; i < sizeof steps; i++)
		steps[i] = step[i % sizeof step];
	site_make();
	SERVER();
	fd = plain();
	h2_ask(fd, 1, "GET", "/large.bin", true);
	for (; size < FILES_LARGE; count = size / STEP) {
		hear_data(fd, &size, 1);
		say_bytes(fd, steps, (size / STEP - count) * sizeof step);
	}
	CHECK_EQ(size, FILES_LARGE);
	close(fd);
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

/* A head that comes byte by byte, each after a while in which much else is sent. */
TEST(a_head_may_pause_while_replies_go_on)
{
	static const char head[] = "\0\0\2\1\1\0\0\0\x15\x82\x84" /* HEADERS, not the last */
				   "\0\0\1\x9\0\0\0\0\x15\x86"    /* CONTINUATION */
				   "\0\0\3\x9\4\0\0\0\x15\x01\x01x";
	size_t size = 0, bytes = sizeof head - 1;
	int fd;

	site_make();
	SERVER("--head-time", "3600000");
	fd = h2_dial(WIDE_WINDOW, 6);
	h2_say(fd, WINDOW_UPDATE, 0, 0, "\x7f\xff\0\0", 4);
	for (int i = 1; i < 21; i += 2) /* more than the kernel's buffers hold */
		h2_ask(fd, i, "GET", "/large.bin", true);
	for (size_t i = 0; i < bytes; i++) {
		hear_data(fd, &size, 10 * FILES_LARGE / bytes - (1 << 16));
		say_bytes(fd, head + i, 1);
	}
	CHECK_EQ(status_of(fd, 21), 200);
	close(fd);
	server_end();
}

TEST(a_head_that_does_not_come_to_its_end_ends_the_connection)
{
	enum { COUNT = 6 };
	static const struct {
		const char *bytes;
		size_t size;
	} beginnings[COUNT] = {
		{ "\0\0\2\1\1\0\0\0\1", 9 },                /* nothing */
		{ "\0\0\2\1\1\0\0\0\1\x82\x84", 11 },       /* no CONTINUATION */
		{ "\0\0\2\1\5\0\0\0\1\x82", 10 },           /* not all of it */
		{ "\0\0\2\1\1\0\0\0\1\x82\x84\0\0\1", 14 }, /* half a head of a frame */
		{ "\0\0\2\1\1\0\0\0\1\x82\x84\0\0\1\x9\4\0\0\0\1", 20 }, /* the last byte */
		{ "\0\0\6\1\4\0\0\0\1\x83\x84\x86\x01\x01x"              /* trailers */
		  "\0\0\2\1\1\0\0\0\1\0\1",
		  26 },
	};
	int fds[COUNT];

	SERVER("--head-time", "1000");
	for (int i = 0; i < COUNT; i++) {
		fds[i] = plain();
		say_bytes(fds[i], beginnings[i].bytes, beginnings[i].size);
	}
	for (int i = 0; i < COUNT; i++)
		check_goaway(fds[i], ENHANCE_YOUR_CALM);
	CHECK(status_number("late") >= COUNT);
	server_end();
}

/* A head that is a little longer than allowed gets 431. */
TEST(a_field_that_does_not_come_to_its_end_is_not_kept_without_limit)
{
	static char block[8000];
	int fd;

	SERVER("--head-time", "3600000", "--max-head", "1000");
	memset(block, 'x', sizeof block);
	memcpy(block, "\x82\x84\x86\x01\x01x\0\x01x\x7f\xe7\x0d", 12); /* a value of 1,894 */
	fd = plain();
	h2_say(fd, HEADERS, END_HEADERS | END_STREAM, 1, block, 12 + 1894);
	CHECK_EQ(status_of(fd, 1), 431);
	memcpy(block, "\0\x7f\x81\xfe\x03", 5); /* a name of 65,280 */
	h2_say(fd, HEADERS, 0, 3, block, 1000);
	h2_say(fd, CONTINUATION, 0, 3, block, 1000);
	h2_say(fd, CONTINUATION, 0, 3, block, 1);
	check_goaway(fd, ENHANCE_YOUR_CALM);
	server_end();
}

TEST(a_head_of_many_frames_ends_the_connection)
{
	int fd;

	SERVER("--head-time", "3600000");
	fd = plain();
	h2_say(fd, HEADERS, 0, 1, "\x82\x84", 2);
	for (int i = 0; i < 100; i++)
		h2_say(fd, CONTINUATION, 0, 1, "", 0);
	check_goaway(fd, ENHANCE_YOUR_CALM);
	server_end();
}

TEST(a_stream_that_comes_after_a_later_one_ends_the_connection)
{
	int fd;

	SERVER();
	fd = plain();
	h2_ask(fd, 5, "GET", "/", true);
	h2_ask(fd, 3, "GET", "/", true);
	check_goaway(fd, PROTOCOL_ERROR);
	fd = plain();
	h2_ask(fd, 1, "GET", "/", true);
	h2_ask(fd, 7, "POST", "/echo", false);
	h2_say(fd, WINDOW_UPDATE, 0, 7, "\x7f\xff\xff\xff", 4);          /* the server resets it */
	h2_say(fd, HEADERS, END_HEADERS | END_STREAM, 7, "\0\1x\1y", 5); /* late trailers */
	h2_ask(fd, 9, "GET", "/", true);
	CHECK_EQ(status_of(fd, 9), 200);
	close(fd);
	server_end();
}

/* On a port for both, whatever is not the preface of HTTP/2 is HTTP/1 (RFC 9113, 3.4). */
TEST(a_bad_preface_is_refused)
{
	int fd;

	SERVER();
	CHECK_EQ(ask("INVALID CONNECTION PREFACE\r\n\r\n"), 400);
	fd = dial();
	say(fd, "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
	check_goaway(fd, PROTOCOL_ERROR);
	server_end();
}

/* A client that makes us reset its streams is as bad as one that does. */
TEST(enough_streams_that_had_to_be_reset_are_enough)
{
	int fd;

	SERVER();
	fd = plain();
	for (int i = 1; i < 400; i += 2) {
		h2_ask(fd, i, "POST", "/echo", false);
		h2_say(fd, WINDOW_UPDATE, 0, i, "\x7f\xff\xff\xff", 4);
	}
	check_goaway(fd, ENHANCE_YOUR_CALM);
	server_end();
}

TEST(empty_frames_of_a_body_give_it_no_more_time)
{
	int fd;

	SERVER("--body-time", "150");
	fd = plain();
	h2_ask(fd, 1, "POST", "/echo", false);
	do {
		h2_say(fd, DATA, 0, 1, "", 0);
		h2_say(fd, PING, 0, 0, "12345678", 8);
		CHECK(h2_hear(fd));
	} while (last.type != RST_STREAM);
	close(fd);
	server_end();
}

TEST(a_window_that_grows_by_bytes_gives_a_reply_no_more_time)
{
	int fd;

	site_make();
	SERVER("--send-time", "150");
	fd = h2_dial(NO_WINDOW, 6);
	h2_ask(fd, 1, "GET", "/large.bin", true);
	do {
		h2_say(fd, WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4);
		CHECK(h2_hear(fd));
	} while (last.type != RST_STREAM);
	h2_ask(fd, 3, "GET", "/none", true);
	CHECK_EQ(status_of(fd, 3), 404);
	close(fd);
	server_end();
}

TEST(windows_that_are_too_wide_are_refused)
{
	int fd;

	SERVER();
	fd = plain();
	h2_say(fd, WINDOW_UPDATE, 0, 0, "\x7f\xff\xff\xff", 4);
	check_goaway(fd, 3); /* FLOW_CONTROL_ERROR */
	fd = h2_dial("\0\4\x80\0\0\0", 6);
	check_goaway(fd, 3);
	server_end();
}

/* A field that would be two in the head of HTTP/1. */
TEST(no_field_becomes_another)
{
	static const struct {
		const char *bytes;
		size_t size;
	} fields[] = {
		{ "\0\1x\x8y\r\nhost:z", 12 },
		{ "\0\1x\1\r", 5 },
		{ "\0\1x\1\n", 5 },
		{ "\0\1x\1\0", 5 },
		{ "\0\4x: y\1z", 8 },
		{ "\0\3x\r\n\1z", 7 },
		{ "\4\4/a b", 6 },
		{ "\4\xd/ HTTP/1.1\r\nx", 15 },
		{ "\1\3x\r\n", 5 },
		{ "\1\3x y", 5 },
	};
	char block[64];
	int fd;

	SERVER();
	fd = plain();
	for (int i = 0; i < (int)(sizeof fields / sizeof *fields); i++) {
		bool path = fields[i].bytes[0] == 4, host = fields[i].bytes[0] == 1;
		size_t size = (size_t)sprintf(block, "\x82\x86%s%s", path ? "" : "\x84",
					      host ? "" : "\x01\x01x");

		memcpy(block + size, fields[i].bytes, fields[i].size);
		h2_say(fd, HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, block,
		       size + fields[i].size);
		CHECK_EQ(h2_hear_end(fd), 2 * i + 1);
		CHECK(last.type == RST_STREAM || last.type == DATA);
		if (last.type == DATA)
			CHECK_EQ(last.status, 400);
	}
	h2_ask(fd, 99, "GET", "/", true);
	CHECK_EQ(status_of(fd, 99), 200);
	close(fd);
	server_end();
}

TEST(silent_connections_and_streams_give_way)
{
	int fds[16];

	SERVER("--max-connections", "8", "--head-time", "3600000", "--body-time", "3600000",
	       "--idle-time", "3600000");
	for (int i = 0; i < 16; i++) {
		fds[i] = plain();
		if (i % 4 == 1)
			h2_say(fds[i], HEADERS, 0, 1, "\x82\x84", 2);
		if (i % 4 == 2)
			h2_ask(fds[i], 1, "POST", "/echo", false);
		if (i % 4 == 3) {
			h2_ask(fds[i], 1, "GET", "/", true);
			CHECK_EQ(status_of(fds[i], 1), 200);
		}
	}
	for (int i = 0; i < 16; i++)
		while (get_by_h2("/") != 200) /* until it has read what they said */
			;
	for (int i = 0; i < 16; i++)
		close(fds[i]);
	server_end();
}

TEST(downloads_that_the_client_does_not_let_go_on_give_way)
{
	int fds[8];

	site_make();
	SERVER("--max-connections", "8", "--send-time", "3600000", "--idle-time", "3600000");
	for (int i = 0; i < 8; i++) {
		fds[i] = h2_dial(NO_WINDOW, 6);
		h2_ask(fds[i], 1, "GET", "/large.bin", true);
		CHECK_EQ(status_of(fds[i], 1), 200);
	}
	while (get("/a.txt", "") != 200) /* until it has found that they take nothing more */
		;
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	server_end();
}

/* By then the server has looked several times whether it is to stop. */
TEST(a_download_that_stands_still_gives_way_before_a_newer_idle_connection)
{
	int still, idle, silent, newer;

	site_make();
	SERVER("--max-connections", "3", "--send-time", "3600000", "--idle-time", "3600000",
	       "--head-time", "2500");
	still = h2_dial(NO_WINDOW, 6);
	h2_ask(still, 1, "GET", "/large.bin", true);
	CHECK_EQ(status_of(still, 1), 200);
	idle = dial();
	say(idle, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK_EQ(hear_reply(idle), 200);
	silent = dial();
	hear(silent, 0); /* the time for a head is over */
	newer = dial();
	CHECK_EQ(get("/a.txt", ""), 200);
	say(idle, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK_EQ(hear_reply(idle), 200);
	while (h2_hear(still))
		;
	close(still);
	close(idle);
	close(silent);
	close(newer);
	server_end();
}

TEST(replies_that_leave_no_room_for_other_requests_give_way)
{
	int fds[8];

	SERVER("--max-connections", "8", "--send-time", "3600000", "--max-unsent", "20000",
	       "--max-body", "100000");
	for (int i = 0; i < 8; i++) {
		fds[i] = h2_dial(NO_WINDOW, 6);
		for (int j = 1; j <= 7; j += 2)
			echo(fds[i], j, 8000);
		CHECK_EQ(status_of(fds[i], 3), 200);
	}
	while (get("/", "") != 200)
		;
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	server_end();
}

/* All in one piece; the second answer shows that the first request is under way. */
TEST(a_request_that_comes_with_the_preface_keeps_its_place)
{
	static const char both[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
				   "\0\0\0\4\0\0\0\0\0"
				   "\0\0\xc\1\5\0\0\0\1\x82\x86\x01\x01x\x04\x05/slow"
				   "\0\0\xc\1\5\0\0\0\3\x82\x86\x01\x01x\x04\x05/none";
	int fd;

	SERVER("--max-connections", "1");
	fd = h2_dial_silent();
	say_bytes(fd, both, sizeof both - 1);
	CHECK_EQ(status_of(fd, 3), 404);
	get("/", "");
	CHECK_EQ(status_of(fd, 1), 200);
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
