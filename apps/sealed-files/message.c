/* message.c - requests and replies as bytes. */
#include "message.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"

/* What a request has besides its head. */
static const struct {
	bool path, root, data; /* root: the path may be "" */
} has[REQUEST_TYPES] = {
	[REQUEST_OPEN] = { .path = true },
	[REQUEST_CREATE] = { .path = true },
	[REQUEST_WRITE] = { .data = true },
	[REQUEST_REMOVE] = { .path = true },
	[REQUEST_STAT] = { .path = true },
	[REQUEST_WATCH] = { .path = true },
	[REQUEST_LIST] = { .path = true, .root = true },
};

static bool name_is_good(const char *name, size_t size)
{
	static const char hidden[] = MESSAGE_HIDDEN;

	if (size == 0 || (size == 1 && name[0] == '.') || (size == 2 && memcmp(name, "..", 2) == 0))
		return false;
	if (size >= sizeof hidden - 1 && memcmp(name, hidden, sizeof hidden - 1) == 0)
		return false;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return true;
}

bool message_path_is_good(const char *path, size_t size)
{
	const char *slash;

	if (size == 0)
		return true;
	if (size >= MESSAGE_PATH)
		return false;
	while ((slash = memchr(path, '/', size)) != NULL) {
		if (!name_is_good(path, (size_t)(slash - path)))
			return false;
		size -= (size_t)(slash - path) + 1;
		path = slash + 1;
	}
	return name_is_good(path, size);
}

/* Requests */

/* Checks what follows the head. */
static int read_rest(struct request *r, const uint8_t *text, size_t size, size_t path_size)
{
	if (path_size > size || !message_path_is_good((const char *)text, path_size))
		return -EBADMSG;
	if (path_size == 0 ? has[r->type].path && !has[r->type].root : !has[r->type].path)
		return -EBADMSG;
	memcpy(r->path, text, path_size);
	r->path[path_size] = '\0';
	r->data = text + path_size;
	r->data_size = size - path_size;
	if (r->data_size > MESSAGE_PIECE || (r->data_size > 0 && !has[r->type].data))
		return -EBADMSG;
	return 0;
}

int request_read(struct request *r, const uint8_t *text, size_t size)
{
	if (size < REQUEST_HEAD || text[0] >= REQUEST_TYPES || text[1] != 0)
		return -EBADMSG;
	r->type = (enum request_type)text[0];
	r->handle = get_32(text + 4);
	r->size = get_32(text + 8);
	r->wait = get_32(text + 12);
	r->offset = get_64(text + 16);
	r->time = get_64(text + 24);
	if (r->size > MESSAGE_PIECE || r->offset > INT64_MAX - MESSAGE_PIECE)
		return -EBADMSG;
	return read_rest(r, text + REQUEST_HEAD, size - REQUEST_HEAD, get_16(text + 2));
}

static size_t write_data(uint8_t *to, const uint8_t *data, size_t size)
{
	if (size > 0 && data != to)
		memmove(to, data, size);
	return size;
}

size_t request_write(const struct request *r, uint8_t *text)
{
	size_t path_size = strlen(r->path), head = REQUEST_HEAD + path_size;

	text[0] = (uint8_t)r->type;
	text[1] = 0;
	put_16(text + 2, (uint16_t)path_size);
	put_32(text + 4, r->handle);
	put_32(text + 8, r->size);
	put_32(text + 12, r->wait);
	put_64(text + 16, r->offset);
	put_64(text + 24, r->time);
	memcpy(text + REQUEST_HEAD, r->path, path_size);
	return head + write_data(text + head, r->data, r->data_size);
}

/* Replies */

int reply_read(struct reply *r, const uint8_t *text, size_t size)
{
	if (size < REPLY_HEAD || size > REPLY_HEAD + MESSAGE_PIECE)
		return -EBADMSG;
	r->status = get_32(text);
	if (r->status > REPLY_STATUS)
		return -EBADMSG;
	r->handle = get_32(text + 4);
	r->size = get_64(text + 8);
	r->time = get_64(text + 16);
	r->data = text + REPLY_HEAD;
	r->data_size = size - REPLY_HEAD;
	return 0;
}

size_t reply_write(const struct reply *r, uint8_t *text)
{
	put_32(text, r->status);
	put_32(text + 4, r->handle);
	put_64(text + 8, r->size);
	put_64(text + 16, r->time);
	return REPLY_HEAD + write_data(text + REPLY_HEAD, r->data, r->data_size);
}
