/* server.c - weft-sealed-files as its clients see it, honest or not. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "key.h"
#include "site.h"

/* A file of our own, with bytes that tell where they are. */
static int scratch(size_t size)
{
	char *data = malloc(size + 1);
	FILE *file = tmpfile();

	CHECK(file != NULL && data != NULL);
	for (size_t i = 0; i < size; i++)
		data[i] = (char)(i * 131 + i / 4096);
	CHECK_EQ(fwrite(data, 1, size, file), size);
	rewind(file);
	free(data);
	return fileno(file);
}

static void check_scratch(int fd, size_t size)
{
	char *data = malloc(size + 1);

	CHECK_EQ(pread(fd, data, size + 1, 0), size);
	for (size_t i = 0; i < size; i++)
		if (data[i] != (char)(i * 131 + i / 4096))
			CHECK_EQ(i, -1);
	free(data);
}

TEST(files_come_back_as_they_were_put)
{
	static const size_t sizes[] = {
		0, 1, MESSAGE_PIECE - 1, MESSAGE_PIECE, MESSAGE_PIECE + 1, 3000000
	};
	struct remote r;

	SERVER();
	enter(&r);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int out = scratch(0);

		CHECK_EQ(remote_put(&r, "dir/file", 0, scratch(sizes[i])), 0);
		CHECK_EQ(remote_get(&r, "dir/file", 0, out), 0);
		check_scratch(out, sizes[i]);
		CHECK_EQ(ask_path(&r, REQUEST_STAT, "dir/file", 0), 0);
		CHECK_EQ(reply.size, sizes[i]);
	}
	CHECK_EQ(ask_path(&r, REQUEST_REMOVE, "dir/file", 0), 0);
	CHECK_EQ(ask_path(&r, REQUEST_STAT, "dir/file", 0), -ENOENT);
	remote_close(&r);
	server_end();
}

TEST(a_file_appears_whole_or_not_at_all)
{
	struct remote r, other;
	int out = scratch(0);

	SERVER();
	enter(&r);
	write_file("root/a", "old", 3);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(remote_ask(&r,
			    &(struct request){ .type = REQUEST_WRITE,
					       .data = (const uint8_t *)"new",
					       .data_size = 3 },
			    &reply),
		 0);
	enter(&other);
	CHECK_EQ(ask_path(&other, REQUEST_STAT, "a", 0), 0);
	CHECK_EQ(reply.size, 3);
	remote_close(&r); /* it never said that it is done */
	CHECK_EQ(remote_get(&other, "a", 10000, out), 0);
	CHECK_EQ(lseek(out, 0, SEEK_END), 3);
	remote_close(&other);
	server_end();
}

TEST(lists_all_names_of_a_directory)
{
	struct request ask = { .type = REQUEST_LIST };
	int count = TEST_SIZE(3000), seen = 0;
	char name[200];
	struct remote r;

	SERVER();
	enter(&r);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof name, "root/%0100d", i);
		write_file(name, "", 0);
	}
	do {
		CHECK_EQ(remote_ask(&r, &ask, &reply), 0);
		for (size_t i = 0; i < reply.data_size; i++)
			seen += reply.data[i] == '\n';
		ask.offset = reply.size;
	} while (reply.size > 0);
	CHECK_EQ(seen, count + 1);
	CHECK_EQ(ask_path(&r, REQUEST_LIST, "dir", 0), 0);
	CHECK_EQ(reply.data_size, 0);
	CHECK_EQ(ask_path(&r, REQUEST_LIST, "none", 0), -ENOENT);
	remote_close(&r);
	server_end();
}

