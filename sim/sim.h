/* sim.h - a pretend machine: the scheduler's own code on N virtual cores in
 * virtual time, every run repeatable from its seed.
 *
 *	struct sim *sim = sim_start(.workers = 2, .seed = 1);
 *
 *	sim_post(sim, .worker = 0, .color = 7, .count = 100);
 *	sim_run_until_idle(sim);
 *	CHECK_EQ(sim_most_at_once(sim, 7), 1);
 *	sim_stop(sim);
 *
 * Promises S1, S2, S3 and S5 are checked at every step. A breach prints what
 * happened last and the seed, and aborts. There is one machine at a time.
 */
#ifndef SIM_H
#define SIM_H

#include <weft/event.h>

/* How the cores lie: so many share a second-level cache, so many a package. */
struct sim_shape {
	int share_l2, share_l3, package;
	/* Ticks to fetch a cache line that another core has, by how far that core
	 * is: itself, shares L2, shares L3, same package, far. */
	unsigned fetch[5];
};

extern const struct sim_shape sim_shape_mely; /* the paper's: pairs share L2, 4 a package */
extern const struct sim_shape sim_shape_wide; /* packages of 8 cores that share L3 */

struct sim_options {
	int workers; /* 0: 2 */
	uint64_t seed;
	const char *steal;             /* as WEFT_STEAL; NULL: "all" */
	unsigned batch;                /* 0: 10 */
	uint64_t steal_cost;           /* ticks; 0: measured, as reality does */
	unsigned jitter;               /* every step takes up to so many ticks more, by the seed */
	size_t max_colors;             /* 0: no limit */
	const struct sim_shape *shape; /* NULL: sim_shape_mely */
	uint64_t max_steps;            /* more are a breach; 0: no limit */
	const char *repeat;            /* how to repeat the run, for the report of a breach */
};

struct sim;

struct sim *sim_start_with(const struct sim_options *opt);
#define sim_start(...) sim_start_with(&(struct sim_options){ __VA_ARGS__ })
void sim_stop(struct sim *sim);

/* What to post. From outside it goes to `worker`, as the kernel's events do;
 * handlers post where they run unless they say `deliver`. */
struct sim_job {
	weft_color color;
	unsigned count; /* 0: 1 */
	uint64_t ticks; /* how long it runs; 0 and no `run`: 1000 */
	weft_fn *run;   /* runs after the ticks, as part of the event; may post */
	void *arg;
	unsigned priority; /* enum weft_priority */
	bool shared;
	int worker;
	bool deliver; /* from a handler: to `worker`, as an I/O event */
	bool brought; /* from outside, if not now: `worker` itself finds it, between two turns */
	uint64_t at;  /* from outside: when; past: now */
};

struct sim_event;

/* Returns the last event posted, for sim_cancel, or NULL if it was refused or is
 * yet to come. Valid until a thousand later events have ended. */
struct sim_event *sim_post_with(struct sim *sim, const struct sim_job *job);
#define sim_post(sim, ...) sim_post_with(sim, &(struct sim_job){ __VA_ARGS__ })

/* As weft_event_cancel and weft_color_pin. */
int sim_cancel(struct sim *sim, struct sim_event *ev);
int sim_pin(struct sim *sim, weft_color color, int worker);

/* As weft_handler_penalty. Forgotten by the next sim_start. */
int sim_handler_penalty(weft_fn *fn, uint32_t penalty);

/* In a handler: works for so long. */
void sim_spend(struct sim *sim, uint64_t ticks);

/* In a handler: makes the data that belongs to `color`, of so many cache lines,
 * here; reads some of it, from where it is warm; writes it, and it is warm here. */
void sim_create(struct sim *sim, weft_color color, unsigned lines);
void sim_read(struct sim *sim, weft_color color, unsigned lines);
void sim_write(struct sim *sim, weft_color color, unsigned lines);

/* In a handler: the core that runs it; -1 outside. */
int sim_core_here(const struct sim *sim);

/* Until nothing is queued and nothing will come. */
void sim_run_until_idle(struct sim *sim);

struct sim_stats {
	uint64_t time; /* ticks since the start */
	uint64_t events, cancelled, refused, turns, steals, parks, wakes;
	uint64_t steal_cost;   /* ticks, as the scheduler believes */
	uint64_t stolen_ticks; /* running time of the turns that were stolen */
	uint64_t busy_ticks;   /* running time of all events */
	uint64_t lock_ticks;   /* spent waiting for locks */
	uint64_t misses;       /* lines of data fetched from beyond the L2 cache */
	uint64_t steps;        /* places where another core could have come in */
};
void sim_stats(const struct sim *sim, struct sim_stats *stats);

uint64_t sim_time(const struct sim *sim);
uint64_t sim_steals(const struct sim *sim);
uint64_t sim_events_run(const struct sim *sim);
/* Most events of a color, and of all, that ran at the same time. */
unsigned sim_most_at_once(const struct sim *sim, weft_color color);
unsigned sim_most_running(const struct sim *sim);
bool sim_ran_in_post_order(const struct sim *sim, weft_color color);
/* Most events of one color in a row while another one waited for that core. */
unsigned sim_longest_row(const struct sim *sim);
/* Colors that the scheduler has a record of. */
size_t sim_colors_known(struct sim *sim);
/* How many of its events ran on a core. */
uint64_t sim_ran_on(const struct sim *sim, int worker);

#endif
