/* message.c - requests and replies: what was read can be written, and is the same.
 * With: apps/sealed-files/message.c
 */
#include "message.h"

#include "harness/fuzz.h"

static uint8_t again[REQUEST_HEAD + MESSAGE_PATH + MESSAGE_PIECE];

static void check_path(const char *path)
{
	MUST(strlen(path) < MESSAGE_PATH && path[0] != '/');
	while (*path != '\0') {
		size_t size = strcspn(path, "/");

		MUST(size > 0 && !(size == 1 && path[0] == '.') &&
		     !(size == 2 && memcmp(path, "..", 2) == 0));
		MUST(strncmp(path, MESSAGE_HIDDEN, sizeof MESSAGE_HIDDEN - 1) != 0);
		path += size + (path[size] == '/');
	}
}

FUZZ(in, size)
{
	const uint8_t *text = (const uint8_t *)in;
	struct request request;
	struct reply reply;

	if (request_read(&request, text, size) == 0) {
		check_path(request.path);
		MUST(request.type < REQUEST_TYPES && request.size <= MESSAGE_PIECE);
		MUST(request.offset <= INT64_MAX - MESSAGE_PIECE);
		MUST(request.data + request.data_size == text + size);
		MUST(request_write(&request, again) == size && memcmp(again, text, size) == 0);
	}
	if (reply_read(&reply, text, size) == 0) {
		MUST(reply.status <= REPLY_STATUS);
		MUST(reply_write(&reply, again) == size && memcmp(again, text, size) == 0);
	}
}
