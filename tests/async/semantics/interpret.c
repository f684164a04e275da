/* Figure 5 of the AC paper, executable: finds all states that a program can come to, and so
 * all that it can end with.
 *
 * The figure rewrites terms. Here a command of a pool is a thread of control: the place in the
 * program where it goes on, and its innermost pool. `pool f CS` is a struct pool, whose CS
 * are the threads that belong to it and the one that is in its block. Then
 *
 *	E[C], for a C that can be reduced next, is a thread whose place is C;
 *	E_c[C] is one that has a cancelled pool around it, and no shield between;
 *	=> (big step) runs one thread until it ends or comes to an operation, and with it the
 *	threads whose async it was in: these are on a stack, as in Async-2 the continuation goes
 *	on as soon as the body blocks.
 *
 * Everything in a big step is determined, so all choice is between the top-level transitions;
 * only the rule AT_ONCE adds a choice within. A state with threads on the stack is one within
 * a big step.
 */
#include "async/semantics/interpret.h"

#include <string.h>

#include "async/semantics/states.h"

/* The end of a sequence is the end of what it is the branch of. */
static uint8_t end_of(const struct interpreter *in, int up)
{
	switch (in->p->command[up].kind) {
	case WHILE:
		return (uint8_t)up;
	case ASYNC:
		return OVER;
	case FINISH:
	case SHIELD:
		return (uint8_t)(up | AT_END);
	default:
		return in->after[up];
	}
}

/* Commands are numbered from the outside in. */
static void find_places(struct interpreter *in)
{
	for (int id = 0; id < in->p->count; id++) {
		const struct command *c = &in->p->command[id];

		if (c->next != NONE)
			in->after[id] = (uint8_t)c->next;
		else
			in->after[id] = c->up == NONE ? OVER : end_of(in, c->up);
		in->body[id] = c->body != NONE ? (uint8_t)c->body : end_of(in, id);
		in->other[id] = c->other != NONE ? (uint8_t)c->other : in->after[id];
	}
}

static bool cancelled(const struct interpreter *in, const struct state *s, int pool)
{
	for (; pool != ROOT; pool = s->pool[pool].up) {
		if (s->pool[pool].cancelled)
			return true;
		if (in->p->command[s->pool[pool].command].kind == SHIELD)
			return false;
	}
	return false;
}

static bool on_stack(const struct state *s, int t)
{
	for (int i = 0; i < s->depth; i++)
		if (s->stack[i] == t)
			return true;
	return false;
}

/* Whether a command is one that => stops at. */
static bool is_final(const struct interpreter *in, const struct command *c)
{
	return is_io(c) || (c->kind == CANCEL && (in->rules & BESIDE));
}

/* Whether an operation is done at another moment than that of its thread. */
static bool is_beside(const struct interpreter *in, const struct command *c)
{
	return (in->rules & BESIDE) || (is_io(c) && c->by != BY_CALL);
}

/* Gives the operation that a thread has come to, or NULL. */
static const struct command *operation(const struct interpreter *in, const struct state *s, int t)
{
	const struct thread *thread = &s->thread[t];
	const struct command *c;

	if (thread->place >= AT_END || thread->woken || on_stack(s, t))
		return NULL;
	c = &in->p->command[thread->place];
	if (!is_final(in, c) || (c->kind == RECV && thread->holds))
		return NULL;
	return c;
}

static bool possible(const struct interpreter *in, const struct state *s, const struct command *c)
{
	int length = s->world.length[c->channel];

	if (c->kind == RECV)
		return length > 0;
	return c->kind == CANCEL || in->p->capacity == 0 || length < in->p->capacity;
}

static void push(struct interpreter *in, struct state *s, int channel, int8_t value)
{
	if (s->world.length[channel] == MAX_MESSAGES) {
		in->too_large = true;
		return;
	}
	s->world.message[channel][s->world.length[channel]++] = value;
}

static int8_t pop(struct state *s, int channel)
{
	int8_t *message = s->world.message[channel];
	int8_t value = message[0];

	memmove(message, message + 1, MAX_MESSAGES - 1);
	message[MAX_MESSAGES - 1] = 0;
	s->world.length[channel]--;
	return value;
}

static void go_on(struct thread *t, uint8_t place)
{
	t->place = place;
	t->holds = false;
	t->held = 0;
}

/* Cancel. The innermost pool of that label, as a loop may have made several. */
static void cancel(struct state *s, int pool, int label)
{
	while (s->pool[pool].command != label)
		pool = s->pool[pool].up;
	s->pool[pool].cancelled = true;
}

