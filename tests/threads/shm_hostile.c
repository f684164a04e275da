/* shm_hostile.c - the other process writes nonsense, into the shared memory and into the
 * socket: calls return an error, and nothing outside of the rings is touched.
 */
/* backends: both */
#include "processes.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

static weft_channel *here, *there;

static int open_there(void *unused)
{
	(void)unused;
	there = open_ints(4);
	return 0;
}

static void open_both(void)
{
	weft_thread *t;

	fresh_name();
	t = start(open_there, NULL);
	here = open_ints(4);
	join(t);
}

static void free_both(void)
{
	CHECK_EQ(weft_channel_free(here), 0);
	CHECK_EQ(weft_channel_free(there), 0);
}

/* Words */

static const uint64_t nonsense[] = { 10, 11, 1u << 20, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX / 2 };

static int wrong_tails(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
		open_both();
		atomic_store(&there->shm->out.words->tail, nonsense[i]);
		CHECK(weft_channel_length(here) <= 4);
		CHECK_EQ(try_receive_int(here), -EPROTO);
		CHECK_EQ(receive_int(here), -EPROTO);
		CHECK_EQ(send_int(here, 1), -EPROTO);
		free_both();
	}
	return 0;
}

TEST(a_tail_that_cannot_be_breaks_the_channel)
{
	run_with(2, wrong_tails, NULL);
}

static int wrong_heads(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
		open_both();
		atomic_store(&there->shm->in.words->head, nonsense[i]);
		for (int k = 0; k < 4; k++)
			CHECK_EQ(send_int(here, k), 0);
		CHECK_EQ(send_int(here, 4), -EPROTO);
		CHECK_EQ(try_receive_int(here), -EPROTO);
		free_both();
	}
	return 0;
}

TEST(a_head_that_cannot_be_breaks_the_channel)
{
	run_with(2, wrong_heads, NULL);
}

static int our_own_words(void *unused)
{
	(void)unused;
	open_both();
	CHECK_EQ(send_int(here, 1), 0);
	atomic_store(&here->shm->out.words->tail, 0); /* the other side took it back */
	CHECK_EQ(send_int(here, 2), -EPROTO);
	free_both();
	return 0;
}

TEST(a_word_of_ours_that_was_changed_is_noticed)
{
	run_with(2, our_own_words, NULL);
}

static int wrong_while_waiting(void *unused)
{
	struct call calls[2];

	(void)unused;
	open_both();
	for (int k = 0; k < 4; k++)
		CHECK_EQ(send_int(here, k), 0);
	start_send(&calls[0], here, 4, 0);
	start_receive(&calls[1], here, 0);
	atomic_store(&there->shm->in.words->head, 77);
	CHECK_EQ(send_int(there, 1), 0); /* rings, if need be */
	CHECK_EQ(join(calls[0].thread), -EPROTO);
	(void)join(calls[1].thread);
	free_both();
	return 0;
}

TEST(who_waits_is_told_of_nonsense)
{
	many_colors = false;
	run_with(2, wrong_while_waiting, NULL);
	many_colors = true;
	run_with(2, wrong_while_waiting, NULL);
}

/* Random words all the time, beside a process that uses the channel as it should */

static int scribble(void *random)
{
	struct wf_shm_words *w = there->shm->memory;

	for (int i = 0; i < 200; i++) {
		uint64_t value = test_random(random) % 16;

		switch (test_random(random) % 4) {
		case 0:
			atomic_store(&w[value % 2].tail, value);
			break;
		case 1:
			atomic_store(&w[value % 2].head, value);
			break;
		case 2:
			atomic_store(&w[value % 2].want_room, (uint32_t)value);
			break;
		default:
			atomic_store(&w[value % 2].want_message, (uint32_t)value);
		}
		(void)weft_yield();
	}
	return weft_channel_close(there);
}

static int use(void *unused)
{
	int value, rc;

	(void)unused;
	do {
		uint64_t soon = weft_now() + 20 * WEFT_US;

		rc = weft_channel_send_until(here, &(int){ 1 }, soon);
		if (rc == 0 || rc == -ETIMEDOUT)
			rc = weft_channel_receive_until(here, &value, soon);
	} while (rc == 0 || rc == -ETIMEDOUT);
	CHECK(rc == -EPROTO || rc == -EPIPE);
	return 0;
}

static int random_words(void *random)
{
	many_colors = true;
	for (int i = 0; i < TEST_SIZE(100); i++) {
		weft_thread *t[2];

		open_both();
		t[0] = start(use, NULL);
		t[1] = start(scribble, random);
		(void)join(t[1]);
		CHECK_EQ(join(t[0]), 0);
		free_both();
	}
	return 0;
}

TEST(random_words_do_no_harm)
{
	uint64_t random = TEST_SEED;

	run_with(2, random_words, &random);
}

