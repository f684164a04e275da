/* no_h2.c - what stands in for HTTP/2 without nghttp2. */
#include <errno.h>

#include "h2.h"

bool h2_is_built_in(void)
{
	return false;
}

void h2_serve(struct conn *c, struct exchange *x)
{
	(void)c;
	(void)x;
}

ssize_t h2_read(struct h2_stream *s, void *buf, size_t size)
{
	(void)s;
	(void)buf;
	(void)size;
	return -ENOSYS;
}

int h2_reply_head(struct h2_stream *s, int status, struct text type, uint64_t size,
		  struct text extra, const char *date)
{
	(void)s;
	(void)status;
	(void)type;
	(void)size;
	(void)extra;
	(void)date;
	return -ENOSYS;
}

int h2_reply_write(struct h2_stream *s, const void *data, size_t size)
{
	(void)s;
	(void)data;
	(void)size;
	return -ENOSYS;
}

int h2_reply_file(struct h2_stream *s, struct file *file, uint64_t first, uint64_t size)
{
	(void)s;
	(void)file;
	(void)first;
	(void)size;
	return -ENOSYS;
}
