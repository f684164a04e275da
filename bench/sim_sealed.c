/* sim_sealed.c - apps/sealed-files on virtual cores: each client's requests as three events,
 * one in the client's color (read and open), one in the main color (leases), one in the
 * client's again (read the file, seal, send).
 *
 * Together they take what a request takes the serial server here, 36 us; 0.3 us of it for the
 * main color and 1 us for opening are estimates. Besides, the same with the shares of the
 * paper, where 35% of the work stayed in the main color.
 */
#include <stdio.h>

#include "sealed_files.h"
#include "sim.h"

enum { CLIENTS = 16, REQUESTS = 500 };
#define FIRST_COLOR ((weft_color)1000)

/* Cycles at 2.33 GHz. */
struct shares {
	uint64_t receive, perform, deliver;
};
static const struct shares ours = { 2300, 700, 80000 }, papers = { 30000, 70000, 100000 };

struct sim_case {
	int cores;
	const struct shares *shares;
};

static struct {
	struct sim *sim;
	const struct shares *shares;
	bool serial;
	int left[CLIENTS];
} now;

static weft_color color_of(int client)
{
	return now.serial ? WEFT_MAIN : FIRST_COLOR + (weft_color)client;
}

static void receive(void *client);

static void deliver(void *client)
{
	int c = (int)(intptr_t)client;

	sim_spend(now.sim, now.shares->deliver);
	if (--now.left[c] > 0) /* the next request is there */
		sim_post(now.sim, .color = color_of(c), .run = receive, .arg = client);
}

static void perform(void *client)
{
	sim_spend(now.sim, now.shares->perform);
	sim_post(now.sim, .color = color_of((int)(intptr_t)client), .run = deliver, .arg = client);
}

static void receive(void *client)
{
	sim_spend(now.sim, now.shares->receive);
	sim_post(now.sim, .color = WEFT_MAIN, .run = perform, .arg = client);
}

/* Ticks that all requests take. */
static double run(const struct shares *shares, int cores, bool serial)
{
	double ticks;

	now.shares = shares;
	now.serial = serial;
	now.sim = sim_start(.workers = cores, .seed = 1, .jitter = 10);
	for (int c = 0; c < CLIENTS; c++) {
		now.left[c] = REQUESTS;
		if (!serial)
			sim_pin(now.sim, color_of(c), c % cores);
		sim_post(now.sim, .color = color_of(c), .run = receive, .worker = c % cores,
			 .arg = (void *)(intptr_t)c);
	}
	sim_run_until_idle(now.sim);
	ticks = (double)sim_time(now.sim);
	sim_stop(now.sim);
	return ticks;
}

static int metric;

static int measure(const void *arg, double *values)
{
	const struct sim_case *c = arg;

	values[metric] = run(c->shares, 1, true) / run(c->shares, c->cores, false);
	return 0;
}

static const struct sim_case cases[] = {
	{ 2, &ours },   { 4, &ours },   { 8, &ours },   { 1, &papers },
	{ 2, &papers }, { 3, &papers }, { 4, &papers },
};
static struct bench_row *rows[BENCH_COUNT(cases)];

void sealed_sim_add(int speedup_metric)
{
	char label[64];

	metric = speedup_metric;
	for (int i = 0; i < BENCH_COUNT(cases); i++) {
		snprintf(label, sizeof label, "%d virtual core%s%s", cases[i].cores,
			 cases[i].cores > 1 ? "s" : "",
			 cases[i].shares == &papers ? ", shares of the paper" : "");
		rows[i] = bench_add(label, "weft", measure, &cases[i]);
	}
}

void sealed_sim_derive(int speedup_metric)
{
	char label[64], aim[64];

	for (int i = 0; i < BENCH_COUNT(cases); i++) {
		if (cases[i].shares != &ours || cases[i].cores < 4)
			continue;
		snprintf(label, sizeof label, "speed-up of %d virtual cores", cases[i].cores);
		snprintf(aim, sizeof aim, "at least %.1f", 0.9 * cases[i].cores);
		bench_figure(label, rows[i], speedup_metric, aim);
	}
}
