/* machine.h - the insides of the pretend machine.
 *
 * Each virtual core is a coroutine with its own clock. The one whose clock is
 * behind all others runs, until what it does (sim_spend) takes it past the next:
 * of two at the same tick the seed chooses. One more core, the outside, posts what
 * comes from elsewhere.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "fiber.h"
#include "platform/clock.h"
#include "platform/topology.h"
#include "scheduler/worker.h"
#include "sim.h"

/* What things cost on the pretend machine, in ticks, beside locks (lock.c) and
 * fetching lines (the shape). Chosen so that posting to a fresh color and running
 * the event come to 250 ticks together: `weft-bench post` saw 185 to 270. */
enum {
	SIM_TICKS_PER_US = 2330, /* Mely's machine */
	COST_POST = 30,          /* beside the locks */
	COST_TURN = 20,          /* to find the next color in one's own queue */
	COST_EVENT = 15,         /* to take an event and call its function */
	COST_LOOK = 15,          /* at one possible victim */
	COST_PARK = 500,
	COST_WAKE = 1500,   /* to wake a core: a system call */
	COST_WAKING = 5000, /* to come awake */
	COST_LINE = 1,      /* to work on a line that is here */
	LINES_EVENT = 2,    /* an event's, where it was not posted */
};

enum sim_state { SIM_READY, SIM_WAITING, SIM_ASLEEP, SIM_GONE };

struct sim_core {
	struct sim *sim;
	int id;
	struct wf_worker *w; /* NULL: the outside */
	enum sim_state state;
	uint64_t now;
	uint32_t draw;           /* decides between cores at the same tick */
	unsigned ranks;          /* of the locks it holds */
	struct sim_core *next;   /* that waits for the same lock */
	struct sim_event *event; /* that it runs */
	struct sim_event *brought, *brought_last;
	bool stole;    /* the color whose turn it is */
	uint64_t turn; /* moment at which the turn began */
	weft_color row_color;
	unsigned row; /* events of it in a row, while others waited */
	uint64_t ran;
	struct sim_fiber fiber;
};

enum sim_event_state { SIM_FREE, SIM_COMING, SIM_QUEUED, SIM_RUNNING, SIM_DONE, SIM_CANCELLED };

struct sim_event {
	weft_event ev; /* first: the scheduler gives this back */
	struct sim_job job;
	enum sim_event_state state;
	bool posting;        /* wf_sched_post has not returned */
	int from;            /* core that posted it */
	uint64_t begin, end; /* moments at which posting began and ended */
	struct sim_color *color;
	struct sim_event *next, *prev; /* queued in its color, by end; coming; free */
};

/* What the checks know of a color. */
struct sim_color {
	weft_color id;
	unsigned exclusive, shared; /* running now */
	unsigned most;
	unsigned posting, pinning; /* under way */
	bool had_shared;
	bool overtaken;                 /* an event ran after one that was posted later */
	uint64_t newest;                /* when the latest began to be posted, of those that ran */
	bool pins_overlap;              /* nobody can say which won */
	struct sim_event *first, *last; /* posted and not begun */
	unsigned queued;
	int home;        /* core where its data is warm, or -1 */
	int pin;         /* -1: none, or nobody can say */
	uint64_t pinned; /* moment at which it was */
};

enum { SIM_TRACE = 24 };

struct sim_trace {
	uint64_t step, time;
	int core;
	const char *what;
	weft_color color;
};

struct sim {
	struct sim_options opt;
	struct wf_sched sched;
	struct wf_topology topology;
	const struct sim_shape *shape;
	uint8_t *distance;        /* [a * workers + b] */
	struct sim_core *cores;   /* the last is the outside */
	struct sim_core *current; /* NULL: nobody, time stands still */
	struct sim_core **heap;
	int heap_size;
	struct sim_fiber main;
	uint64_t now; /* while nobody runs */
	uint64_t random;
	bool stopping;
	struct sim_event *coming; /* from outside, by time */
	struct sim_event *free_first, *free_last;
	unsigned free_count;
	struct sim_slab *slabs;
	unsigned slab_used;
	struct sim_color **colors; /* open addressing */
	size_t color_mask, color_count;
	uint64_t steps;
	uint64_t moment;     /* counts what the checks have to put in order */
	uint64_t unfinished; /* events accepted and neither run nor cancelled */
	uint64_t pins;
	unsigned running, most_running, longest_row;
	struct sim_stats stats;
	struct sim_trace trace[SIM_TRACE];
	unsigned traced;
};

/* The machine that runs, for code that gets no argument. */
extern struct sim *sim_machine;

uint64_t sim_random(struct sim *sim);
static inline unsigned sim_distance(const struct sim *sim, int a, int b)
{
	int n = sim->opt.workers;

	return a < 0 || b < 0 || a >= n || b >= n ? 0 : sim->distance[a * n + b];
}
static inline unsigned sim_fetch(const struct sim *sim, int from, int to)
{
	return sim->shape->fetch[sim_distance(sim, from, to)];
}

/* core.c */
int sim_core_init(struct sim *sim, int id);
void sim_core_fini(struct sim_core *core);
/* Makes a core run at `when` or later. */
void sim_core_ready(struct sim *sim, struct sim_core *core, uint64_t when);
/* The current core stands still until somebody makes it ready. */
void sim_core_stop(struct sim *sim, enum sim_state state);
/* Lets the cores run until all stand still. */
void sim_cores_run(struct sim *sim);
/* worker.c */
void sim_worker_main(struct sim *sim, struct sim_core *core);
void sim_outside_main(struct sim *sim, struct sim_core *core);

/* shape.c */
int sim_shape_init(struct sim *sim);
void sim_shape_fini(struct sim *sim);

/* colors.c */
struct sim_color *sim_color(struct sim *sim, weft_color id);
struct sim_color *sim_color_find(const struct sim *sim, weft_color id);
void sim_colors_fini(struct sim *sim);

/* check.c */
void sim_note(struct sim *sim, const char *what, weft_color color);
_Noreturn void sim_breach(struct sim *sim, const char *fmt, ...) WF_PRINTF(2, 3);
void sim_check_post(struct sim *sim, struct sim_event *e);
void sim_check_posted(struct sim *sim, struct sim_event *e, int rc);
void sim_check_begin(struct sim *sim, struct sim_core *core, struct sim_event *e);
void sim_check_end(struct sim *sim, struct sim_core *core, struct sim_event *e);
void sim_check_cancelled(struct sim *sim, struct sim_event *e);
void sim_check_stolen(struct sim *sim, struct sim_core *core);
void sim_check_pin(struct sim *sim, struct sim_color *k);
void sim_check_pinned(struct sim *sim, struct sim_color *k, int worker);
void sim_check_idle(struct sim *sim);

/* sim.c */
struct sim_event *sim_event_new(struct sim *sim, const struct sim_job *job);
void sim_event_free(struct sim *sim, struct sim_event *e);
int sim_event_post(struct sim *sim, struct wf_worker *self, struct sim_event *e, bool brought);

#endif