static int many_bells(void *unused)
{
	struct call call;
	char byte = 0;
	ssize_t n;

	(void)unused;
	open_both();
	do
		n = send(there->shm->fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n == 1);
	start_receive(&call, here, 0);
	CHECK_EQ(send_int(there, 5), 0);
	CHECK_EQ(join(call.thread), 0);
	CHECK_EQ(call.value, 5);
	free_both();
	return 0;
}

TEST(bells_without_need_do_no_harm)
{
	run_with(2, many_bells, NULL);
}

/* One that answers as nobody should */

static const char *false_name(struct sockaddr_un *a, socklen_t *len)
{
	int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "weft-channel/%u/%s",
			 (unsigned)geteuid(), shm_name + 4);

	a->sun_family = AF_UNIX;
	a->sun_path[0] = '\0';
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return shm_name;
}

struct answer {
	uint32_t magic;
	int32_t error;
	uint64_t size, capacity;
};

static void send_answer(int fd, const struct answer *answer, int memory)
{
	struct iovec iov = { (void *)(uintptr_t)answer, sizeof *answer };
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (memory >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)control;

		msg.msg_control = control;
		msg.msg_controllen = sizeof control;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &memory, sizeof memory);
	}
	CHECK_EQ(sendmsg(fd, &msg, MSG_NOSIGNAL), sizeof *answer);
}

/* Memory of that length, with or without the seal that keeps it so. */
static int memory_of(size_t length, bool sealed)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, (off_t)length), 0);
	if (sealed)
		CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

struct false_maker {
	struct answer answer;
	int memory, listener;
};

static int make_falsely(void *arg)
{
	const struct false_maker *m = arg;
	int fd = weft_accept(m->listener, NULL);
	char hello[64];

	CHECK(fd >= 0);
	CHECK(weft_recv(fd, hello, sizeof hello, 0) > 0);
	send_answer(fd, &m->answer, m->memory);
	(void)weft_recv(fd, hello, sizeof hello, 0);
	return weft_close(fd);
}

static void join_false(struct answer answer, int memory)
{
	weft_channel_attr attr = { .side = WEFT_CHANNEL_JOIN };
	struct false_maker m = { answer, memory, -1 };
	struct sockaddr_un a;
	weft_channel *ch;
	socklen_t len;
	weft_thread *t;

	fresh_name();
	m.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	CHECK(false_name(&a, &len) != NULL);
	CHECK_EQ(bind(m.listener, (struct sockaddr *)&a, len), 0);
	CHECK_EQ(listen(m.listener, 1), 0);
	t = start(make_falsely, &m);
	CHECK_EQ(weft_channel_open(&ch, shm_name, 4, &attr), -EPROTO);
	CHECK_EQ(join(t), 0);
	CHECK_EQ(weft_close(m.listener), 0);
	if (memory >= 0)
		close(memory);
}

static int false_makers(void *unused)
{
	uint32_t magic = 0x74666577;
	size_t right = wf_shm_length_of(4, 8);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)unused;
	join_false((struct answer){ 0, 0, 4, 8 }, memory_of(right, true));
	join_false((struct answer){ magic, -EPROTO, 4, 8 }, -1);
	join_false((struct answer){ magic, 0, 4, 8 }, -1);
	join_false((struct answer){ magic, 0, 5, 8 }, memory_of(right, true));
	join_false((struct answer){ magic, 0, 4, 0 }, memory_of(right, true));
	join_false((struct answer){ magic, 0, 4, UINT64_MAX }, memory_of(right, true));
	join_false((struct answer){ magic, 0, 4, UINT64_MAX / 8 }, memory_of(right, true));
	join_false((struct answer){ magic, 0, 4, 8 }, memory_of(right, false));
	join_false((struct answer){ magic, 0, 4, 8 }, memory_of(right - 1, true));
	join_false((struct answer){ magic, 0, 4, 8 }, null);
	return 0;
}

TEST(who_joins_believes_nothing_that_it_is_told)
{
	run_with(2, false_makers, NULL);
}

/* Strangers that knock */

static int knock(void *text)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	socklen_t len;
	char answer[64];

	CHECK(false_name(&a, &len) != NULL);
	while (weft_connect(fd, (struct sockaddr *)&a, len) < 0)
		(void)weft_yield();
	if (text != NULL) {
		CHECK(weft_send(fd, text, strlen(text), 0) > 0);
		(void)weft_recv(fd, answer, sizeof answer, 0);
	}
	return weft_close(fd);
}

static int among_strangers(void *unused)
{
	weft_thread *t;

	(void)unused;
	fresh_name();
	t = start(open_there, NULL);
	CHECK_EQ(knock(NULL), 0);
	CHECK_EQ(knock((char *)(uintptr_t) "hello"), 0);
	here = open_side(sizeof(int), 4, WEFT_CHANNEL_JOIN);
	CHECK_EQ(join(t), 0);
	CHECK_EQ(send_int(here, 3), 0);
	CHECK_EQ(receive_int(there), 3);
	free_both();
	return 0;
}

TEST(strangers_that_knock_are_sent_away)
{
	run_with(2, among_strangers, NULL);
}

TEST_MAIN
