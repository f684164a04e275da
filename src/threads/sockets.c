/* sockets.c - messages, connections and sending files. */
#include <errno.h>
#include <string.h>

#include "threads/call.h"

static ssize_t do_recv(int fd, void *buf, size_t len, int flags, uint64_t deadline)
{
	struct wf_target t = wf_number(fd);
	struct wf_now now = wf_now_recv(t, buf, len, flags, wf_past(deadline));
	struct wf_call c;

	if (now.n != WF_NOW_WAIT)
		return (ssize_t)wf_answered(now.n);
	t.mark = now.mark;
	wf_call_init(&c, "recv", t);
	wf_later_recv(&c.op, fd, buf, len, flags);
	return (ssize_t)wf_call_wait(&c, deadline);
}

ssize_t weft_recv_until(int fd, void *buf, size_t len, int flags, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_recv", WF_CALLER);

	return rc < 0 ? rc : do_recv(fd, buf, len, flags, deadline);
}

static ssize_t do_send(int fd, const void *buf, size_t len, int flags, uint64_t deadline)
{
	struct wf_target t = wf_number(fd);
	struct wf_now now = wf_now_send(t, buf, len, flags, wf_past(deadline));
	struct wf_call c;

	if (now.n != WF_NOW_WAIT)
		return (ssize_t)wf_answered(now.n);
	t.mark = now.mark;
	wf_call_init(&c, "send", t);
	wf_later_send(&c.op, fd, buf, len, flags);
	return (ssize_t)wf_call_wait(&c, deadline);
}

ssize_t weft_send_until(int fd, const void *buf, size_t len, int flags, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_send", WF_CALLER);

	return rc < 0 ? rc : do_send(fd, buf, len, flags, deadline);
}

static ssize_t do_recvmsg(int fd, struct msghdr *msg, int flags, uint64_t deadline)
{
	struct wf_target t = wf_number(fd);
	struct wf_now now = wf_now_recvmsg(t, msg, flags, wf_past(deadline));
	struct wf_call c;
	int64_t n;

	if (now.n != WF_NOW_WAIT)
		return (ssize_t)wf_answered(now.n);
	t.mark = now.mark;
	wf_call_init(&c, "recvmsg", t);
	n = wf_call_end(&c, weft_op_recvmsg_at(&c.op, fd, msg, flags, c.where), deadline);
	if (n > 0)
		wf_now_more(fd); /* messages come in bursts */
	return (ssize_t)n;
}

ssize_t weft_recvmsg_until(int fd, struct msghdr *msg, int flags, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_recvmsg", WF_CALLER);

	return rc < 0 ? rc : do_recvmsg(fd, msg, flags, deadline);
}

static ssize_t do_sendmsg(int fd, struct msghdr *msg, int flags, uint64_t deadline)
{
	struct wf_target t = wf_number(fd);
	struct wf_now now = wf_now_sendmsg(t, msg, flags, wf_past(deadline));
	struct wf_call c;

	if (now.n != WF_NOW_WAIT)
		return (ssize_t)wf_answered(now.n);
	t.mark = now.mark;
	wf_call_init(&c, "sendmsg", t);
	return (ssize_t)wf_call_end(&c, weft_op_sendmsg_at(&c.op, fd, msg, flags, c.where),
				    deadline);
}

ssize_t weft_sendmsg_until(int fd, struct msghdr *msg, int flags, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_sendmsg", WF_CALLER);

	return rc < 0 ? rc : do_sendmsg(fd, msg, flags, deadline);
}

/* Connections */

static int64_t accept_one(struct wf_target t, struct sockaddr *addr, socklen_t *len,
			  uint64_t deadline)
{
	int64_t n = wf_now_accept(t, addr, len, wf_past(deadline)).n;
	struct wf_call c;

	if (n != WF_NOW_WAIT)
		return wf_answered(n);
	wf_call_init(&c, "accept", t);
	n = wf_call_end(&c, weft_op_accept_at(&c.op, t.fd, addr, len, c.where), deadline);
	if (n >= 0)
		wf_now_more(t.fd); /* connections come in bursts */
	return n;
}

static bool listens(int fd)
{
	int yes = 0;
	socklen_t len = sizeof yes;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes;
}

/* A connection that ended in the queue is nothing to tell of. Linux tells its error as
 * if it were the listener's. */
bool wf_accept_again(int fd, int64_t n)
{
	switch (n) {
	case -ECONNABORTED:
	case -ENETDOWN:
	case -EPROTO:
	case -ENOPROTOOPT:
	case -EHOSTDOWN:
	case -ENONET:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return true;
	case -EOPNOTSUPP:
		return listens(fd);
	default:
		return false;
	}
}

int weft_accept_until(int fd, struct sockaddr_storage *peer, uint64_t deadline)
{
	int64_t n = wf_call_allowed(fd, "weft_accept", WF_CALLER);
	struct wf_target t = wf_target(fd);
	socklen_t len;

	if (n < 0)
		return (int)n;
	do {
		wf_take_turns();
		len = sizeof *peer;
		if (peer != NULL)
			memset(peer, 0, sizeof *peer);
		n = accept_one(t, (struct sockaddr *)peer, peer != NULL ? &len : NULL, deadline);
	} while (wf_accept_again(fd, n));
	return (int)n;
}

int weft_connect_until(int fd, const struct sockaddr *addr, socklen_t len, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_connect", WF_CALLER);
	struct wf_call c;

	if (rc < 0)
		return rc;
	wf_call_init(&c, "connect", wf_number(fd));
	rc = weft_op_connect_at(&c.op, fd, addr, len, c.where);
	return (int)wf_call_end(&c, rc, deadline);
}

/* Files. What a try has sent is sent: an operation goes on from there. */
static int64_t do_sendfile(int fd, int in, int64_t offset, size_t len, uint64_t deadline)
{
	struct wf_target t = wf_target(fd), from = wf_target(in);
	struct wf_call c;
	int64_t sent, n;
	int rc;

	wf_take_turns();
	sent = wf_now_sendfile(t, from, offset, len, wf_past(deadline)).n;
	if (sent < 0 && sent != WF_NOW_WAIT)
		return wf_answered(sent);
	if (sent == WF_NOW_WAIT)
		sent = 0;
	else if ((size_t)sent == len)
		return wf_answered(sent);
	/* Also if the file ended: the operation finds that out. */
	wf_call_init(&c, "sendfile", t);
	rc = wf_op_sendfile(&c.op, fd, from, offset + sent, len - (size_t)sent, c.where);
	n = wf_call_end(&c, rc, deadline);
	if (n < 0)
		return sent > 0 ? sent : n;
	return sent + n;
}

ssize_t weft_sendfile_until(int fd, int in, int64_t offset, size_t len, uint64_t deadline)
{
	int rc = wf_call_checked("weft_sendfile", WF_CALLER);

	return rc < 0 ? rc : (ssize_t)do_sendfile(fd, in, offset, len, deadline);
}
