/* Runs programs on Weft, by the plain-C floor of weft/scope.h.
 *
 * The threads of a program are of one color, so they share the store without a lock; but
 * operations may be done in another color, and what changes there is in account.h. That also
 * tells when all that is left waits for ever, which is one of the outcomes: the channels are
 * closed then, and each thread ends where it is.
 */
#include "async/semantics/execute.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "async/semantics/account.h"
#include "async/semantics/events.h"
#include "async/semantics/interpret.h"
#include "harness/test.h"

struct run {
	const struct execution *e;
	uint64_t random;
	weft_color color;
	int store[VARIABLES];
	struct account account;
	struct outcome *outcome;
};

/* What a body of an async needs to begin. */
struct start {
	struct run *r;
	struct block *block;
	int first;
	bool allocated;
};

static const char *const manner_names[MANNERS] = { "exact", "direct", "mixed", "beside" };

int manner_rules(enum manner m)
{
	return m == EXACT ? LATER : m == BESIDE_IT ? LATER | AT_ONCE | BESIDE : LATER | AT_ONCE;
}

const char *manner_name(enum manner m)
{
	return manner_names[m];
}

static bool chance(struct run *r, int of)
{
	return test_random(&r->random) % (uint64_t)of == 0;
}

/* Notes what there is when nothing will happen any more. */
static void keep_outcome(struct run *r, bool stuck)
{
	struct outcome *o = r->outcome;

	memset(o, 0, sizeof *o);
	o->stuck = stuck;
	for (int v = 0; v < VARIABLES; v++)
		o->store[v] = (int8_t)r->store[v];
	for (int c = 0; c < CHANNELS; c++) {
		weft_channel *ch = r->account.channel[c];
		int message;

		weft_channel_close(ch);
		while (o->length[c] < MAX_MESSAGES && weft_channel_try_receive(ch, &message) == 0)
			o->message[c][o->length[c]++] = (int8_t)message;
	}
}

static void turn_to(struct run *r, struct piece *me, enum doing doing, const struct command *c)
{
	if (account_turn(&r->account, me, doing, c))
		keep_outcome(r, true);
}

static void hop(struct run *r, weft_color color)
{
	if (weft_hop(color) != 0)
		account_wrong(&r->account, "weft_hop failed");
}

static void begin(struct run *r, struct block *b, bool shield)
{
	if (shield && r->e->bug != SHIELD_IS_OPEN)
		weft_shield_begin(&b->scope);
	else
		weft_scope_begin(&b->scope);
}

static void end(struct run *r, struct block *b)
{
	if (weft_scope_end(&b->scope) != 0)
		account_wrong(&r->account, "a scope has an error that nobody gave it");
}

/* Lets others run before an operation, if that is the manner. */
static void let_others(struct run *r)
{
	enum manner m = r->e->manner;

	if (m == DIRECT || (m != EXACT && chance(r, 2)))
		return;
	if (weft_yield() != 0)
		account_wrong(&r->account, "weft_yield failed");
}

static int wait_for(const struct run *r, weft_channel *ch, const struct command *c, int *message)
{
	if (c->by != BY_CALL)
		return operate_by_event((enum way)c->by, ch, c->kind == SEND, message,
					r->e->bug == GIVES_UP);
	return c->kind == SEND ? weft_channel_send(ch, message) : weft_channel_receive(ch, message);
}

/* Does a send or receive, perhaps in another color. */
static int operate_at(struct run *r, struct piece *me, const struct command *c, int *message)
{
	weft_channel *ch = r->account.channel[c->channel];
	bool away = r->e->manner == BESIDE_IT && chance(r, 2);
	/* A body's last send may leave it there: the scope still knows it. */
	bool stays = c->kind == SEND && c->next == NONE && !c->tries && chance(r, 2) &&
		     r->e->p->command[c->up].kind == ASYNC;
	int rc;

	if (away)
		hop(r, r->e->beside);
	turn_to(r, me, OPERATES, c);
	rc = wait_for(r, ch, c, message);
	account_done(&r->account, me, c, rc == 0);
	if (away && !stays)
		hop(r, r->color);
	return rc;
}

/* Sends and receives the variables themselves, as the figure does; copies of them where
 * other cores are at it, and by events, which come some time before the thread goes on. An
 * operation without try is in a shield; by a tamed function that does not listen it needs none.
 */
static int operate(struct run *r, struct piece *me, const struct command *c)
{
	int *variable = &r->store[c->kind == RECV ? c->variable : c->from == NONE ? 0 : c->from];
	int copy = c->kind == SEND && c->from == NONE ? c->plus : *variable, before = *variable;
	bool copies = r->e->manner == BESIDE_IT || c->by != BY_CALL ||
		      (c->kind == SEND && c->from == NONE);
	bool shields = (!c->tries && c->by != BY_DEAF) ||
		       (r->e->bug == CANCELS_ONCE && account_cancelled(me->block));
	struct block shield;
	int rc;

	if (shields)
		begin(r, &shield, true);
	rc = operate_at(r, me, c, copies ? &copy : variable);
	if (shields)
		end(r, &shield);
	if (c->kind == RECV && copies && rc == 0)
		*variable = copy;
	if (r->e->bug == LOSES_MESSAGE && c->kind == RECV && c->tries && rc == 0 &&
	    account_cancelled(me->block)) {
		*variable = before;
		return -ECANCELED;
	}
	return rc;
}

