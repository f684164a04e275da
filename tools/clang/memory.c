/* memory.c - memory that nobody gives back, and arrays and texts that grow in it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { CHUNK = 256 * 1024, LARGE = 64 * 1024 };

/* Chunks hang on each other, so that leak checkers see them. */
struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};
static struct chunk *chunks;

static struct chunk *new_chunk(size_t size)
{
	struct chunk *c = malloc(sizeof *c + size);

	if (c == NULL)
		tame_fail("out of memory");
	c->used = 0;
	c->size = size;
	c->next = chunks;
	return c;
}

void *tame_alloc(size_t size)
{
	void *at;

	size = (size + 15) & ~(size_t)15;
	if (chunks == NULL || chunks->size - chunks->used < size)
		chunks = new_chunk(size > CHUNK ? size : CHUNK);
	at = chunks->bytes + chunks->used;
	chunks->used += size;
	return memset(at, 0, size);
}

char *tame_copy(const char *text, size_t size)
{
	char *copy = tame_alloc(size + 1);

	memcpy(copy, text, size);
	return copy;
}

static char *format_list(const char *format, va_list list, size_t *size)
{
	va_list again;
	int length;
	char *text;

	va_copy(again, list);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		tame_fail("out of memory");
	text = tame_alloc((size_t)length + 1);
	vsnprintf(text, (size_t)length + 1, format, list);
	*size = (size_t)length;
	return text;
}

char *tame_format(const char *format, ...)
{
	va_list list;
	size_t size;
	char *text;

	va_start(list, format);
	text = format_list(format, list, &size);
	va_end(list);
	return text;
}

/* A large array is given to the C library, which can make it larger in place. */
static void *grow_large(void *array, size_t old, size_t new)
{
	void *larger = realloc(old > LARGE ? array : NULL, new);

	if (larger == NULL)
		tame_fail("out of memory");
	if (old <= LARGE && array != NULL)
		memcpy(larger, array, old);
	return larger;
}

/* There is room up to the next power of two. */
void *tame_grow(void *array, size_t count, size_t size)
{
	void *larger;

	if ((count & (count - 1)) != 0)
		return array;
	if (2 * count * size > LARGE)
		return grow_large(array, count * size, 2 * count * size);
	larger = tame_alloc((count == 0 ? 1 : 2 * count) * size);
	if (count > 0)
		memcpy(larger, array, count * size);
	return larger;
}

void tame_add(struct text *t, const char *bytes, size_t size)
{
	if (t->room - t->size < size) {
		size_t before = t->room + 1, room = 2 * (t->size + size) + 64;
		char *larger;

		if (room + 1 > LARGE) {
			t->at = grow_large(t->at, before, room + 1);
		} else {
			larger = tame_alloc(room + 1);
			if (t->size > 0)
				memcpy(larger, t->at, t->size);
			t->at = larger;
		}
		t->room = room;
	}
	if (size > 0)
		memcpy(t->at + t->size, bytes, size);
	t->size += size;
	t->lines += tame_count_lines(bytes, size);
	if (t->at != NULL)
		t->at[t->size] = '\0';
}

void tame_put(struct text *t, const char *string)
{
	tame_add(t, string, strlen(string));
}

void tame_print(struct text *t, const char *format, ...)
{
	va_list list;
	size_t size;
	char *text;

	va_start(list, format);
	text = format_list(format, list, &size);
	va_end(list);
	tame_add(t, text, size);
}

/* White space becomes one space: it is for people. */
void tame_put_string(struct text *t, const char *bytes, size_t size)
{
	bool space = false;

	tame_put(t, "\"");
	for (size_t i = 0; i < size; i++) {
		char c = bytes[i];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			space = true;
			continue;
		}
		if (space)
			tame_put(t, " ");
		space = false;
		if (c == '"' || c == '\\')
			tame_put(t, "\\");
		tame_add(t, &c, 1);
	}
	tame_put(t, "\"");
}

size_t tame_count_lines(const char *bytes, size_t size)
{
	size_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += bytes[i] == '\n';
	return lines;
}

bool tame_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}