/* T-Send, T-Recv, and with a try around them T-Try-IO. */
static void do_io(struct interpreter *in, struct state *s, int t, bool beside)
{
	struct thread *thread = &s->thread[t];
	const struct command *c = &in->p->command[thread->place];

	thread->woken = true;
	if (c->kind == CANCEL) {
		cancel(s, thread->pool, c->label);
		go_on(thread, in->after[thread->place]);
	} else if (c->kind == SEND) {
		push(in, s, c->channel, thread->holds ? thread->held : value_of(c, s->world.store));
		go_on(thread, in->after[thread->place]);
	} else if (beside) {
		thread->holds = true;
		thread->held = pop(s, c->channel);
	} else {
		s->world.store[c->variable] = pop(s, c->channel);
		go_on(thread, in->after[thread->place]);
	}
}

/* T-Try-Cancel */
static void add_cancelled(struct interpreter *in, const struct state *s, int t)
{
	struct state next = *s;
	int id = s->thread[t].place;

	go_on(&next.thread[t], in->other[id]);
	next.thread[t].woken = in->p->command[id].other == NONE;
	states_add(in, &next);
}

/* Adds what comes of `s` if somebody who waits can do its operation: at this channel, as others
 * make no difference to who is there; or cancel. */
static void add_along(struct interpreter *in, const struct state *s, int channel)
{
	for (int t = 0; t < MAX_THREADS; t++) {
		const struct command *c = operation(in, s, t);
		struct state next;

		if (c == NULL || (is_io(c) && c->channel != channel) || !possible(in, s, c))
			continue;
		next = *s;
		do_io(in, &next, t, is_beside(in, c));
		states_add(in, &next);
	}
}

/* The rule AT_ONCE, for an operation of the thread on top of the stack. */
static void add_at_once(struct interpreter *in, const struct state *s)
{
	int t = s->stack[s->depth - 1];
	const struct command *c = &in->p->command[s->thread[t].place];
	struct state next = *s;

	if (is_beside(in, c) && is_io(c))
		add_along(in, s, c->channel);
	if (c->tries && cancelled(in, s, s->thread[t].pool))
		add_cancelled(in, s, t);
	if (!possible(in, s, c))
		return;
	do_io(in, &next, t, false);
	states_add(in, &next);
	if (is_io(c))
		add_along(in, &next, c->channel);
}

static int new_thread(struct interpreter *in, struct state *s, uint8_t place, uint8_t pool)
{
	for (int t = 0; t < MAX_THREADS; t++) {
		if (s->thread[t].place != FREE)
			continue;
		s->thread[t] = (struct thread){ .place = place, .pool = pool };
		s->pool[pool].live++;
		s->stack[s->depth++] = (uint8_t)t;
		return t;
	}
	in->too_large = true;
	return NONE;
}

static uint8_t new_pool(struct interpreter *in, struct state *s, int command, uint8_t up)
{
	for (uint8_t i = 0; i < MAX_POOLS; i++) {
		if (s->pool[i].command != FREE)
			continue;
		s->pool[i] = (struct pool){ .command = (uint8_t)command, .up = up };
		return i;
	}
	in->too_large = true;
	return ROOT;
}

static void leave_stack(struct state *s)
{
	s->stack[--s->depth] = 0;
}

/* Pool-1, or Pool-2 with a command that has blocked. */
static void end_pool(struct interpreter *in, struct state *s, struct thread *thread)
{
	struct pool *pool = &s->pool[thread->pool];

	if (pool->live > 0) {
		leave_stack(s);
		return;
	}
	thread->place = in->after[thread->place & ~AT_END];
	thread->pool = pool->up;
	memset(pool, 0, sizeof *pool);
	pool->command = FREE;
}

/* Async-1 and Pool-3: what is behind the async goes on; or, if that was the last command
 * of the pool, what is behind the pool (LATER: by a T-Eval of its own).
 */
static void end_thread(const struct interpreter *in, struct state *s, struct thread *thread)
{
	uint8_t pool = thread->pool;

	memset(thread, 0, sizeof *thread);
	thread->place = FREE;
	leave_stack(s);
	if (pool == ROOT || --s->pool[pool].live > 0 || s->depth > 0 || (in->rules & LATER))
		return;
	for (int t = 0; t < MAX_THREADS; t++)
		if (s->thread[t].place == (s->pool[pool].command | AT_END) &&
		    s->thread[t].pool == pool)
			s->stack[s->depth++] = (uint8_t)t;
}

