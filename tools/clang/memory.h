/* memory.h - memory that nobody gives back, and arrays and texts that grow in it: for the tools
 * that use libclang, which live for one run.
 */
#ifndef CLANG_MEMORY_H
#define CLANG_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PRINTF(at, first) __attribute__((format(printf, at, first)))

void *tame_alloc(size_t size);
char *tame_copy(const char *text, size_t size);
char *tame_format(const char *format, ...) PRINTF(1, 2);
void *tame_grow(void *array, size_t count, size_t size);
/* A new last element, all zero; pointers to the others are void then. */
#define ADD(array, count) \
	((array) = tame_grow((array), (count), sizeof *(array)), \
	 memset(&(array)[count], 0, sizeof *(array)), &(array)[(count)++])

/* A text that grows. */
struct text {
	char *at;
	size_t size, room, lines;
	/* where a compiler thinks that the next character stands: `file`, and line `lines + shift` */
	const char *file;
	long shift;
};
void tame_add(struct text *t, const char *bytes, size_t size);
void tame_put(struct text *t, const char *string);
void tame_print(struct text *t, const char *format, ...) PRINTF(2, 3);
void tame_put_string(struct text *t, const char *bytes, size_t size); /* as a C string literal */
size_t tame_count_lines(const char *bytes, size_t size);
bool tame_begins(const char *text, const char *with);

/* Every tool has its own: says what is wrong, and ends. */
_Noreturn void tame_fail(const char *format, ...) PRINTF(1, 2);

#endif
