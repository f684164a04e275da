/* leases.c - who may read and write what, and when. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "site.h"

TEST(many_read_or_one_writes)
{
	struct remote a, b;

	SERVER();
	enter(&a);
	enter(&b);
	write_file("root/a", "x", 1);
	CHECK_EQ(ask_path(&a, REQUEST_OPEN, "a", 0), 0);
	CHECK_EQ(ask_path(&b, REQUEST_OPEN, "a", 0), 0);
	CHECK_EQ(ask_path(&b, REQUEST_CREATE, "a", 0), -EBUSY);
	CHECK_EQ(ask_path(&b, REQUEST_REMOVE, "a", 0), -EBUSY);
	CHECK_EQ(ask_handle(&a, REQUEST_CLOSE, 0), 0);
	CHECK_EQ(ask_path(&b, REQUEST_CREATE, "a", 0), -EBUSY); /* its own lease */
	CHECK_EQ(ask_handle(&b, REQUEST_CLOSE, 0), 0);
	CHECK_EQ(ask_path(&b, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(ask_path(&a, REQUEST_OPEN, "a", 0), -EBUSY);
	CHECK_EQ(ask_path(&a, REQUEST_CREATE, "a", 0), -EBUSY);
	CHECK_EQ(ask_path(&a, REQUEST_CREATE, "b", 0), 0); /* another file */
	CHECK_EQ(ask_handle(&b, REQUEST_COMMIT, 0), 0);
	CHECK_EQ(ask_path(&a, REQUEST_OPEN, "a", 0), 0);
	CHECK_EQ(reply.size, 0);
	remote_close(&a);
	remote_close(&b);
	server_end();
}

/* Sends a request that will wait for others. */
static void send_waiting(struct remote *r, enum request_type type)
{
	struct request ask = { .type = type, .path = "a", .wait = 60000 };

	CHECK_EQ(remote_send(r, &ask), 0);
}

/* A client reads "a", another waits to write it, and a third to read it, behind that. */
static void stand_in_line(struct remote *reader, struct remote *writer, struct remote *late)
{
	enter(reader);
	enter(writer);
	enter(late);
	write_file("root/a", "x", 1);
	CHECK_EQ(ask_path(reader, REQUEST_OPEN, "a", 0), 0);
	send_waiting(writer, REQUEST_CREATE);
	/* Once the writer stands in line no reader gets in before it. */
	while (ask_path(late, REQUEST_OPEN, "a", 0) == 0)
		CHECK_EQ(ask_handle(late, REQUEST_CLOSE, 0), 0);
	CHECK_EQ(reply.status, EBUSY);
	send_waiting(late, REQUEST_OPEN);
}

TEST(a_writer_waits_for_readers_and_comes_before_later_ones)
{
	struct remote reader, writer, late;

	SERVER("--wait-time", "60000");
	stand_in_line(&reader, &writer, &late);
	CHECK_EQ(ask_handle(&reader, REQUEST_CLOSE, 0), 0);
	CHECK_EQ(remote_receive(&writer, &reply), 0);
	CHECK_EQ(ask_handle(&writer, REQUEST_COMMIT, reply.handle), 0);
	CHECK_EQ(remote_receive(&late, &reply), 0);
	CHECK_EQ(reply.size, 0); /* it sees what was written */
	remote_close(&reader);
	remote_close(&writer);
	remote_close(&late);
	server_end();
}

TEST(the_lease_of_a_client_that_died_is_free)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };
	struct remote dead, r;

	SERVER("--wait-time", "60000");
	enter(&dead);
	enter(&r);
	CHECK_EQ(ask_path(&dead, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "a", 0), -EBUSY);
	setsockopt(dead.channel.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	remote_close(&dead);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "a", 60000), 0);
	remote_close(&r);
	server_end();
}

TEST(a_lease_that_is_not_used_is_lost_to_others)
{
	struct remote sleeper, r;

	SERVER("--lease-time", "200", "--wait-time", "60000");
	enter(&sleeper);
	enter(&r);
	CHECK_EQ(ask_path(&sleeper, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "a", 60000), 0);
	CHECK_EQ(ask_handle(&sleeper, REQUEST_WRITE, 0), -ESTALE);
	CHECK_EQ(ask_handle(&sleeper, REQUEST_COMMIT, 0), -ESTALE);
	CHECK_EQ(ask_handle(&sleeper, REQUEST_CLOSE, 0), 0);
	CHECK_EQ(ask_handle(&r, REQUEST_COMMIT, reply.handle), 0);
	remote_close(&sleeper);
	remote_close(&r);
	server_end();
}