TEST(no_path_leaves_the_root)
{
	static const char *const paths[] = { "out", "up/keys/ann", "etc/passwd", "fifo", "dir" };
	struct remote r;

	SERVER();
	enter(&r);
	CHECK_EQ(symlink("../keys/ann", at("root/out")), 0);
	CHECK_EQ(symlink("..", at("root/up")), 0);
	CHECK_EQ(symlink("/etc", at("root/etc")), 0);
	CHECK_EQ(mkfifo(at("root/fifo"), 0644), 0);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		CHECK(ask_path(&r, REQUEST_OPEN, paths[i], 0) < 0);
		CHECK(ask_path(&r, REQUEST_STAT, paths[i], 0) < 0);
	}
	CHECK(ask_path(&r, REQUEST_CREATE, "up/x", 0) < 0);
	CHECK(ask_path(&r, REQUEST_REMOVE, "up/keys/ann", 0) < 0);
	CHECK(ask_path(&r, REQUEST_LIST, "up", 0) < 0);
	CHECK_EQ(ask_path(&r, REQUEST_OPEN, "../keys/ann", 0), -EINVAL);
	CHECK(exists("keys/ann") && !exists("x"));
	remote_close(&r);
	server_end();
}

/* Bytes on the wire */

enum { WHOLE_REQUEST = SEAL_HEAD + REQUEST_HEAD + 1 + SEAL_TAG };

/* A sealed request, as bytes. */
static size_t seal_request(struct remote *r, enum request_type type, const char *path)
{
	struct request ask = { .type = type };

	strcpy(ask.path, path);
	return seal_close(&r->channel.out, r->channel.outgoing,
			  request_write(&ask, channel_text(&r->channel)));
}

static void say(struct remote *r, size_t size)
{
	channel_plain.write(r->channel.fd, r->channel.outgoing, size, NULL, 0);
}

TEST(a_request_with_any_byte_changed_ends_the_connection)
{
	size_t size = WHOLE_REQUEST;
	struct remote r;

	SERVER();
	write_file("root/a", "x", 1);
	for (size_t i = 0; i < size; i++) {
		enter(&r);
		size = seal_request(&r, REQUEST_REMOVE, "a");
		r.channel.outgoing[i] ^= 0x40;
		say(&r, size);
		shutdown(r.channel.fd, SHUT_WR); /* it may believe that more is to come */
		check_closed(&r);
		CHECK(exists("root/a"));
	}
	server_end();
}

TEST(a_request_sent_again_is_not_done_again)
{
	struct remote r;
	size_t size;

	SERVER();
	write_file("root/a", "x", 1);
	enter(&r);
	size = seal_request(&r, REQUEST_REMOVE, "a");
	say(&r, size);
	CHECK_EQ(remote_receive(&r, &reply), 0);
	write_file("root/a", "x", 1);
	say(&r, size);
	check_closed(&r);
	CHECK(exists("root/a"));
	server_end();
}

TEST(requests_in_another_order_are_not_done)
{
	struct remote r;

	SERVER();
	write_file("root/a", "x", 1);
	enter(&r);
	seal_request(&r, REQUEST_STAT, "a");
	say(&r, seal_request(&r, REQUEST_REMOVE, "a"));
	check_closed(&r);
	CHECK(exists("root/a"));
	server_end();
}

TEST(a_request_cut_short_is_not_done)
{
	size_t size = WHOLE_REQUEST;
	struct remote r;

	SERVER();
	write_file("root/a", "x", 1);
	for (size_t i = 1; i < size; i += 7) {
		enter(&r);
		size = seal_request(&r, REQUEST_REMOVE, "a");
		say(&r, i);
		shutdown(r.channel.fd, SHUT_WR);
		check_closed(&r);
		CHECK(exists("root/a"));
	}
	server_end();
}

TEST(a_message_that_is_too_large_ends_the_connection)
{
	struct remote r;

	SERVER();
	enter(&r);
	memcpy(r.channel.outgoing, "\xff\xff\xff\xff", 4);
	say(&r, 4);
	check_closed(&r);
	server_end();
}

