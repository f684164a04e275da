/* align.c - finds where the tokens that the preprocessor gave stand in the source.
 *
 * Between two marks the texts are compared. What macros made has no place of its own; it gets
 * that of the macro's name. All this is only for messages, and for the lines that debuggers show: what
 * goes where in the result depends on marks alone.
 */
#include <string.h>

#include "tool.h"

/* The tokens of a stretch, in the expanded text and in the source. */
struct stretch {
	struct token *to;
	size_t to_count;
	struct token *from;
	size_t from_count;
};

static bool is_same(const struct token *to, const struct token *from)
{
	const char *spelling = expanded.text + to->offset;
	size_t size = to->size;

	if (size > 10 && memcmp(spelling, "WEFT_TAME_", 10) == 0) {
		spelling = tame_spelling((size_t)(to - tokens));
		size = strlen(spelling);
	}
	return size == from->size && memcmp(spelling, source.text + from->offset, size) == 0;
}

static void match(struct token *to, const struct token *from)
{
	to->from = from->offset;
	to->from_size = from->size;
	to->line = tame_source_place(from->offset).line;
}

/* What is the same at the beginning and at the end. */
static void match_ends(struct stretch *s)
{
	while (s->to_count > 0 && s->from_count > 0 && is_same(s->to, s->from)) {
		match(s->to++, s->from++);
		s->to_count--;
		s->from_count--;
	}
	while (s->to_count > 0 && s->from_count > 0 &&
	       is_same(&s->to[s->to_count - 1], &s->from[s->from_count - 1]))
		match(&s->to[--s->to_count], &s->from[--s->from_count]);
}

/* Names tell more than punctuation. */
static unsigned weight(const struct token *to, const struct token *from)
{
	return !is_same(to, from) ? 0 : to->kind == 'i' || to->kind == 's' ? 8 : 1;
}

/* The longest common sequence. */
static void match_middle(const struct stretch *s)
{
	enum { MOST = 1 << 20 };
	static uint16_t best[MOST];
	size_t width = s->from_count + 1, i = 0, k = 0;

	if (s->to_count == 0 || s->from_count == 0 || (s->to_count + 1) * width > MOST)
		return;
	memset(best + s->to_count * width, 0, width * sizeof *best);
	for (i = s->to_count; i-- > 0;) {
		best[i * width + s->from_count] = 0;
		for (k = s->from_count; k-- > 0;) {
			unsigned w = weight(&s->to[i], &s->from[k]);
			unsigned skip = best[(i + 1) * width + k], other = best[i * width + k + 1];

			skip = skip > other ? skip : other;
			w = w > 0 ? w + best[(i + 1) * width + k + 1] : 0;
			best[i * width + k] = (uint16_t)(w > skip ? w : skip);
		}
	}
	for (i = k = 0; i < s->to_count && k < s->from_count;) {
		unsigned w = weight(&s->to[i], &s->from[k]);

		if (w > 0 && best[i * width + k] == w + best[(i + 1) * width + k + 1])
			match(&s->to[i++], &s->from[k++]);
		else if (best[(i + 1) * width + k] >= best[i * width + k + 1])
			i++;
		else
			k++;
	}
}

/* Each other token is near the last name of the source that has no token of its own. */
static void find_macros(struct stretch s)
{
	size_t k = 0, near = 0;
	unsigned most = 0;

	for (size_t i = 0; i < s.to_count; i++) {
		struct token *t = &s.to[i];

		if (t->from != TAME_NOWHERE) {
			while (k < s.from_count && s.from[k].offset <= t->from)
				k++;
		} else {
			if (k < s.from_count && s.from[k].kind == 'i')
				near = s.from[k].offset;
			t->near = near;
		}
		if (t->line < most)
			t->line = most; /* lines never go back */
		most = t->line;
	}
}

void tame_align(void)
{
	for (size_t i = 0; i + 1 < expanded.mark_count; i++) {
		const struct source_mark *m = &expanded.marks[i];
		size_t first = tame_source_token(m->source);
		struct stretch s = { .to = tokens + m->token, .from = source.tokens.at + first };
		struct stretch all;

		if (m[1].source < m->source || m[1].token <= m->token || s.to->inclusion != NULL)
			continue;
		s.to_count = m[1].token - m->token;
		s.from_count = tame_source_token(m[1].source) - first;
		all = s;
		match_ends(&s);
		match_middle(&s);
		find_macros(all);
	}
}
