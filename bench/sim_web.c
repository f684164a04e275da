/* sim_web.c - requests of web servers as events on virtual cores.
 *
 * Costs are those of weft-httpd on this kind of machine, kernel included, in cycles. How SWS
 * shares a request between its handlers the paper does not say; reading and writing are most
 * of it everywhere. What cores do to each other inside the kernel is not simulated.
 */
#include "sim_web.h"

#include <stdlib.h>

#define GHZ 2.33

/* Cycles. */
enum {
	REQUEST = 17000, /* a cached file of 1 KB, on a connection that is there */
	READ = 4000,
	PARSE = 1500,
	LOOK_UP = 600, /* in the page cache */
	WRITE = REQUEST - READ - PARSE - LOOK_UP,
	POLL = 1500,     /* a look at the kernel */
	POLL_EACH = 500, /* for each connection that it names */
	ACCEPT = 30000,  /* a connection, and what it needs */
	CLOSE = 20000,
	COUNT = 300,         /* connections, up or down */
	SFS_CRYPT = 65000,   /* half of it before the request is done, half after */
	SFS_PROCESS = 35000, /* in the one color of the server */
};

/* Colors with a meaning; those of connections come behind. */
enum { POLL_COLOR, ACCEPT_COLOR, CACHE_COLOR, MAIN_COLOR, ACCEPTORS };
enum { CORES_MAX = 64, POLL_MOST = 256, WARM = 1000, MEASURED = 10000 }; /* for each core */
#define FIRST_COLOR ((weft_color)1000)

struct client {
	weft_color color;
	int left; /* requests on this connection */
	struct client *next;
};

static struct {
	const struct sim_web *setting;
	struct sim *sim;
	weft_color colors;
	uint64_t random, done, begin, end;
	/* SWS: those with a request that nobody has seen yet. */
	struct client *ready, **ready_last;
	bool polling;
} now;

static void post(weft_color color, weft_fn *run, struct client *c)
{
	sim_post(now.sim, .color = color, .run = run, .arg = c);
}

/* As the kernel's events come. */
static void deliver(int core, weft_color color, weft_fn *run, struct client *c)
{
	sim_post(now.sim, .color = color, .run = run, .arg = c, .deliver = true, .worker = core);
}

static void spend(uint64_t ticks)
{
	sim_spend(now.sim, ticks);
}

static int some_core(void)
{
	return (int)(bench_random(&now.random) % (uint32_t)now.setting->cores);
}

/* Counts an answer. False: enough were measured, and the client leaves. */
static bool answered(void)
{
	uint64_t cores = (uint64_t)now.setting->cores;

	now.done++;
	if (now.done == WARM * cores)
		now.begin = sim_time(now.sim);
	if (now.done == (WARM + MEASURED) * cores)
		now.end = sim_time(now.sim);
	return now.done < (WARM + MEASURED) * cores;
}

static bool connection_over(struct client *c)
{
	return now.setting->per_connection > 0 && --c->left == 0;
}

static void new_connection(struct client *c)
{
	c->left = now.setting->per_connection;
	c->color = FIRST_COLOR + now.colors++;
}

/* weft-httpd: whichever worker takes the connection keeps it, unless it is stolen. */

static void rings_serve(void *arg);

static void rings_accept(void *arg)
{
	struct client *c = arg;

	spend(ACCEPT);
	new_connection(c);
	post(c->color, rings_serve, c);
}

static void rings_serve(void *arg)
{
	struct client *c = arg;
	int core = some_core();

	spend(REQUEST);
	if (!answered())
		return;
	if (connection_over(c)) {
		spend(CLOSE);
		deliver(core, ACCEPTORS + (weft_color)core, rings_accept, c);
	} else {
		deliver(sim_core_here(now.sim), c->color, rings_serve, c);
	}
}

/* libasync-mp: the same, but the page cache is a color. */

static void cache_read(void *arg);

static void cache_accept(void *arg)
{
	struct client *c = arg;

	spend(ACCEPT);
	new_connection(c);
	post(c->color, cache_read, c);
}

static void cache_write(void *arg)
{
	struct client *c = arg;

	spend(WRITE);
	if (!answered())
		return;
	if (connection_over(c)) {
		spend(CLOSE);
		post(ACCEPT_COLOR, cache_accept, c);
	} else {
		deliver(sim_core_here(now.sim), c->color, cache_read, c);
	}
}