TEST(strangers_are_not_told_whom_the_server_knows)
{
	static const char *const names[] = { "ann", "nobody" };
	uint8_t wrong[SEAL_KEY] = { 1 }, answer[HANDSHAKE_ANSWER];

	SERVER();
	for (int i = 0; i < 2; i++) {
		struct remote r = { .channel = { .io = &channel_plain } };
		struct handshake h;

		CHECK_EQ(remote_open(&r, address, names[i], wrong), -EBADMSG);
		enter(&r);
		remote_close(&r);
		/* Both get an answer of the same size; with a wrong proof, nothing more. */
		CHECK_EQ(handshake_begin(&h, names[i]), 0);
		r.channel.fd = remote_dial(address);
		CHECK_EQ(channel_plain.write(r.channel.fd, h.hello, HANDSHAKE_HELLO, NULL, 0),
			 HANDSHAKE_HELLO);
		CHECK_EQ(recv(r.channel.fd, answer, sizeof answer, MSG_WAITALL), sizeof answer);
		memset(r.channel.outgoing, 0, HANDSHAKE_PROOF);
		r.channel.outgoing[3] = SEAL_TAG;
		say(&r, HANDSHAKE_PROOF);
		handshake_fini(&h);
		check_closed(&r);
	}
	server_end();
}

TEST(a_key_that_is_taken_away_lets_nobody_in)
{
	struct remote r;

	SERVER();
	enter(&r);
	CHECK_EQ(unlink(at("keys/ann")), 0);
	CHECK_EQ(ask_path(&r, REQUEST_LIST, "", 0), 0); /* who is in stays in */
	remote_close(&r);
	CHECK_EQ(remote_open(&r, address, "ann", ann_key), -EBADMSG);
	server_end();
}

/* Limits */

TEST(clients_that_say_nothing_run_out_of_time)
{
	struct remote silent = { .channel = { .io = &channel_plain } }, idle, half;

	SERVER("--handshake-time", "100");
	silent.channel.fd = remote_dial(address);
	check_closed(&silent);
	server_end();
	SERVER("--idle-time", "100");
	enter(&idle);
	check_closed(&idle);
	server_end();
	SERVER("--message-time", "100");
	enter(&half);
	say(&half, seal_request(&half, REQUEST_STAT, "a") - 1);
	check_closed(&half);
	server_end();
}