TEST(a_reader_behind_a_writer_gets_the_lease_that_the_writer_loses)
{
	struct remote reader, writer, late;

	/* Long enough for all to stand in line before the first loses it. */
	SERVER("--lease-time", "2000", "--wait-time", "60000");
	stand_in_line(&reader, &writer, &late);
	CHECK_EQ(remote_receive(&writer, &reply), 0); /* the reader sleeps, and so does it */
	CHECK_EQ(remote_receive(&late, &reply), 0);
	remote_close(&reader);
	remote_close(&writer);
	remote_close(&late);
	server_end();
}

TEST(a_watcher_hears_of_a_change_and_of_the_end)
{
	struct request ask = { .type = REQUEST_WATCH, .path = "a", .wait = 60000 };
	struct remote watcher, writer;

	SERVER("--wait-time", "60000");
	enter(&watcher);
	enter(&writer);
	CHECK_EQ(remote_send(&watcher, &ask), 0); /* it is not there */
	CHECK_EQ(ask_path(&writer, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(ask_handle(&writer, REQUEST_COMMIT, 0), 0);
	CHECK_EQ(remote_receive(&watcher, &reply), 0);
	CHECK(reply.time != 0);
	for (int i = 0; i < 100; i++) { /* every version has another time */
		ask.time = reply.time;
		CHECK_EQ(remote_send(&watcher, &ask), 0);
		CHECK_EQ(ask_path(&writer, REQUEST_CREATE, "a", 0), 0);
		CHECK_EQ(ask_handle(&writer, REQUEST_COMMIT, 0), 0);
		CHECK_EQ(remote_receive(&watcher, &reply), 0);
		CHECK(reply.time > ask.time);
	}
	ask.time = reply.time;
	CHECK_EQ(remote_send(&watcher, &ask), 0);
	CHECK_EQ(ask_path(&writer, REQUEST_REMOVE, "a", 0), 0);
	CHECK_EQ(remote_receive(&watcher, &reply), 0);
	CHECK_EQ(reply.time, 0);
	ask = (struct request){ .type = REQUEST_WATCH, .path = "a", .wait = 1 };
	CHECK_EQ(remote_ask(&watcher, &ask, &reply), -ETIMEDOUT);
	remote_close(&watcher);
	remote_close(&writer);
	server_end();
}

static int64_t ms_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A watcher that was told at once that nothing has changed would ask without end. */
TEST(a_watcher_waits_even_if_nobody_waits_for_a_lease)
{
	struct request ask = { .type = REQUEST_WATCH, .path = "a", .wait = 60000 };
	struct remote watcher;
	int64_t began;

	SERVER("--wait-time", "0");
	enter(&watcher);
	began = ms_now();
	CHECK_EQ(remote_send(&watcher, &ask), 0);
	CHECK_EQ(remote_receive(&watcher, &reply), -ETIMEDOUT);
	CHECK(ms_now() - began >= 900);
	remote_close(&watcher);
	server_end();
}

TEST(writers_that_wait_take_turns)
{
	enum { CLIENTS = 8 };
	int turns = TEST_SIZE(400), first;
	struct pollfd polls[CLIENTS];
	struct remote r[CLIENTS];

	SERVER("--wait-time", "60000");
	for (int i = 0; i < CLIENTS; i++) {
		enter(&r[i]);
		polls[i] = (struct pollfd){ .fd = r[i].channel.fd, .events = POLLIN };
		send_waiting(&r[i], REQUEST_CREATE);
	}
	for (int turn = 0; turn < turns; turn++) {
		CHECK_EQ(poll(polls, CLIENTS, -1), 1); /* never two */
		for (first = 0; polls[first].revents == 0; first++)
			;
		CHECK_EQ(remote_receive(&r[first], &reply), 0);
		CHECK_EQ(poll(polls, CLIENTS, 0), 0);
		CHECK_EQ(ask_handle(&r[first], REQUEST_CLOSE, reply.handle), 0);
		send_waiting(&r[first], REQUEST_CREATE);
	}
	for (int i = 0; i < CLIENTS; i++)
		remote_close(&r[i]);
	server_end();
}