static void cache_look_up(void *arg)
{
	struct client *c = arg;

	spend(LOOK_UP);
	post(c->color, cache_write, c);
}

static void cache_read(void *arg)
{
	spend(READ + PARSE);
	post(CACHE_COLOR, cache_look_up, arg);
}

/* SWS: connections belong to cores by their colors. */

static void sws_poll(void *unused);

static void sws_readable(struct client *c)
{
	c->next = NULL;
	*now.ready_last = c;
	now.ready_last = &c->next;
	if (now.polling)
		return;
	now.polling = true;
	deliver(0, POLL_COLOR, sws_poll, NULL);
}

static void sws_register(void *arg)
{
	spend(COUNT);
	sws_readable(arg);
}

static void sws_accept(void *arg)
{
	struct client *c = arg;

	spend(ACCEPT + COUNT);
	new_connection(c);
	post(POLL_COLOR, sws_register, c);
}

static void sws_close(void *arg)
{
	spend(CLOSE);
	post(ACCEPT_COLOR, sws_accept, arg);
}

static void sws_write(void *arg)
{
	struct client *c = arg;

	spend(WRITE);
	if (!answered())
		return;
	if (connection_over(c))
		post(c->color, sws_close, c);
	else
		sws_readable(c);
}

static void sws_look_up(void *arg)
{
	spend(LOOK_UP);
	post(((struct client *)arg)->color, sws_write, arg);
}

static void sws_parse(void *arg)
{
	spend(PARSE);
	post(((struct client *)arg)->color, sws_look_up, arg);
}

static void sws_read(void *arg)
{
	spend(READ);
	post(((struct client *)arg)->color, sws_parse, arg);
}

static void sws_poll(void *unused)
{
	(void)unused;
	spend(POLL);
	for (int i = 0; i < POLL_MOST && now.ready != NULL; i++) {
		struct client *c = now.ready;

		now.ready = c->next;
		if (now.ready == NULL)
			now.ready_last = &now.ready;
		spend(POLL_EACH);
		deliver((int)(c->color % (weft_color)now.setting->cores), c->color, sws_read, c);
	}
	now.polling = now.ready != NULL;
	if (now.polling)
		post(POLL_COLOR, sws_poll, NULL);
}

/* SFS: connections stay. */

static void sfs_decrypt(void *arg);

static void sfs_encrypt(void *arg)
{
	struct client *c = arg;

	spend(SFS_CRYPT / 2);
	if (answered())
		deliver(sim_core_here(now.sim), c->color, sfs_decrypt, c);
}

static void sfs_process(void *arg)
{
	spend(SFS_PROCESS);
	post(((struct client *)arg)->color, sfs_encrypt, arg);
}

static void sfs_decrypt(void *arg)
{
	spend(SFS_CRYPT / 2);
	post(MAIN_COLOR, sfs_process, arg);
}

/* Where a request of a connection begins. */
static weft_fn *const first[] = {
	[SIM_WEB_RINGS] = rings_serve,
	[SIM_WEB_CACHE_COLOR] = cache_read,
	[SIM_WEB_SFS] = sfs_decrypt,
};

/* All are connected, and most have asked before. */
static void begin(struct client *c)
{
	enum sim_web_kind kind = now.setting->kind;

	new_connection(c);
	if (c->left > 0)
		c->left = 1 + (int)(bench_random(&now.random) % (uint32_t)c->left);
	if (kind == SIM_WEB_SWS)
		sws_readable(c);
	else
		deliver(some_core(), c->color, first[kind], c);
}

double sim_web_run(const struct sim_web *setting)
{
	struct client *clients = calloc((size_t)setting->clients, sizeof *clients);

	if (clients == NULL || setting->cores > CORES_MAX) {
		free(clients);
		return 0;
	}
	now.setting = setting;
	now.random = 1;
	now.ready_last = &now.ready;
	now.sim = sim_start(.workers = setting->cores, .seed = 1, .steal = setting->steal,
			    .jitter = 10);
	for (int i = 0; i < setting->cores; i++)
		sim_pin(now.sim, ACCEPTORS + (weft_color)i, i);
	for (int i = 0; i < setting->clients; i++)
		begin(&clients[i]);
	sim_run_until_idle(now.sim);
	sim_stop(now.sim);
	free(clients);
	return MEASURED * (double)setting->cores / ((double)(now.end - now.begin) / GHZ * 1e-9);
}
