/* protocol.c - what is sealed stays sealed, and who has not the key gets nowhere. */
#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "handshake.h"
#include "harness/test.h"
#include "key.h"
#include "message.h"

static const uint8_t first_key[SEAL_KEY] = { 1, 2, 3 }, second_key[SEAL_KEY] = { 1, 2, 4 };

enum { TEXT = 100, WHOLE = SEAL_HEAD + TEXT + SEAL_TAG };

static struct seal sealing, opening;

static void begin(const uint8_t *other)
{
	seal_fini(&sealing);
	seal_fini(&opening);
	CHECK_EQ(seal_init(&sealing, first_key, true), 0);
	CHECK_EQ(seal_init(&opening, other, false), 0);
}

/* A message with a text of `n`s. */
static void make(uint8_t *message, int n)
{
	memset(message + SEAL_HEAD, n, TEXT);
	CHECK_EQ(seal_close(&sealing, message, TEXT), WHOLE);
}

static void check_opens(uint8_t *message, int n)
{
	CHECK_EQ(seal_open(&opening, message, WHOLE), TEXT);
	for (int i = 0; i < TEXT; i++)
		CHECK_EQ(message[SEAL_HEAD + i], n);
}

TEST(messages_open_in_their_order)
{
	uint8_t message[WHOLE];

	begin(first_key);
	for (int i = 0; i < 100; i++) {
		make(message, i);
		CHECK(memchr(message + SEAL_HEAD, i, TEXT) == NULL || message[SEAL_HEAD] != i ||
		      message[SEAL_HEAD + 1] != i);
		check_opens(message, i);
	}
}

TEST(the_same_text_is_never_sealed_the_same)
{
	uint8_t one[WHOLE], two[WHOLE];

	begin(first_key);
	make(one, 5);
	make(two, 5);
	CHECK(memcmp(one + SEAL_HEAD, two + SEAL_HEAD, TEXT) != 0);
}

