/* files.c - answers requests by files below the root. */
#include "files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cache.h"
#include "conditions.h"
#include "range.h"

static const char index_name[] = "index.html";
_Static_assert(PATH_SIZE + sizeof index_name <= PATH_ROOM, "no room for the name of an index");

static int send_range(struct exchange *x, struct file *f, uint64_t first, uint64_t size)
{
	char extra[FILE_HEAD_SIZE + 100];
	int rc, n = snprintf(extra, sizeof extra,
			     "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n%s",
			     first, first + size - 1, f->size, f->head_text);

	rc = reply_head(x, 206, f->type, size, (struct text){ extra, (size_t)n });
	return rc < 0 ? rc : reply_part(x, f, first, size);
}

static int send_no_range(struct exchange *x, const struct file *f)
{
	char extra[64];
	int n = snprintf(extra, sizeof extra, "Content-Range: bytes */%" PRIu64 "\r\n", f->size);

	return reply_head(x, 416, TEXT(""), 0, (struct text){ extra, (size_t)n });
}

static int send_file(struct exchange *x, struct file *f)
{
	const struct request *r = &x->request;
	uint64_t first, size;
	int status = conditions_check(r, f);
	int rc;

	x->ended = true;
	if (status == 304)
		return reply_head(x, 304, TEXT(""), 0, f->head);
	if (status != 0)
		return reply_status(x, status);
	if (conditions_allow_range(r, f)) {
		switch (range_read(r->range, f->size, &first, &size)) {
		case RANGE_PART:
			return send_range(x, f, first, size);
		case RANGE_NONE:
			return send_no_range(x, f);
		default:
			break;
		}
	}
	rc = reply_head(x, 200, f->type, f->size, f->head);
	return rc < 0 ? rc : reply_part(x, f, 0, f->size);
}

/* A directory is asked for without its last slash: links in its index would be wrong. Not in
 * line: its frame is large, and each request would touch it. */
static __attribute__((noinline)) int send_to_directory(struct exchange *x, const char *path)
{
	struct text query = x->request.query;
	char extra[4 * PATH_SIZE + 64], *to = extra;

	if (query.size > PATH_SIZE)
		query.size = 0;
	to += sprintf(to, "Location: /");
	for (; *path != '\0'; path++) {
		unsigned char c = (unsigned char)*path;

		if (c <= ' ' || c >= 0x7f || strchr("\"#%<>?\\^`{|}", c) != NULL)
			to += sprintf(to, "%%%02X", c);
		else
			*to++ = (char)c;
	}
	to += sprintf(to, "/%s%.*s\r\n", query.size > 0 ? "?" : "", (int)query.size,
		      query.size > 0 ? query.at : "");
	x->ended = true;
	return reply_head(x, 301, TEXT(""), 0, (struct text){ extra, (size_t)(to - extra) });
}

static int status_of(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return 403;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EAGAIN:
		return 503;
	case -EIO:
		return 500;
	default: /* there is none, or a link that leads out of the root */
		return 404;
	}
}

int files_serve(struct exchange *x)
{
	char *path = x->path;
	size_t size;
	struct file *f;
	int rc, status = path_clean(x->request.path, path);

	if (status != 0)
		return reply_status(x, status);
	size = strlen(path);
	if (size == 0 || path[size - 1] == '/')
		memcpy(path + size, index_name, sizeof index_name);
	rc = cache_get(path, &f);
	if (rc == -EISDIR)
		return send_to_directory(x, path);
	if (rc < 0)
		return reply_status(x, status_of(rc));
	rc = send_file(x, f);
	file_drop(f);
	return rc;
}