/* The rules for one command that is no operation. */
static void step(struct interpreter *in, struct state *s, struct thread *thread)
{
	int id = thread->place;
	const struct command *c = &in->p->command[id];
	int8_t *store = s->world.store;
	uint8_t place = in->after[id];

	switch ((enum kind)c->kind) {
	case ASSIGN:
		store[c->variable] = value_of(c, store);
		break;
	case IF:
		place = store[c->variable] < c->plus ? in->body[id] : in->other[id];
		break;
	case WHILE:
		if (store[COUNTER] >= c->plus)
			break;
		store[COUNTER]++;
		place = in->body[id];
		break;
	case ASYNC:
		new_thread(in, s, in->body[id], thread->pool);
		break;
	case FINISH:
	case SHIELD:
		thread->pool = new_pool(in, s, id, thread->pool);
		place = in->body[id];
		break;
	case CANCEL:
		cancel(s, thread->pool, c->label);
		break;
	case SEND:
	case RECV:
		store[c->variable] = thread->held; /* it has come already (BESIDE) */
		break;
	}
	go_on(thread, place);
}

/* What a thread is going to send is computed now (BESIDE). */
static void add_computed(struct interpreter *in, const struct state *s, int t)
{
	struct state next = *s;
	struct thread *thread = &next.thread[t];

	thread->holds = true;
	thread->held = value_of(&in->p->command[thread->place], s->world.store);
	states_add(in, &next);
}

/* Final, Async-2 */
static void block(struct interpreter *in, struct state *s, struct thread *thread)
{
	leave_stack(s);
	if (is_beside(in, &in->p->command[thread->place]) &&
	    in->p->command[thread->place].kind == SEND)
		add_computed(in, s, (int)(thread - s->thread));
}

/* => from where the top of the stack is. */
static void evaluate(struct interpreter *in, struct state *s)
{
	while (s->depth > 0 && !in->too_large) {
		struct thread *thread = &s->thread[s->stack[s->depth - 1]];

		thread->woken = false;
		if (thread->place == OVER) {
			end_thread(in, s, thread);
		} else if (thread->place >= AT_END) {
			end_pool(in, s, thread);
		} else if (is_final(in, &in->p->command[thread->place]) && !thread->holds) {
			if (in->rules & AT_ONCE)
				add_at_once(in, s);
			block(in, s, thread);
		} else {
			step(in, s, thread);
		}
	}
	states_add(in, s);
}

/* T-Eval */
static void add_evaluated(struct interpreter *in, const struct state *s, int t)
{
	struct state next = *s;

	next.stack[next.depth++] = (uint8_t)t;
	evaluate(in, &next);
}

/* Adds what thread `t`, which waits at an operation, may do next; tells if anything. */
static bool add_operation(struct interpreter *in, const struct state *s, int t,
			  const struct command *c)
{
	const struct thread *thread = &s->thread[t];
	bool any = false;

	if (possible(in, s, c)) {
		struct state next = *s;

		do_io(in, &next, t, is_beside(in, c));
		states_add(in, &next);
		any = true;
	}
	if (c->tries && cancelled(in, s, thread->pool)) {
		add_cancelled(in, s, t);
		any = true;
	}
	if (is_beside(in, c) && c->kind == SEND && !thread->holds) {
		add_computed(in, s, t);
		any = true;
	}
	return any;
}

static bool can_evaluate(const struct state *s, int t)
{
	const struct thread *thread = &s->thread[t];

	if (thread->place == OVER || thread->place < AT_END)
		return true;
	return s->pool[thread->pool].live == 0;
}

/* All top-level transitions of a state. */
static void look_at(struct interpreter *in, struct state *s)
{
	bool any = false, threads = false;

	if (s->depth > 0) {
		evaluate(in, s);
		return;
	}
	for (int t = 0; t < MAX_THREADS; t++) {
		const struct command *c;

		if (s->thread[t].place == FREE)
			continue;
		threads = true;
		c = operation(in, s, t);
		if (c != NULL) {
			any |= add_operation(in, s, t, c);
		} else if (can_evaluate(s, t)) {
			add_evaluated(in, s, t);
			any = true;
		}
	}
	if (!any)
		states_add_outcome(in, s, threads);
}

/* do C finish, evaluated from the start of C. */
static void add_first(struct interpreter *in)
{
	struct state s;

	memset(&s, 0, sizeof s);
	for (int t = 0; t < MAX_THREADS; t++)
		s.thread[t].place = FREE;
	for (int i = 0; i < MAX_POOLS; i++)
		s.pool[i].command = FREE;
	s.thread[0] = (struct thread){ .place = 0, .pool = ROOT };
	s.stack[s.depth++] = 0;
	states_add(in, &s);
}

int interpret(struct interpreter *in, const struct program *p, int rules)
{
	states_begin(in);
	in->p = p;
	in->rules = rules;
	find_places(in);
	add_first(in);
	for (int i = 0; i < in->states && !in->too_large; i++) {
		struct state s = in->state[i];

		look_at(in, &s);
	}
	return in->too_large ? NONE : in->outcomes;
}