TEST(a_change_of_any_bit_is_found)
{
	uint8_t message[WHOLE];

	for (int bit = 0; bit < WHOLE * 8; bit++) {
		begin(first_key);
		make(message, 7);
		message[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK_EQ(seal_open(&opening, message, WHOLE), -EBADMSG);
	}
}

TEST(after_a_bad_message_nothing_opens)
{
	uint8_t bad[WHOLE], good[WHOLE];

	begin(first_key);
	make(bad, 1);
	make(good, 2);
	bad[50] ^= 1;
	CHECK_EQ(seal_open(&opening, bad, WHOLE), -EBADMSG);
	CHECK_EQ(seal_open(&opening, good, WHOLE), -EBADMSG);
}

TEST(a_message_opens_only_once_and_in_its_turn)
{
	uint8_t one[WHOLE], two[WHOLE], copy[WHOLE];

	begin(first_key); /* repeated */
	make(one, 1);
	memcpy(copy, one, WHOLE);
	check_opens(one, 1);
	CHECK_EQ(seal_open(&opening, copy, WHOLE), -EBADMSG);
	begin(first_key); /* left out, or overtaken */
	make(one, 1);
	make(two, 2);
	CHECK_EQ(seal_open(&opening, two, WHOLE), -EBADMSG);
}

TEST(a_message_cut_short_or_made_longer_does_not_open)
{
	uint8_t message[WHOLE + 50];

	for (size_t size = 0; size < sizeof message; size++) {
		begin(first_key);
		memset(message, 0, sizeof message);
		make(message, 3);
		if (size == WHOLE)
			continue;
		CHECK_EQ(seal_open(&opening, message, size), -EBADMSG);
		begin(first_key); /* with a size that agrees */
		make(message, 3);
		message[2] = (uint8_t)((size - SEAL_HEAD) >> 8);
		message[3] = (uint8_t)(size - SEAL_HEAD);
		CHECK_EQ(seal_open(&opening, message, size), -EBADMSG);
	}
}

TEST(another_key_does_not_open)
{
	uint8_t message[WHOLE];

	begin(second_key);
	make(message, 1);
	CHECK_EQ(seal_open(&opening, message, WHOLE), -EBADMSG);
}

TEST(sizes_that_cannot_be_are_refused)
{
	static const uint8_t none[] = { 0, 0, 0, 15 }, least[] = { 0, 0, 0, 16 },
			     huge[] = { 255, 255, 255, 255 }, more[] = { 0, 1, 8, 17 },
			     most[] = { 0, 1, 8, 16 };

	CHECK_EQ(seal_size(none), -EMSGSIZE);
	CHECK_EQ(seal_size(least), 20);
	CHECK_EQ(seal_size(most), SEAL_MAX);
	CHECK_EQ(seal_size(more), -EMSGSIZE);
	CHECK_EQ(seal_size(huge), -EMSGSIZE);
}

/* The handshake */

struct side {
	struct seal in, out;
};

static struct side client, server;
static uint8_t hello[HANDSHAKE_HELLO], answer[HANDSHAKE_ANSWER], proof[HANDSHAKE_PROOF];

static void free_sides(void)
{
	seal_fini(&client.in);
	seal_fini(&client.out);
	seal_fini(&server.in);
	seal_fini(&server.out);
}

/* One handshake, in which the byte at `at` of all that is sent is changed by `change`. Gives
 * the first side's error. */
static int shake(const uint8_t *servers_key, int at, uint8_t change)
{
	struct handshake h;
	int rc;

	free_sides();
	CHECK_EQ(handshake_begin(&h, "ann"), 0);
	memcpy(hello, h.hello, sizeof hello);
	if (at >= 0 && at < HANDSHAKE_HELLO)
		hello[at] ^= change;
	rc = handshake_name(hello) == NULL ? -EBADMSG : 0;
	if (rc == 0)
		rc = handshake_answer(hello, servers_key, answer, &server.in, &server.out);
	at -= HANDSHAKE_HELLO;
	if (at >= 0 && at < HANDSHAKE_ANSWER)
		answer[at] ^= change;
	if (rc == 0)
		rc = handshake_finish(&h, first_key, answer, proof, &client.in, &client.out);
	at -= HANDSHAKE_ANSWER;
	if (at >= 0 && at < HANDSHAKE_PROOF)
		proof[at] ^= change;
	if (rc == 0)
		rc = (int)seal_open(&server.in, proof, sizeof proof);
	handshake_fini(&h);
	return rc;
}

TEST(who_has_the_key_gets_in)
{
	uint8_t message[WHOLE];

	CHECK_EQ(shake(first_key, -1, 0), 0);
	memset(message + SEAL_HEAD, 9, TEXT);
	seal_close(&client.out, message, TEXT);
	CHECK_EQ(seal_open(&server.in, message, WHOLE), TEXT);
	CHECK_EQ(message[SEAL_HEAD], 9);
	seal_close(&server.out, message, TEXT);
	CHECK_EQ(seal_open(&client.in, message, WHOLE), TEXT);
	CHECK_EQ(message[SEAL_HEAD], 9);
	free_sides();
}

TEST(who_has_another_key_does_not)
{
	CHECK_EQ(shake(second_key, -1, 0), -EBADMSG);
	free_sides();
}

TEST(a_change_of_any_byte_of_the_handshake_is_found)
{
	for (int at = 0; at < HANDSHAKE_HELLO + HANDSHAKE_ANSWER + HANDSHAKE_PROOF; at++) {
		/* X25519 leaves out the highest bit of a key; what was said is not left out. */
		CHECK_EQ(shake(first_key, at, 1), -EBADMSG);
		CHECK_EQ(shake(first_key, at, 0x80), -EBADMSG);
	}
	free_sides();
}

TEST(what_was_said_in_one_connection_is_worth_nothing_in_another)
{
	uint8_t old_hello[HANDSHAKE_HELLO], old_proof[HANDSHAKE_PROOF], message[WHOLE];

	CHECK_EQ(shake(first_key, -1, 0), 0);
	memcpy(old_hello, hello, sizeof hello);
	memcpy(old_proof, proof, sizeof proof);
	seal_close(&client.out, message, TEXT);
	CHECK_EQ(shake(first_key, -1, 0), 0);
	CHECK_EQ(seal_open(&server.in, message, WHOLE), -EBADMSG);
	free_sides();
	/* The server's part is new, so the old proof is none. */
	CHECK_EQ(handshake_answer(old_hello, first_key, answer, &server.in, &server.out), 0);
	CHECK_EQ(seal_open(&server.in, old_proof, sizeof old_proof), -EBADMSG);
	free_sides();
}

TEST(a_message_sent_back_does_not_open)
{
	uint8_t message[WHOLE];

	CHECK_EQ(shake(first_key, -1, 0), 0);
	seal_close(&client.out, message, TEXT);
	CHECK_EQ(seal_open(&client.in, message, WHOLE), -EBADMSG);
	free_sides();
}

TEST(a_key_that_makes_every_secret_the_same_is_refused)
{
	struct handshake h;

	CHECK_EQ(handshake_begin(&h, "ann"), 0);
	memset(h.hello + HANDSHAKE_HELLO - HANDSHAKE_PUBLIC, 0, HANDSHAKE_PUBLIC);
	CHECK_EQ(handshake_answer(h.hello, first_key, answer, &server.in, &server.out), -EBADMSG);
	handshake_fini(&h);
	free_sides();
}

TEST(names_are_not_paths)
{
	static const char *const bad[] = { "",       ".",     "..",
					   "../ann", "a/b",   ".ann",
					   "a b",    "ann\n", "abcdefghijklmnopqrstuvwxyz123456" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(!handshake_name_is_good(bad[i]));
	CHECK(handshake_name_is_good("abcdefghijklmnopqrstuvwxyz12345"));
	CHECK(handshake_name_is_good("Ann-2.example_org"));
}

/* Messages */

TEST(requests_are_read_as_they_were_written)
{
	struct request r = { .type = REQUEST_WRITE,
			     .handle = 7,
			     .offset = 1 << 20,
			     .data = (const uint8_t *)"hello",
			     .data_size = 5 },
		       back;
	uint8_t text[REQUEST_HEAD + MESSAGE_PATH + 5];
	size_t size = request_write(&r, text);

	CHECK_EQ(request_read(&back, text, size), 0);
	CHECK_EQ(back.type, REQUEST_WRITE);
	CHECK_EQ(back.handle, 7);
	CHECK_EQ(back.offset, 1 << 20);
	CHECK_EQ(back.data_size, 5);
	CHECK(memcmp(back.data, "hello", 5) == 0);
	r = (struct request){ .type = REQUEST_WATCH, .path = "a/b", .time = 99, .wait = 5 };
	CHECK_EQ(request_read(&back, text, request_write(&r, text)), 0);
	CHECK_STR(back.path, "a/b");
	CHECK_EQ(back.time, 99);
	CHECK_EQ(back.wait, 5);
}

TEST(paths_stay_below_the_root)
{
	static const char *const bad[] = {
		"/",      "/a",  "a/",   "a//b",  ".",         "..",          "a/..",      "../a",
		"a/../b", "./a", "a\nb", "a\x7f", ".sealed-1", "a/.sealed-1", ".sealed-/a"
	};
	static const char *const good[] = { "a",    "a/b", ".a",       "...",
					    "a..b", "a b", "\xc3\xa4", ".sealed" };
	char longest[MESSAGE_PATH + 1];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (message_path_is_good(bad[i], strlen(bad[i])))
			CHECK_STR(bad[i], "refused");
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!message_path_is_good(good[i], strlen(good[i])))
			CHECK_STR(good[i], "taken");
	CHECK(!message_path_is_good("a\0b", 3));
	memset(longest, 'x', sizeof longest);
	CHECK(message_path_is_good(longest, MESSAGE_PATH - 1));
	CHECK(!message_path_is_good(longest, MESSAGE_PATH));
}

TEST(requests_that_make_no_sense_are_refused)
{
	struct request r = { .type = REQUEST_OPEN, .path = "a" }, back;
	uint8_t text[REQUEST_HEAD + MESSAGE_PATH + 5];
	size_t size = request_write(&r, text);

	for (size_t less = 0; less < size; less++)
		CHECK_EQ(request_read(&back, text, less), -EBADMSG);
	CHECK_EQ(request_read(&back, text, size + 1), -EBADMSG); /* data where none can be */
	text[0] = REQUEST_READ;                                  /* a path where none can be */
	CHECK_EQ(request_read(&back, text, size), -EBADMSG);
	text[0] = REQUEST_TYPES;
	CHECK_EQ(request_read(&back, text, size), -EBADMSG);
	r = (struct request){ .type = REQUEST_READ, .size = MESSAGE_PIECE + 1 };
	CHECK_EQ(request_read(&back, text, request_write(&r, text)), -EBADMSG);
	r = (struct request){ .type = REQUEST_READ, .offset = INT64_MAX };
	CHECK_EQ(request_read(&back, text, request_write(&r, text)), -EBADMSG);
	r = (struct request){ .type = REQUEST_OPEN };
	CHECK_EQ(request_read(&back, text, request_write(&r, text)), -EBADMSG);
	r = (struct request){ .type = REQUEST_LIST };
	CHECK_EQ(request_read(&back, text, request_write(&r, text)), 0);
}

/* Key files */

TEST(a_key_file_is_for_nobody_else)
{
	char dir[] = "/tmp/weft-sealed-XXXXXX", path[64];
	uint8_t key[SEAL_KEY], again[SEAL_KEY];
	FILE *file;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof path, "%s/key", dir);
	CHECK_EQ(key_make(path), 0);
	CHECK_EQ(key_make(path), -EEXIST);
	CHECK_EQ(key_load(path, key), 0);
	CHECK_EQ(key_load(path, again), 0);
	CHECK(memcmp(key, again, SEAL_KEY) == 0);
	CHECK_EQ(chmod(path, 0640), 0);
	CHECK_EQ(key_load(path, key), -EPERM);
	CHECK_EQ(chmod(path, 0600), 0);
	file = fopen(path, "a");
	fputs("0", file);
	fclose(file);
	CHECK_EQ(key_load(path, key), -EINVAL);
	CHECK_EQ(truncate(path, 63), 0);
	CHECK_EQ(key_load(path, key), -EINVAL);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(key_load(path, key), -ENOENT);
	CHECK_EQ(rmdir(dir), 0);
}

TEST(a_status_that_is_no_errno_is_no_reply)
{
	struct reply reply = { .status = REPLY_STATUS };
	uint8_t text[REPLY_HEAD];

	CHECK_EQ(reply_write(&reply, text), REPLY_HEAD);
	CHECK_EQ(reply_read(&reply, text, sizeof text), 0);
	reply.status = (uint32_t)-EBADF; /* would look like a success */
	CHECK_EQ(reply_write(&reply, text), REPLY_HEAD);
	CHECK_EQ(reply_read(&reply, text, sizeof text), -EBADMSG);
}

TEST_MAIN
