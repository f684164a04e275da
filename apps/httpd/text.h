/* text.h - a piece of text that somebody else owns. */
#ifndef HTTPD_TEXT_H
#define HTTPD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *at;
	size_t size;
};

#define TEXT(literal) ((struct text){ literal, sizeof(literal) - 1 })

static inline bool text_is(struct text a, struct text b)
{
	return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* Without regard to case, as names of headers are compared. */
static inline bool text_is_any_case(struct text a, struct text b)
{
	return a.size == b.size && strncasecmp(a.at, b.at, a.size) == 0;
}

/* Without spaces and tabs at its ends. */
static inline struct text text_trim(struct text t)
{
	while (t.size > 0 && (*t.at == ' ' || *t.at == '\t')) {
		t.at++;
		t.size--;
	}
	while (t.size > 0 && (t.at[t.size - 1] == ' ' || t.at[t.size - 1] == '\t'))
		t.size--;
	return t;
}

/* Takes the next item off a list with commas, trimmed. Empty ones are left out. */
static inline bool text_next_item(struct text *list, struct text *item)
{
	while (list->size > 0) {
		const char *comma = memchr(list->at, ',', list->size);
		size_t size = comma != NULL ? (size_t)(comma - list->at) : list->size;
		size_t taken = comma != NULL ? size + 1 : size;

		*item = text_trim((struct text){ list->at, size });
		list->at += taken;
		list->size -= taken;
		if (item->size > 0)
			return true;
	}
	return false;
}

#endif