static bool run_sequence(struct run *r, struct piece *me, int first);

static bool run_io(struct run *r, struct piece *me, const struct command *c)
{
	int rc;

	let_others(r);
	rc = operate(r, me, c);
	if (rc == -ECANCELED && c->tries)
		return run_sequence(r, me, c->other);
	if (rc == -EPIPE && account_stuck(&r->account))
		return false;
	if (rc != 0)
		account_wrong(&r->account, "an operation failed that could not");
	return true;
}

static int body(void *arg)
{
	struct start s = *(struct start *)arg;
	struct piece me;

	if (s.allocated)
		free(arg);
	account_enter(&s.r->account, &me, s.block);
	run_sequence(s.r, &me, s.first);
	if (account_leave(&s.r->account, &me))
		keep_outcome(s.r, true);
	return 0;
}

static int start_late(const struct start *s)
{
	struct start *copy = malloc(sizeof *copy);

	CHECK(copy != NULL);
	*copy = *s;
	copy->allocated = true;
	return weft_go(body, copy);
}

static void run_async(struct run *r, struct piece *me, const struct command *c)
{
	struct start s = { r, me->block, c->body, false };
	int rc;

	account_start(&r->account, me->block);
	if (r->e->bug == STARTS_LATE)
		rc = start_late(&s);
	else if (chance(r, 2))
		rc = weft_async_call(body, &s);
	else
		rc = weft_async_copy(body, &s, sizeof s);
	if (rc != 0)
		account_wrong(&r->account, "an async did not start");
}

static bool run_block(struct run *r, struct piece *me, int command)
{
	const struct command *c = &r->e->p->command[command];
	struct block b = { .up = me->block, .command = command, .shield = c->kind == SHIELD };
	bool on;

	begin(r, &b, b.shield);
	me->block = &b;
	on = run_sequence(r, me, c->body);
	turn_to(r, me, ENDS, NULL);
	end(r, &b);
	if (b.live > 0)
		account_wrong(&r->account, "a finish block ended before what it had started");
	account_turn(&r->account, me, RUNS, NULL);
	me->block = b.up;
	return on && !account_stuck(&r->account);
}

static void run_cancel(struct run *r, struct piece *me, int label)
{
	bool away = r->e->manner == BESIDE_IT && chance(r, 2);
	struct block *b = me->block;
	bool was;
	int rc;

	while (b->command != label)
		b = b->up;
	if (away)
		hop(r, r->e->beside);
	was = account_cancel(&r->account, b);
	if (r->e->bug == CANCELS_OUTER && b->up != NULL)
		weft_scope_cancel(&b->up->scope);
	rc = weft_scope_cancel(&b->scope);
	if (rc != 0 && rc != -EALREADY)
		account_wrong(&r->account, "weft_scope_cancel failed");
	if (away)
		hop(r, r->color);
	/* In other colors somebody may have come first; and who is there is told in time. */
	if (r->e->manner == BESIDE_IT)
		return;
	if (rc != 0 && !was)
		account_wrong(&r->account, "what is not cancelled was said to be");
	if (weft_cancelled() != account_cancelled(me->block))
		account_wrong(&r->account, "weft_cancelled does not tell what is cancelled");
}

/* Tells whether to go on. */
static bool run_command(struct run *r, struct piece *me, int id)
{
	const struct command *c = &r->e->p->command[id];

	switch ((enum kind)c->kind) {
	case ASSIGN:
		r->store[c->variable] =
			(int8_t)((c->from == NONE ? 0 : r->store[c->from] * c->times) + c->plus);
		return true;
	case IF:
		return run_sequence(r, me, r->store[c->variable] < c->plus ? c->body : c->other);
	case WHILE:
		while (r->store[COUNTER] < c->plus) {
			r->store[COUNTER]++;
			if (!run_sequence(r, me, c->body))
				return false;
		}
		return true;
	case ASYNC:
		run_async(r, me, c);
		return true;
	case FINISH:
	case SHIELD:
		return run_block(r, me, id);
	case CANCEL:
		run_cancel(r, me, c->label);
		return true;
	case SEND:
	case RECV:
		return run_io(r, me, c);
	}
	return false;
}

static bool run_sequence(struct run *r, struct piece *me, int first)
{
	for (int id = first; id != NONE; id = r->e->p->command[id].next)
		if (!run_command(r, me, id))
			return false;
	return true;
}

void channels_new(weft_channel **channel, int capacity)
{
	for (int c = 0; c < CHANNELS; c++) {
		channel[c] = weft_channel_new(sizeof(int),
					      capacity > 0 ? (size_t)capacity : WEFT_UNBOUNDED);
		CHECK(channel[c] != NULL);
	}
}

void channels_free(weft_channel **channel)
{
	for (int c = 0; c < CHANNELS; c++) {
		CHECK_EQ(weft_channel_free(channel[c]), 0);
		channel[c] = NULL;
	}
}

const char *execute(const struct execution *e, struct outcome *outcome)
{
	struct run r = { .e = e, .random = e->seed, .outcome = outcome };
	struct piece me;
	const char *wrong;

	r.color = weft_color_current();
	account_open(&r.account, e->p->capacity, e->channel);
	account_enter(&r.account, &me, NULL);
	run_block(&r, &me, 0);
	if (!account_stuck(&r.account))
		keep_outcome(&r, false);
	wrong = account_close(&r.account);
	return e->bug == NO_BUG ? wrong : NULL;
}
