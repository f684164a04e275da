/* remote.c - asks the server, with several requests under way where that saves time. */
#include "remote.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WINDOW = 16, PATIENCE_S = 120 };

/* Connecting */

static int split(const char *address, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(address, ':');
	int length = colon != NULL ? (int)(colon - address) : 0;
	bool brackets = length > 2 && address[0] == '[' && colon[-1] == ']';

	if (length == 0)
		return -EINVAL;
	snprintf(host, size, "%.*s", length - 2 * brackets, address + brackets);
	*port = colon + 1;
	return 0;
}

static int connect_one(const struct addrinfo *a)
{
	int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;
	struct timeval patience = { .tv_sec = PATIENCE_S };

	if (fd < 0)
		return -errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int remote_dial(const char *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all;
	const char *port;
	char host[256];
	int rc = split(address, host, sizeof host, &port);

	if (rc < 0 || getaddrinfo(host, port, &hints, &all) != 0)
		return -EINVAL;
	rc = -EINVAL;
	for (const struct addrinfo *a = all; a != NULL && rc < 0; a = a->ai_next)
		rc = connect_one(a);
	freeaddrinfo(all);
	return rc;
}

int remote_open(struct remote *r, const char *address, const char *name,
		const uint8_t key[SEAL_KEY])
{
	int rc;

	*r = (struct remote){ .channel = { .io = &channel_plain } };
	r->channel.fd = remote_dial(address);
	if (r->channel.fd < 0)
		return r->channel.fd;
	rc = channel_connect(&r->channel, name, key, 0);
	if (rc < 0)
		remote_close(r);
	return rc;
}

void remote_close(struct remote *r)
{
	close(r->channel.fd);
	channel_fini(&r->channel);
}

/* Asking */

int remote_name(struct request *ask, enum request_type type, const char *path, uint32_t wait)
{
	size_t size = strlen(path);

	*ask = (struct request){ .type = type, .wait = wait };
	if (!message_path_is_good(path, size) || (size == 0 && type != REQUEST_LIST))
		return -EINVAL;
	memcpy(ask->path, path, size + 1);
	return 0;
}

int remote_send(struct remote *r, const struct request *request)
{
	if (!message_path_is_good(request->path, strlen(request->path)))
		return -EINVAL;
	return channel_send(&r->channel, request_write(request, channel_text(&r->channel)), 0);
}

int remote_receive(struct remote *r, struct reply *reply)
{
	uint8_t *text;
	ssize_t n = channel_receive(&r->channel, &text, 0);
	int rc = n < 0 ? (int)n : reply_read(reply, text, (size_t)n);

	return rc < 0 ? rc : -(int)reply->status;
}

int remote_ask(struct remote *r, const struct request *request, struct reply *reply)
{
	int rc = remote_send(r, request);

	return rc < 0 ? rc : remote_receive(r, reply);
}

int remote_ask_about(struct remote *r, enum request_type type, const char *path, uint32_t wait,
		     struct reply *reply)
{
	struct request ask;
	int rc = remote_name(&ask, type, path, wait);

	return rc < 0 ? rc : remote_ask(r, &ask, reply);
}

static int ask_handle(struct remote *r, enum request_type type, uint32_t handle)
{
	struct request ask = { .type = type, .handle = handle };
	struct reply reply;

	return remote_ask(r, &ask, &reply);
}

/* Whole files */

static int write_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Takes a piece that was asked for. */
static int take_piece(struct remote *r, size_t size, int out)
{
	struct reply reply;
	int rc = remote_receive(r, &reply);

	if (rc == 0 && reply.data_size != size)
		rc = -EBADMSG; /* nobody may change the file while we have a lease */
	return rc < 0 ? rc : write_all(out, reply.data, size);
}

static size_t piece_at(uint64_t offset, uint64_t size)
{
	return size - offset < MESSAGE_PIECE ? (size_t)(size - offset) : MESSAGE_PIECE;
}

/* Several are asked for ahead, so that the server has always something to do. */
static int get_all(struct remote *r, uint32_t handle, uint64_t size, int out)
{
	struct request ask = { .type = REQUEST_READ, .handle = handle };
	uint64_t taken = 0;
	int rc = 0;

	while (rc == 0 && taken < size) {
		while (rc == 0 && ask.offset < size &&
		       ask.offset - taken < WINDOW * MESSAGE_PIECE) {
			ask.size = (uint32_t)piece_at(ask.offset, size);
			rc = remote_send(r, &ask);
			ask.offset += ask.size;
		}
		if (rc == 0)
			rc = take_piece(r, piece_at(taken, size), out);
		taken += piece_at(taken, size);
	}
	return rc;
}

int remote_get(struct remote *r, const char *path, uint32_t wait, int out)
{
	struct reply reply;
	int rc = remote_ask_about(r, REQUEST_OPEN, path, wait, &reply);

	if (rc == 0)
		rc = get_all(r, reply.handle, reply.size, out);
	return rc == 0 ? ask_handle(r, REQUEST_CLOSE, reply.handle) : rc;
}

static ssize_t read_piece(int fd, uint8_t *out)
{
	size_t size = 0;

	while (size < MESSAGE_PIECE) {
		ssize_t n = read(fd, out + size, MESSAGE_PIECE - size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		size += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)size;
}

/* Sends the next piece. 1, 0 at the end, or -Exxx. */
static int send_piece(struct remote *r, struct request *ask, int in)
{
	uint8_t *data = channel_text(&r->channel) + REQUEST_HEAD;
	ssize_t n = read_piece(in, data);
	int rc;

	if (n <= 0)
		return (int)n;
	ask->data = data;
	ask->data_size = (size_t)n;
	rc = remote_send(r, ask);
	ask->offset += (uint64_t)n;
	return rc < 0 ? rc : 1;
}

static int put_all(struct remote *r, uint32_t handle, int in)
{
	struct request ask = { .type = REQUEST_WRITE, .handle = handle };
	struct reply reply;
	int rc, waiting = 0;

	while ((rc = send_piece(r, &ask, in)) > 0) {
		if (++waiting < WINDOW)
			continue;
		rc = remote_receive(r, &reply);
		if (rc < 0)
			return rc;
		waiting--;
	}
	while (rc == 0 && waiting-- > 0)
		rc = remote_receive(r, &reply);
	return rc;
}

int remote_put(struct remote *r, const char *path, uint32_t wait, int in)
{
	struct reply reply;
	int rc = remote_ask_about(r, REQUEST_CREATE, path, wait, &reply);

	if (rc == 0)
		rc = put_all(r, reply.handle, in);
	return rc == 0 ? ask_handle(r, REQUEST_COMMIT, reply.handle) : rc;
}
