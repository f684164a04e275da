/* path.c - makes the name of a file of the path of a request. */
#include "path.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The next letter of a path, or -1: it is not one. */
static int next_letter(struct text *path)
{
	int high, low, letter = (unsigned char)*path->at;

	path->at++;
	path->size--;
	if (letter != '%')
		return letter;
	if (path->size < 2)
		return -1;
	high = hex(path->at[0]);
	low = hex(path->at[1]);
	path->at += 2;
	path->size -= 2;
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Takes the last name off: "a/b/" becomes "a/". False if there is none. */
static bool go_up(const char *out, size_t *size)
{
	if (*size == 0)
		return false;
	(*size)--;
	while (*size > 0 && out[*size - 1] != '/')
		(*size)--;
	return true;
}

/* Looks at the name from `begin` to `*size`, now that its end is known. */
static int end_name(const char *out, size_t begin, size_t *size)
{
	struct text name = { out + begin, *size - begin };

	if (name.size == 0 || name.at[0] != '.' || text_is(name, TEXT(".well-known")))
		return 0;
	*size = begin;
	if (text_is(name, TEXT(".")))
		return 0;
	if (text_is(name, TEXT("..")))
		return go_up(out, size) ? 0 : 400;
	return 404;
}

int path_clean(struct text path, char out[PATH_SIZE])
{
	size_t size = 0, begin = 0;
	int status = 0;

	if (path.size == 0 || path.at[0] != '/')
		return 400;
	while (path.size > 0) {
		int letter = next_letter(&path);

		if (letter <= 0)
			return 400;
		if (size + 1 >= PATH_SIZE)
			return 414;
		if (letter != '/') {
			out[size++] = (char)letter;
			continue;
		}
		status = end_name(out, begin, &size);
		if (status != 0)
			return status;
		if (size > 0 && out[size - 1] != '/')
			out[size++] = '/';
		begin = size;
	}
	status = end_name(out, begin, &size);
	out[size] = '\0';
	return status;
}
