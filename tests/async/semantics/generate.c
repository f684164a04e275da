/* Makes random programs, of which many wait, some are cancelled and few do nothing. */
#include "async/semantics/program.h"

#include <string.h>

#include "harness/test.h"

enum { DEEPEST = 5 };

struct making {
	struct program *p;
	uint64_t random;
	int left; /* commands that may still be made */
	int loops;
	bool events;
};

static int below(struct making *m, int n)
{
	return (int)(test_random(&m->random) % (uint64_t)n);
}

static void make_sequence(struct making *m, int up, int8_t *link, int most, int depth);

/* How often each kind is tried. A finish in which nothing is started is dull, so async is
 * frequent; and so is send, as recv would wait for ever. */
static const struct {
	uint8_t kind, weight;
	bool inner; /* it has a body */
} choice[] = {
	{ ASSIGN, 3, false }, { SEND, 8, false },  { RECV, 6, false },
	{ CANCEL, 3, false }, { ASYNC, 14, true }, { FINISH, 5, true },
	{ SHIELD, 2, true },  { IF, 1, true },     { WHILE, 1, true },
};

static enum kind choose(struct making *m, int depth)
{
	int n = sizeof choice / sizeof choice[0];
	int total = 0, at;

	for (int i = 0; i < n; i++)
		total += choice[i].weight;
	for (;;) {
		int i = 0;

		for (at = below(m, total); at >= choice[i].weight; i++)
			at -= choice[i].weight;
		if (choice[i].inner &&
		    (depth == DEEPEST || m->left == 0 || below(m, depth + 1) > 1))
			continue;
		if (choice[i].kind == WHILE && m->loops++ > 0)
			continue;
		return (enum kind)choice[i].kind;
	}
}

/* The innermost block, or one around that. */
static int8_t choose_label(struct making *m, int up)
{
	const struct command *command = m->p->command;

	for (;;) {
		while (!is_block(&command[up]))
			up = command[up].up;
		if (up == 0 || below(m, 3) > 0)
			return (int8_t)up;
		up = command[up].up;
	}
}

/* An operation in a `try` must be one that cancel reaches. */
static enum way choose_way(struct making *m, bool tries)
{
	enum way by = BY_CALL;

	if (m->events && below(m, 3) == 0)
		by = (enum way)(1 + below(m, WAYS - 1));
	return tries && by == BY_DEAF ? BY_CHILD : by;
}

static void fill_in(struct making *m, struct command *c, int up)
{
	c->variable = (int8_t)below(m, COUNTER);
	c->from = below(m, 2) ? (int8_t)below(m, VARIABLES) : NONE;
	c->times = 1;
	c->plus = (int8_t)(1 + below(m, 9));
	c->channel = (int8_t)below(m, CHANNELS - below(m, CHANNELS));
	switch ((enum kind)c->kind) {
	case ASSIGN:
		if (below(m, 4) > 0) { /* x remembers the order of all these */
			c->variable = c->from = 0;
			c->times = 3;
		}
		break;
	case IF:
		c->variable = (int8_t)below(m, VARIABLES);
		c->plus = (int8_t)(1 + below(m, 3));
		break;
	case WHILE:
		c->plus = (int8_t)(1 + below(m, 3));
		break;
	case CANCEL:
		c->label = choose_label(m, up);
		break;
	case SEND:
		if (c->from != NONE)
			c->plus = 0;
		c->tries = below(m, 3) == 0;
		c->by = (uint8_t)choose_way(m, c->tries);
		break;
	case RECV:
		c->tries = below(m, 4) > 0;
		c->by = (uint8_t)choose_way(m, c->tries);
		break;
	default:
		break;
	}
}

static int8_t *make_command(struct making *m, enum kind kind, int up, int8_t *link, int depth)
{
	int8_t at = (int8_t)m->p->count++;
	struct command *c = &m->p->command[at];

	m->left--;
	*c = (struct command){ .kind = (uint8_t)kind, .body = NONE, .other = NONE, .next = NONE };
	c->up = (int8_t)up;
	*link = at;
	fill_in(m, c, up);
	if (kind == FINISH || kind == SHIELD)
		make_sequence(m, at, &c->body, 2 + below(m, 4), depth + 1);
	else if (kind == ASYNC || kind == IF || kind == WHILE)
		make_sequence(m, at, &c->body, 1 + below(m, 3), depth + 1);
	if (kind == IF || (c->tries && below(m, 2)))
		make_sequence(m, at, &c->other, 1, depth + 1);
	return &c->next;
}

/* An assignment behind an operation shows when it was done. */
static void make_sequence(struct making *m, int up, int8_t *link, int most, int depth)
{
	enum kind kind = ASSIGN;

	for (; most > 0 && m->left > 0; most--) {
		if ((kind == SEND || kind == RECV) && below(m, 2))
			kind = ASSIGN;
		else
			kind = choose(m, depth);
		link = make_command(m, kind, up, link, depth);
	}
}

void program_make(struct program *p, uint64_t seed, int size, bool events)
{
	struct making m = { .p = p, .random = seed, .events = events };
	int8_t *link = &p->command[0].body;

	memset(p, 0, sizeof *p);
	m.left = size / 3 + below(&m, size - size / 3 + 1);
	p->capacity = below(&m, 4) == 0 ? 1 + below(&m, 2) : 0;
	p->command[p->count++] = (struct command){
		.kind = FINISH, .body = NONE, .other = NONE, .next = NONE, .up = NONE
	};
	/* Messages to begin with, that not too many programs wait for ever. */
	for (int i = below(&m, 5); i > 0 && m.left > 0; i--)
		link = make_command(&m, SEND, 0, link, 1);
	make_sequence(&m, 0, link, size, 1);
}
