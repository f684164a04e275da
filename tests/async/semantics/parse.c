/* Reads programs as program_print writes them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "async/semantics/program.h"
#include "harness/test.h"

enum { LETTERS = 26, MAX_WORD = 16 };

struct reading {
	struct program *p;
	const char *at;
	char word[MAX_WORD]; /* the next; "" at the end */
	int8_t block[LETTERS];
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || strchr("+:=", c) != NULL;
}

static void next_word(struct reading *r)
{
	int n = 0;

	while (isspace((unsigned char)*r->at))
		r->at++;
	if (*r->at != '\0')
		r->word[n++] = *r->at++;
	while (n > 0 && n < MAX_WORD - 1 && in_word(r->word[0]) && *r->at != '\0' &&
	       in_word(*r->at))
		r->word[n++] = *r->at++;
	r->word[n] = '\0';
}

static bool take(struct reading *r, const char *word)
{
	if (strcmp(r->word, word) != 0)
		return false;
	next_word(r);
	return true;
}

static void expect(struct reading *r, const char *word)
{
	CHECK_STR(r->word, word);
	next_word(r);
}

/* One of some letters; gives which. */
static int8_t take_letter(struct reading *r, const char *letters)
{
	const char *found = strchr(letters, r->word[0]);

	CHECK(r->word[0] != '\0' && found != NULL);
	next_word(r);
	return (int8_t)(found - letters);
}

static int8_t take_number(struct reading *r)
{
	int8_t n = (int8_t)atoi(r->word);

	next_word(r);
	return n;
}

static void take_expression(struct reading *r, struct command *c)
{
	c->from = NONE;
	if (isdigit((unsigned char)r->word[0])) {
		c->plus = take_number(r);
		return;
	}
	c->from = take_letter(r, "xyzi");
	if (take(r, "*"))
		c->times = take_number(r);
	if (take(r, "+"))
		c->plus = take_number(r);
}

static void take_body(struct reading *r, int8_t up, int8_t *link);

static void take_condition(struct reading *r, struct command *c)
{
	expect(r, "(");
	c->variable = take_letter(r, "xyzi");
	expect(r, "<");
	c->plus = take_number(r);
	if (c->kind == WHILE) {
		expect(r, ",");
		expect(r, "i++");
	}
	expect(r, ")");
}

static void take_way(struct reading *r, struct command *c)
{
	static const char *const way[WAYS] = {
		[BY_BLOCK] = "block", [BY_NEXT] = "next", [BY_CHILD] = "child",
		[BY_DEAF] = "deaf",   [BY_FORK] = "fork",
	};

	if (!take(r, "by"))
		return;
	for (int by = BY_BLOCK; by < WAYS && c->by == BY_CALL; by++)
		if (take(r, way[by]))
			c->by = (uint8_t)by;
	CHECK(c->by != BY_CALL);
}

static void take_io(struct reading *r, struct command *c, int8_t id)
{
	if (c->kind == SEND) {
		take_expression(r, c);
		expect(r, "to");
	} else {
		c->variable = take_letter(r, "xyz");
		expect(r, "from");
	}
	c->channel = take_letter(r, "pqr");
	take_way(r, c);
	if (c->tries) {
		expect(r, "else");
		take_body(r, id, &c->other);
	} else {
		expect(r, ";");
	}
}

static enum kind take_kind(struct reading *r)
{
	static const char *const word[] = {
		[IF] = "if",         [WHILE] = "while",   [ASYNC] = "async", [FINISH] = "finish",
		[SHIELD] = "shield", [CANCEL] = "cancel", [SEND] = "send",   [RECV] = "recv",
	};

	for (int kind = IF; kind <= RECV; kind++)
		if (take(r, word[kind]))
			return (enum kind)kind;
	return ASSIGN;
}

static int8_t *take_command(struct reading *r, int8_t up, int8_t *link)
{
	int8_t id = (int8_t)r->p->count++, label;
	struct command *c = &r->p->command[id];

	CHECK(id < MAX_COMMANDS);
	*c = (struct command){ .body = NONE, .other = NONE, .next = NONE, .up = up, .times = 1 };
	*link = id;
	c->tries = take(r, "try");
	c->kind = take_kind(r);
	switch ((enum kind)c->kind) {
	case ASSIGN:
		c->variable = take_letter(r, "xyz");
		expect(r, ":=");
		take_expression(r, c);
		expect(r, ";");
		break;
	case IF:
	case WHILE:
		take_condition(r, c);
		take_body(r, id, &c->body);
		if (c->kind == IF && take(r, "else"))
			take_body(r, id, &c->other);
		break;
	case FINISH:
	case SHIELD:
		label = take_letter(r, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		r->block[label] = id;
		take_body(r, id, &c->body);
		break;
	case ASYNC:
		take_body(r, id, &c->body);
		break;
	case CANCEL:
		c->label = r->block[take_letter(r, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
		expect(r, ";");
		break;
	case SEND:
	case RECV:
		take_io(r, c, id);
		break;
	}
	return &c->next;
}

static void take_body(struct reading *r, int8_t up, int8_t *link)
{
	expect(r, "{");
	while (!take(r, "}"))
		link = take_command(r, up, link);
}

void program_parse(struct program *p, const char *text)
{
	struct reading r = { .p = p, .at = text };
	int8_t start;

	memset(p, 0, sizeof *p);
	next_word(&r);
	if (take(&r, "(")) {
		expect(&r, "channels");
		expect(&r, "keep");
		p->capacity = take_number(&r);
		expect(&r, ")");
	}
	take_command(&r, NONE, &start);
	CHECK_STR(r.word, "");
	CHECK(is_block(&p->command[0]));
}
