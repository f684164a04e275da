/* stress.c - clients and servers in one runtime, random sizes, random ends; every
 * byte is checked. */
#include <netinet/in.h>

#include "io/sync.h"

enum { CLIENTS = 40, MOST = 20000 };

static struct {
	struct sockaddr_in addr;
	int listener;
	int rounds; /* that each client has to do */
	_Atomic int clients_left, served, open;
	bool closed; /* nobody will connect any more */
	weft_op accept;
} world;

/* A server's side of a connection: sends back what it gets. */
struct served {
	weft_op recv, send;
	int fd;
	char buf[8192];
};

static void served_end(struct served *s)
{
	CHECK_EQ(weft_fd_close(s->fd), 0);
	world.open--;
	free(s);
}

static void served_received(void *arg)
{
	struct served *s = arg;

	if (s->recv.result <= 0)
		served_end(s);
	else
		CHECK_EQ(weft_op_send(&s->send, s->fd, s->buf, (size_t)s->recv.result, MSG_WAITALL),
			 0);
}

static void served_sent(void *arg)
{
	struct served *s = arg;

	if (s->send.result != s->recv.result)
		served_end(s); /* the client is gone */
	else
		CHECK_EQ(weft_op_recv(&s->recv, s->fd, s->buf, sizeof s->buf, 0), 0);
}

static void accepted(void *unused)
{
	weft_color color = weft_color_new();
	struct served *s;

	(void)unused;
	if (world.accept.result == -ECANCELED)
		return;
	CHECK(world.accept.result >= 0);
	s = malloc(sizeof *s);
	s->fd = (int)world.accept.result;
	world.open++;
	world.served++;
	weft_op_init(&s->recv, color, served_received, s);
	weft_op_init(&s->send, color, served_sent, s);
	CHECK_EQ(weft_op_recv(&s->recv, s->fd, s->buf, sizeof s->buf, 0), 0);
	CHECK_EQ(weft_op_accept(&world.accept, world.listener, NULL, NULL), 0);
	if (world.closed)
		(void)weft_op_cancel(&world.accept);
}

/* A client: connects, talks a few times, ends in one way or another. */
struct client {
	weft_op connect, recv, send, close;
	int fd, pending;
	int rounds, talks;
	uint64_t seed;
	size_t len;
	bool ending;
	char out[MOST], in[MOST];
};

static void client_connect(struct client *c)
{
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(c->fd >= 0);
	c->talks = 1 + (int)(test_random(&c->seed) % 6);
	c->ending = false;
	CHECK_EQ(weft_op_connect(&c->connect, c->fd, (struct sockaddr *)&world.addr,
				 sizeof world.addr),
		 0);
}

static void stop_accepting(void *unused)
{
	(void)unused;
	world.closed = true;
	(void)weft_op_cancel(&world.accept);
}

/* When all is over the servers see the ends, and the runtime ends by itself. */
static void client_over(struct client *c)
{
	if (--c->rounds > 0)
		client_connect(c);
	else if (--world.clients_left == 0)
		CHECK_EQ(weft_post(WEFT_MAIN, stop_accepting, NULL), 0);
}

static void client_end(struct client *c)
{
	c->ending = true;
	if (test_random(&c->seed) % 2 == 0) {
		CHECK_EQ(weft_fd_close(c->fd), 0);
		if (c->pending == 0)
			client_over(c);
		return;
	}
	c->pending++;
	CHECK_EQ(weft_op_close(&c->close, c->fd), 0);
}

static void client_talk(struct client *c)
{
	c->len = 1 + test_random(&c->seed) % (test_random(&c->seed) % 8 == 0 ? MOST : 200);
	for (size_t i = 0; i < c->len; i++)
		c->out[i] = (char)test_random(&c->seed);
	memset(c->in, 0, c->len);
	c->pending = 2;
	CHECK_EQ(weft_op_recv(&c->recv, c->fd, c->in, c->len, MSG_WAITALL), 0);
	CHECK_EQ(weft_op_send(&c->send, c->fd, c->out, c->len, MSG_WAITALL), 0);
	/* Sometimes in the middle of it. */
	if (test_random(&c->seed) % 10 == 0)
		client_end(c);
}

static void client_done(void *arg)
{
	struct client *c = arg;

	if (--c->pending > 0)
		return;
	if (c->ending) {
		client_over(c);
		return;
	}
	CHECK_EQ(c->send.result, c->len);
	CHECK_EQ(c->recv.result, c->len);
	CHECK_EQ(memcmp(c->in, c->out, c->len), 0);
	if (--c->talks > 0)
		client_talk(c);
	else
		client_end(c);
}

static void client_connected(void *arg)
{
	struct client *c = arg;

	CHECK_EQ(c->connect.result, 0);
	client_talk(c);
}

static void client_begin(void *arg)
{
	client_connect(arg);
}

static int begin(void *arg)
{
	struct client *clients = arg;

	weft_op_init(&world.accept, WEFT_MAIN, accepted, NULL);
	CHECK_EQ(weft_op_accept(&world.accept, world.listener, NULL, NULL), 0);
	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = &clients[i];
		weft_color color = weft_color_new();

		c->seed = TEST_SEED + (uint64_t)i;
		c->rounds = world.rounds;
		weft_op_init(&c->connect, color, client_connected, c);
		weft_op_init(&c->recv, color, client_done, c);
		weft_op_init(&c->send, color, client_done, c);
		weft_op_init(&c->close, color, client_done, c);
		CHECK_EQ(weft_post(color, client_begin, c), 0);
	}
	return 0;
}

static void talk(const weft_options *opt)
{
	static struct client clients[CLIENTS];
	socklen_t len = sizeof world.addr;

	memset(clients, 0, sizeof clients);
	world.listener = weft_listen_on("127.0.0.1:0");
	CHECK_EQ(getsockname(world.listener, (struct sockaddr *)&world.addr, &len), 0);
	world.rounds = TEST_SIZE(50);
	world.clients_left = CLIENTS;
	world.closed = false;
	CHECK_EQ(weft_run(begin, clients, opt), 0);
	CHECK_EQ(world.open, 0);
	CHECK_EQ(close(world.listener), 0);
}

TEST(clients_and_servers_talk_on_one_worker)
{
	talk(&(weft_options){ .workers = 1 });
}

TEST(clients_and_servers_talk_on_several_workers)
{
	talk(&(weft_options){ .workers = 4 });
}

TEST(clients_and_servers_talk_while_their_colors_are_stolen_all_the_time)
{
	talk(&(weft_options){ .workers = 3, .steal = "base", .batch = 1 });
}

TEST_MAIN
