/* Changes and shows programs. */
#include "async/semantics/program.h"

#include <string.h>

static const char variable_name[] = "xyzi";
static const char channel_name[] = "pqr";

struct copying {
	struct program *to;
	const struct program *from;
	const bool *marked;
	enum change how;
	int8_t became[MAX_COMMANDS]; /* NONE: it is gone */
};

static int8_t *copy_sequence(struct copying *c, int first, int up, int8_t *link);

/* A label of a block that is gone means the next one around it, as its cancels are in
 * that too; there is always one, as command 0 stays. */
static int8_t new_label(const struct copying *c, int label)
{
	while (c->became[label] == NONE || !is_block(&c->from->command[label]))
		label = c->from->command[label].up;
	return c->became[label];
}

static void change_fields(struct command *d, enum change how)
{
	if (how == PLAIN && is_io(d)) {
		d->tries = false;
		d->other = NONE;
	} else if (how == PLAIN && d->kind == SHIELD) {
		d->kind = FINISH;
	} else if (how == TO_ZERO) {
		d->from = NONE;
		d->plus = 0;
	} else if (how == TO_CALL) {
		d->by = BY_CALL;
	}
}

static int8_t *copy_command(struct copying *c, int id, int up, int8_t *link)
{
	int8_t at = (int8_t)c->to->count++;
	struct command *d = &c->to->command[at];
	int8_t body, other;

	*d = c->from->command[id];
	if (c->marked[id])
		change_fields(d, c->how);
	body = d->body;
	other = c->marked[id] && c->how == DROP_ELSE ? NONE : d->other;
	c->became[id] = at;
	*link = at;
	d->up = (int8_t)up;
	d->next = NONE;
	if (d->kind == CANCEL)
		d->label = new_label(c, d->label);
	copy_sequence(c, body, at, &d->body);
	copy_sequence(c, other, at, &d->other);
	return &d->next;
}

/* Gives where the command behind the last one is to be linked. */
static int8_t *copy_sequence(struct copying *c, int first, int up, int8_t *link)
{
	*link = NONE;
	for (int id = first; id != NONE; id = c->from->command[id].next) {
		const struct command *d = &c->from->command[id];

		if (!c->marked[id] || c->how > TO_OTHER)
			link = copy_command(c, id, up, link);
		else if (c->how == TO_BODY)
			link = copy_sequence(c, d->body, up, link);
		else if (c->how == TO_OTHER)
			link = copy_sequence(c, d->other, up, link);
	}
	return link;
}

void program_change(struct program *to, const struct program *from, const bool *marked,
		    enum change how)
{
	struct copying c = { to, from, marked, how, { 0 } };
	int8_t start;

	memset(to, 0, sizeof *to);
	memset(c.became, NONE, sizeof c.became);
	to->capacity = from->capacity;
	copy_command(&c, 0, NONE, &start);
}

static void indent(FILE *f, int depth)
{
	while (depth-- > 0)
		fputs("    ", f);
}

static void print_expression(FILE *f, const struct command *c)
{
	if (c->from == NONE)
		fprintf(f, "%d", c->plus);
	else
		fprintf(f, "%c", variable_name[c->from]);
	if (c->from != NONE && c->times != 1)
		fprintf(f, " * %d", c->times);
	if (c->from != NONE && c->plus != 0)
		fprintf(f, " + %d", c->plus);
}

static void print_sequence(FILE *f, const struct program *p, int first, int depth);

static void print_body(FILE *f, const struct program *p, int first, int depth)
{
	fputs(" {\n", f);
	print_sequence(f, p, first, depth + 1);
	indent(f, depth);
	fputs("}", f);
}

static void print_way(FILE *f, const struct command *c)
{
	static const char *const way[WAYS] = { "", "block", "next", "child", "deaf", "fork" };

	if (c->by != BY_CALL)
		fprintf(f, " by %s", way[c->by]);
}

static void print_io(FILE *f, const struct program *p, const struct command *c, int depth)
{
	if (c->tries)
		fputs("try ", f);
	if (c->kind == SEND) {
		fputs("send ", f);
		print_expression(f, c);
		fprintf(f, " to %c", channel_name[c->channel]);
	} else {
		fprintf(f, "recv %c from %c", variable_name[c->variable], channel_name[c->channel]);
	}
	print_way(f, c);
	if (c->tries) {
		fputs(" else", f);
		print_body(f, p, c->other, depth);
	} else {
		fputc(';', f);
	}
}

static void print_command(FILE *f, const struct program *p, int id, int depth)
{
	const struct command *c = &p->command[id];

	indent(f, depth);
	switch ((enum kind)c->kind) {
	case ASSIGN:
		fprintf(f, "%c := ", variable_name[c->variable]);
		print_expression(f, c);
		fputc(';', f);
		break;
	case IF:
		fprintf(f, "if (%c < %d)", variable_name[c->variable], c->plus);
		print_body(f, p, c->body, depth);
		if (c->other != NONE) {
			fputs(" else", f);
			print_body(f, p, c->other, depth);
		}
		break;
	case WHILE:
		fprintf(f, "while (i < %d, i++)", c->plus);
		print_body(f, p, c->body, depth);
		break;
	case ASYNC:
		fputs("async", f);
		print_body(f, p, c->body, depth);
		break;
	case FINISH:
	case SHIELD:
		fprintf(f, "%s %c", c->kind == FINISH ? "finish" : "shield", 'A' + id);
		print_body(f, p, c->body, depth);
		break;
	case CANCEL:
		fprintf(f, "cancel %c;", 'A' + c->label);
		break;
	case SEND:
	case RECV:
		print_io(f, p, c, depth);
		break;
	}
	fputc('\n', f);
}

static void print_sequence(FILE *f, const struct program *p, int first, int depth)
{
	for (int id = first; id != NONE; id = p->command[id].next)
		print_command(f, p, id, depth);
}

void program_print(FILE *f, const struct program *p)
{
	if (p->capacity > 0)
		fprintf(f, "(channels keep %d)\n", p->capacity);
	print_sequence(f, p, 0, 0);
}

void outcome_print(FILE *f, const struct outcome *o)
{
	for (int v = 0; v < VARIABLES; v++)
		fprintf(f, "%c=%d ", variable_name[v], o->store[v]);
	for (int c = 0; c < CHANNELS; c++) {
		fprintf(f, "%c=[", channel_name[c]);
		for (int i = 0; i < o->length[c]; i++)
			fprintf(f, i > 0 ? " %d" : "%d", o->message[c][i]);
		fputs("] ", f);
	}
	fputs(o->stuck ? "and waits for ever\n" : "and ends\n", f);
}