TEST(a_client_that_does_not_read_leaves_nothing_in_the_kernel)
{
	struct request ask = { .type = REQUEST_READ, .size = MESSAGE_PIECE };
	static char piece[MESSAGE_PIECE];
	struct pollfd given_up = { .events = 0 };
	struct remote r;
	int on = 1, off = 0;

	SERVER("--message-time", "300");
	enter(&r);
	write_file("root/a", piece, sizeof piece);
	CHECK_EQ(ask_path(&r, REQUEST_OPEN, "a", 0), 0);
	ask.handle = reply.handle;
	given_up.fd = r.channel.fd;
	/* All requests come together, or those that the server did not read would make its kernel
	 * forget the replies. They are for more than it keeps. */
	CHECK_EQ(setsockopt(given_up.fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
	for (int i = 0; i < 200; i++)
		CHECK_EQ(remote_send(&r, &ask), 0);
	CHECK_EQ(setsockopt(given_up.fd, IPPROTO_TCP, TCP_CORK, &off, sizeof off), 0);
	CHECK_EQ(poll(&given_up, 1, -1), 1);
	while (program_unsent(atoi(strrchr(address, ':') + 1)) > 0)
		;
	remote_close(&r);
	server_end();
}

TEST(no_more_clients_than_allowed_get_in)
{
	struct remote r[3];

	SERVER("--max-clients", "2", "--max-per-key", "2");
	for (int i = 0; i < 2; i++) {
		enter(&r[i]);
		CHECK_EQ(ask_path(&r[i], REQUEST_LIST, "", 0), 0); /* now it is a client */
	}
	CHECK(remote_open(&r[2], address, "ann", ann_key) < 0);
	remote_close(&r[1]);
	while (remote_open(&r[2], address, "ann", ann_key) < 0) /* until it has noticed */
		;
	remote_close(&r[0]);
	remote_close(&r[2]);
	server_end();
}

/* A connection of bob's. */
static int enter_bob(struct remote *r)
{
	uint8_t key[SEAL_KEY];
	int rc;

	CHECK_EQ(key_load(at("keys/bob"), key), 0);
	rc = remote_open(r, address, "bob", key);
	return rc == 0 ? ask_path(r, REQUEST_LIST, "", 0) : rc;
}

TEST(one_key_does_not_take_all_places)
{
	struct remote ann[2], bob, more;

	SERVER("--max-clients", "8"); /* two for each key */
	for (int i = 0; i < 2; i++) {
		enter(&ann[i]);
		CHECK_EQ(ask_path(&ann[i], REQUEST_LIST, "", 0), 0);
	}
	enter(&more);
	CHECK(ask_path(&more, REQUEST_LIST, "", 0) < 0);
	remote_close(&more);
	CHECK_EQ(enter_bob(&bob), 0);
	remote_close(&ann[0]);
	do /* until the server has noticed */
		enter(&more);
	while (ask_path(&more, REQUEST_LIST, "", 0) < 0 && (remote_close(&more), true));
	remote_close(&more);
	remote_close(&ann[1]);
	remote_close(&bob);
	server_end();
}

/* Connects from an address of this machine's own. */
static int dial_from(const char *host)
{
	struct sockaddr_in from = { .sin_family = AF_INET }, to = from;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned port;

	CHECK_EQ(sscanf(address, "127.0.0.1:%u", &port), 1);
	to.sin_port = htons((uint16_t)port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_EQ(inet_pton(AF_INET, host, &from.sin_addr), 1);
	CHECK_EQ(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

TEST(strangers_take_neither_the_places_of_clients_nor_those_of_other_addresses)
{
	enum { STRANGERS = 40 };
	struct remote r[2] = { { .channel.io = &channel_plain }, { .channel.io = &channel_plain } };
	int fd[STRANGERS], more;

	SERVER("--max-clients", "2", "--max-per-key", "2", "--max-per-address", "3",
	       "--handshake-time", "60000");
	for (int i = 0; i < STRANGERS; i++)
		fd[i] = dial_from("127.0.0.1");
	for (int i = 0; i < 2; i++) {
		r[i].channel.fd = dial_from("127.0.0.2");
		CHECK_EQ(channel_connect(&r[i].channel, "ann", ann_key, 0), 0);
		CHECK_EQ(ask_path(&r[i], REQUEST_LIST, "", 0), 0);
	}
	for (int i = 0; i < STRANGERS - 3; i++)
		CHECK_EQ(recv(fd[i], &more, 1, 0), 0); /* the oldest of its address went */
	CHECK_EQ(recv(fd[STRANGERS - 1], &more, 1, MSG_DONTWAIT), -1);
	remote_close(&r[0]);
	for (int i = 0; i < STRANGERS; i++)
		close(fd[i]);
	while (remote_open(&r[0], address, "ann", ann_key) < 0) /* until it has noticed */
		;
	remote_close(&r[0]);
	remote_close(&r[1]);
	server_end();
}

TEST(silent_strangers_give_way_to_honest_clients)
{
	struct remote r = { .channel.io = &channel_plain };
	int fd[120], n = 0;
	char host[32], byte;

	SERVER("--max-strangers", "8", "--max-per-address", "3", "--handshake-time", "3600000");
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 12; i++) {
			snprintf(host, sizeof host, "127.0.1.%d", i / 3 + 1);
			fd[n++] = dial_from(host);
		}
		enter(&r);
		CHECK_EQ(ask_path(&r, REQUEST_LIST, "", 0), 0);
		remote_close(&r);
	}
	for (int i = 0; i < 120 - 12; i++)
		CHECK_EQ(recv(fd[i], &byte, 1, 0), 0);
	for (int i = 0; i < 120; i++)
		close(fd[i]);
	server_end();
}

TEST(silent_strangers_give_their_descriptors_back)
{
	struct remote r;
	int fd[200];

	server.descriptors = 64;
	SERVER("--max-per-address", "0", "--handshake-time", "3600000");
	for (int i = 0; i < 200; i++) {
		fd[i] = remote_dial(address);
		if (i % 20 == 19) {
			enter(&r);
			CHECK_EQ(ask_path(&r, REQUEST_LIST, "", 0), 0);
			remote_close(&r);
		}
	}
	for (int i = 0; i < 200; i++)
		close(fd[i]);
	server_end();
}

TEST(clients_that_prove_themselves_at_one_time_are_no_more_than_allowed)
{
	struct remote r[3] = { { .channel.io = &channel_plain }, { .channel.io = &channel_plain } };
	int served = 0;

	SERVER("--max-clients", "1");
	for (int i = 0; i < 2; i++)
		r[i].channel.fd = dial_from("127.0.0.1");
	enter(&r[2]); /* the server knows of the others */
	for (int i = 0; i < 2; i++)
		CHECK_EQ(channel_connect(&r[i].channel, "ann", ann_key, 0), 0);
	for (int i = 0; i < 3; i++)
		served += ask_path(&r[i], REQUEST_LIST, "", 0) == 0;
	CHECK_EQ(served, 1);
	for (int i = 0; i < 3; i++)
		remote_close(&r[i]);
	server_end();
}

TEST(a_client_gets_no_more_than_its_share)
{
	struct request ask = {
		.type = REQUEST_WRITE, .offset = 1000, .data = (const uint8_t *)"x", .data_size = 1
	};
	struct remote r;
	int open = 0;

	SERVER("--max-file", "1000");
	enter(&r);
	write_file("root/a", "x", 1);
	while (ask_path(&r, REQUEST_OPEN, "a", 0) == 0)
		open++;
	CHECK_EQ(open, 32);
	CHECK_EQ(reply.status, EMFILE);
	CHECK_EQ(ask_handle(&r, REQUEST_CLOSE, 7), 0);
	CHECK_EQ(ask_handle(&r, REQUEST_CLOSE, 7), -EBADF);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "b", 0), 0);
	ask.handle = reply.handle;
	CHECK_EQ(remote_ask(&r, &ask, &reply), -EFBIG);
	ask.offset = 999;
	CHECK_EQ(remote_ask(&r, &ask, &reply), 0);
	CHECK_EQ(ask_handle(&r, REQUEST_READ, ask.handle), -EBADF); /* one that is written */
	CHECK_EQ(ask_handle(&r, REQUEST_WRITE, 3), -EBADF);         /* one that is read */
	CHECK_EQ(ask_handle(&r, REQUEST_READ, 4000), -EBADF);
	remote_close(&r);
	server_end();
}

TEST(survives_what_is_random)
{
	int rounds = TEST_SIZE(400);
	uint64_t state = TEST_SEED;
	struct remote r;

	SERVER("--message-time", "1000");
	write_file("root/a", "x", 1);
	for (int i = 0; i < rounds; i++) {
		size_t size = test_random(&state) % 100;
		uint8_t *bytes = r.channel.outgoing;

		enter(&r);
		for (size_t n = 0; n < size; n++)
			bytes[SEAL_HEAD + n] = (uint8_t)test_random(&state);
		if (size > 0)
			bytes[SEAL_HEAD] %= REQUEST_TYPES + 1;
		if (size > 3)
			bytes[SEAL_HEAD + 1] = bytes[SEAL_HEAD + 2] = 0;
		if (i % 2 == 0)
			size = seal_close(&r.channel.out, bytes, size);
		say(&r, size);
		shutdown(r.channel.fd, SHUT_WR);
		while (channel_plain.read(r.channel.fd, bytes, SEAL_MAX, 0) > 0)
			;
		remote_close(&r);
	}
	enter(&r);
	CHECK_EQ(ask_path(&r, REQUEST_STAT, "a", 0), 0);
	remote_close(&r);
	server_end();
}

/* The end */

TEST(stops_while_clients_are_idle_wait_and_write)
{
	struct remote idle, waits, writes;
	struct request ask = { .type = REQUEST_CREATE, .path = "a", .wait = 60000 };

	SERVER("--wait-time", "60000");
	enter(&idle);
	enter(&waits);
	enter(&writes);
	CHECK_EQ(ask_path(&writes, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(remote_send(&waits, &ask), 0);
	server_end();
	check_closed(&idle);
	remote_close(&waits);
	check_closed(&writes);
}

TEST(clients_killed_in_the_midst_leave_nothing_behind)
{
	int before, clients = TEST_SIZE(20), large[2];
	struct remote r;

	setenv("WEFT_STALL_MS", "3600000", 1); /* stand-ins have descriptors too */
	SERVER();
	CHECK_EQ(remote_open(&r, address, "ann", ann_key), 0);
	CHECK_EQ(remote_put(&r, "large", 0, scratch(8 << 20)), 0);
	before = program_descriptors(&server);
	for (int i = 0; i < clients; i++) {
		struct program put, get;

		CHECK_EQ(pipe2(large, O_CLOEXEC), 0);
		CLIENT(&get, "get", "large", "-");
		/* It puts what it gets, and never sees its end. */
		CHECK_EQ(dup2(large[0], STDIN_FILENO), STDIN_FILENO);
		CLIENT(&put, "put", "-", "copy");
		for (int n = 0; n < 10; n++) {
			char piece[MESSAGE_PIECE];
			ssize_t got = read(get.out, piece, sizeof piece);

			CHECK(got > 0);
			CHECK_EQ(write(large[1], piece, (size_t)got), got);
		}
		CHECK(WIFSIGNALED(program_end(&get, SIGKILL)));
		CHECK(WIFSIGNALED(program_end(&put, SIGKILL)));
		close(large[0]);
		close(large[1]);
	}
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "copy", 10000), 0); /* its lease is free again */
	CHECK_EQ(ask_handle(&r, REQUEST_CLOSE, reply.handle), 0);
	while (program_descriptors(&server) > before)
		;
	CHECK(!exists("root/copy"));
	remote_close(&r);
	server_end();
}

/* A server that lives has its drafts locked. */
TEST(what_a_killed_server_left_is_removed_by_the_next)
{
	static const char *const none[] = { NULL };
	struct program killed;
	struct remote r, other;

	SERVER();
	killed = server;
	enter(&r);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "a", 0), 0);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "dir/b", 0), 0);
	write_file("root/.sealed-mine", "x", 1);
	server_again(none);
	CHECK_EQ(left_behind("root") + left_behind("root/dir"), 3);
	CHECK_EQ(ask_handle(&r, REQUEST_COMMIT, 0), 0);
	CHECK_EQ(ask_path(&r, REQUEST_CREATE, "a", 0), 0);
	CHECK(WIFSIGNALED(program_end(&killed, SIGKILL)));
	remote_close(&r);
	enter(&other);
	CHECK_EQ(ask_path(&other, REQUEST_CREATE, "c", 0), 0); /* its own */
	killed = server;
	server_again(none);
	CHECK_EQ(left_behind("root"), 2);
	CHECK_EQ(left_behind("root/dir"), 0);
	CHECK(exists("root/.sealed-mine"));
	CHECK_EQ(unlink(at("root/.sealed-mine")), 0);
	CHECK_EQ(ask_handle(&other, REQUEST_COMMIT, 0), 0);
	remote_close(&other);
	CHECK_EQ(program_end(&killed, SIGTERM), 0);
	server_end();
}

TEST_MAIN
