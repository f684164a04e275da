/* timers.c - a million timers started and fired; timers cancelled and added.
 *
 * All timers are due before the firing is timed, so that it is work and not
 * waiting. One worker, one color: what a loop of the peers does. Cancelling and adding
 * never waits, so it is the CPU time of its thread that counts. Which timers, and their
 * delays, are drawn before: random numbers are not what is compared.
 *
 * libuv counts delays from what its loop last knew of the time, unless it is told
 * to read the clock; weft_timer_start reads it always. That is a good part of the
 * work, so both ways are compared, each with its like, and weft's slow way with
 * libuv's fast one. libevent reads the clock always.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/weft.h>

#include "bench.h"
#include "peer.h"

static const struct timer_work fire_work = { .count = 1000000, .span_ms = 1000 };
static const struct timer_work known_work = { .count = 100000,
					      .span_ms = 60000,
					      .restarts = 2000000 };
static const struct timer_work from_now_work = {
	.count = 100000, .span_ms = 60000, .restarts = 2000000, .from_now = true
};
static const struct timer_work put_off_work = {
	.count = 100000, .span_ms = 60000, .restarts = 2000000, .put_off = true
};

static struct {
	const struct timer_work *work;
	weft_timer *timers;
	int fired;
	uint64_t start, started, due, end;
	int error;
} t;

static void check(int result)
{
	if (result < 0 && t.error == 0) {
		t.error = result;
		weft_stop();
	}
}

static uint64_t random_delay(uint64_t *seed)
{
	return (1 + bench_random(seed) % (uint32_t)t.work->span_ms) * WEFT_MS;
}

static void fired(void *arg)
{
	(void)arg;
	if (++t.fired == t.work->count)
		t.end = bench_now();
}

static void start_all(uint64_t *seed)
{
	for (int i = 0; i < t.work->count; i++)
		check(weft_timer_start(&t.timers[i], random_delay(seed)));
}

static int fire_app(void *arg)
{
	uint64_t seed = 1;

	(void)arg;
	t.start = bench_now();
	start_all(&seed);
	t.started = bench_now();
	while (bench_now() - t.started < (uint64_t)(t.work->span_ms + 10) * WEFT_MS)
		usleep(1000);
	t.due = bench_now();
	return 0;
}

static int churn_one(weft_timer *timer, uint64_t delay, uint64_t began)
{
	int result;

	if (t.work->put_off)
		return weft_timer_restart(timer, delay);
	result = weft_timer_cancel(timer);
	if (result < 0)
		return result;
	return t.work->from_now ? weft_timer_start(timer, delay)
				: weft_timer_start_until(timer, began + delay);
}

static int churn_app(void *arg)
{
	uint64_t seed = 1, began;
	const struct timer_step *steps = timer_steps_new(t.work, &seed);

	(void)arg;
	if (steps == NULL)
		return -ENOMEM;
	began = weft_now();
	start_all(&seed);
	t.start = bench_thread_cpu();
	for (int i = 0; i < t.work->restarts; i++)
		check(churn_one(&t.timers[steps[i].timer], steps[i].delay_ms * WEFT_MS, began));
	t.end = bench_thread_cpu();
	return weft_stop();
}

static int run(int (*app)(void *arg), const struct timer_work *work)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };
	int result;

	t.work = work;
	t.timers = calloc((size_t)work->count, sizeof *t.timers);
	if (t.timers == NULL)
		return -ENOMEM;
	for (int i = 0; i < work->count; i++)
		weft_timer_init(&t.timers[i], WEFT_MAIN, fired, NULL);
	result = weft_run(app, NULL, &opt);
	return result < 0 ? result : t.error;
}

static int measure_fire(const void *arg, double *values)
{
	int result = run(fire_app, arg);

	if (result < 0)
		return result;
	if (t.fired != t.work->count)
		return bench_fail("%d timers fired", t.fired);
	values[0] = (double)(t.started - t.start) / t.work->count;
	values[1] = (double)(t.end - t.due) / t.work->count;
	values[2] = (values[0] + values[1]) * t.work->count / 1e6;
	return 0;
}

static int measure_churn(const void *arg, double *values)
{
	int result = run(churn_app, arg);

	if (result < 0)
		return result;
	values[3] = (double)(t.end - t.start) / t.work->restarts;
	return 0;
}

static int uv_churn(const void *arg, double *values)
{
	return peer_libuv.timers_churn(arg, &values[3]);
}

static int event_churn(const void *arg, double *values)
{
	return peer_libevent.timers_churn(arg, &values[3]);
}

static const struct bench_plan plan = {
	.name = "timers",
	.work = "1,000,000 timers with random delays up to 1 s started, then fired when all\n"
		"are due; 2,000,000 times cancel and add, or put off to 60 s, among 100,000 timers",
	.metrics = { { "start", "ns", BENCH_LOWER },
		     { "fire", "ns", BENCH_LOWER },
		     { "start and fire all", "ms", BENCH_LOWER },
		     { "each", "ns", BENCH_LOWER } },
	.metric_count = 4,
	.repeats = 3,
	.limit_s = 120,
};

static void add_churn(struct bench_row *rows[3], const char *label, const struct timer_work *work)
{
	rows[0] = bench_add(label, "weft", measure_churn, work);
	rows[1] = peer_add(label, &peer_libuv, uv_churn, work);
	if (work->put_off || work->from_now)
		rows[2] = peer_add(label, &peer_libevent, event_churn, work);
}

static void compare(const struct bench_row *ours, const struct bench_row *peer, int metric,
		    const char *label, const char *aim)
{
	bench_ratio(label, peer, ours, metric, BENCH_HIGHER, aim);
}

int bench_timers(void)
{
	struct bench_row *fire[3], *known[3], *from_now[3], *put_off[3];

	bench_begin(&plan);
	fire[0] = bench_add("start and fire", "weft", measure_fire, &fire_work);
	fire[1] = peer_add("start and fire", &peer_libuv, peer_libuv.timers_fire, &fire_work);
	fire[2] = peer_add("start and fire", &peer_libevent, peer_libevent.timers_fire, &fire_work);
	add_churn(known, "cancel and add, time known", &known_work);
	add_churn(from_now, "cancel and add, from now", &from_now_work);
	add_churn(put_off, "put off", &put_off_work);
	bench_run();
	compare(fire[0], fire[1], 2, "start and fire, faster than libuv", "5");
	compare(fire[0], fire[2], 2, "start and fire, faster than libevent", "");
	compare(known[0], known[1], 3, "cancel and add, time known, faster than libuv", "5");
	compare(from_now[0], from_now[1], 3, "cancel and add, from now, faster than libuv", "5");
	compare(from_now[0], known[1], 3, "the same, libuv with its time known", "");
	compare(from_now[0], from_now[2], 3, "cancel and add, from now, faster than libevent", "");
	compare(put_off[0], put_off[1], 3, "put off, faster than libuv", "5");
	compare(put_off[0], put_off[2], 3, "put off, faster than libevent", "");
	return bench_end();
}
