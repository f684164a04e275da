/* session.c - the thread of a client: reads a request and opens it, does it, seals the reply
 * and sends it.
 *
 * What belongs to one client is done in the client's color, beside others. What clients
 * share, leases above all, is done in WEFT_MAIN. The hops between the two are all that makes
 * this server use more than one core.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/socket.h"
#include "server.h"
#include "settings.h"

static uint64_t in_time(uint64_t ms)
{
	return weft_now() + ms * WEFT_MS;
}

/* Waits for a request, and opens it. False: there is none. */
static bool receive(struct session *s)
{
	uint8_t *text;
	ssize_t n;

	if (server_is_stopping() || channel_wait(&s->channel, in_time(settings.idle_time)) <= 0)
		return false;
	n = channel_receive(&s->channel, &text, in_time(settings.message_time));
	return n >= 0 && request_read(&s->request, text, (size_t)n) == 0;
}

/* Moves the data of a read or a write between the file and the message. */
static ssize_t transfer(struct session *s)
{
	const struct request *r = &s->request;
	uint8_t *out = channel_text(&s->channel) + REPLY_HEAD;
	size_t size = r->type == REQUEST_READ ? r->size : r->data_size, done = 0;

	while (done < size) {
		int64_t offset = (int64_t)(r->offset + done);
		ssize_t n = r->type == REQUEST_READ
				    ? weft_pread(s->transfer, out + done, size - done, offset)
				    : weft_pwrite(s->transfer, r->data + done, size - done, offset);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	s->reply.data = out;
	s->reply.data_size = r->type == REQUEST_READ ? done : 0;
	return 0;
}

/* Seals the reply, and sends it. */
static int deliver(struct session *s)
{
	ssize_t rc = s->transfer >= 0 ? transfer(s) : 0;
	size_t size;
	int sent;

	if (rc < 0)
		s->reply.status = (uint32_t)-rc;
	size = reply_write(&s->reply, channel_text(&s->channel));
	sent = channel_send(&s->channel, size, in_time(settings.message_time));
	if (sent < 0)
		socket_abandon(s->channel.fd);
	return sent;
}

int session_serve(void *session)
{
	struct session *s = session;
	int rc;

	weft_hop(s->color);
	rc = channel_accept(&s->channel, server_find_key, in_time(settings.handshake_time));
	if (rc == 0)
		rc = server_admit(s);
	while (rc == 0 && receive(s)) {
		weft_hop(WEFT_MAIN);
		session_perform(s);
		weft_hop(s->color);
		rc = deliver(s);
	}
	weft_hop(WEFT_MAIN);
	session_close_all(s);
	server_forget(s);
	return 0;
}
