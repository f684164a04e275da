/* server.c - accepts connections, in a color that any worker may take, and ends in good order. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "cache.h"
#include "common/acceptor.h"
#include "common/places.h"
#include "common/service.h"
#include "common/socket.h"
#include "conn.h"
#include "counters.h"
#include "desk.h"
#include "listen.h"
#include "log.h"
#include "overload.h"
#include "settings.h"
#include "tls.h"

/* By how much less a new connection is worth to a thief than its time says: what was just made
 * for it is warm where it was accepted. A worker that does not cope loses its acceptor. */
enum { NEW_IS_WARM = 100 };

/* How often one that is refused is listened to. */
enum { REFUSED_READS = 16 };

static const char busy_reply[] = "HTTP/1.1 503 Service Unavailable\r\nServer: weft\r\n"
				 "Content-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";

/* By TLS: a record with the fatal alert internal_error, which says that the server is at fault. */
static const char busy_alert[] = "\x15\x03\x01\x00\x02\x02\x50";

/* Of a descriptor. */
enum { CLOSED, OPEN, BUSY };

/* A connection, from the acceptor to its end. */
struct arrival {
	weft_event event; /* brings it to its own color */
	struct conn conn;
	bool tls;
};

static struct {
	int plain, tls; /* listening sockets, or -1 */
	struct listen_habit plain_habit, tls_habit;
	uint64_t most; /* connections */
	_Atomic bool stopping;
	_Atomic int error;    /* 0, or why it could not go on */
	weft_waitgroup users; /* acceptors and connections */
	/* Which descriptors are connections: they are to be told of the end. */
	_Atomic uint8_t *open;
	uint64_t numbers;
} server = { .plain = -1, .tls = -1 };

int server_error(void)
{
	return atomic_load(&server.error);
}

bool server_is_stopping(void)
{
	return atomic_load_explicit(&server.stopping, memory_order_relaxed);
}

int server_listen(void)
{
	int rc = listen_room(&server.numbers, &server.most);

	if (rc < 0)
		return rc;
	server.open = calloc(server.numbers, sizeof *server.open);
	if (server.open == NULL)
		return -ENOMEM;
	server.plain = listen_plain();
	if (server.plain < 0)
		return server.plain;
	if (settings.listen_tls != NULL) {
		server.tls = listen_tls();
		if (server.tls < 0)
			return server.tls;
	}
	return 0;
}

int server_port(void)
{
	return socket_port(server.plain);
}

bool server_address(bool tls, char *out, size_t size)
{
	return socket_name(tls ? server.tls : server.plain, out, size) == 0;
}

void server_free(void)
{
	free(server.open);
	desk_free_all();
	tls_unload();
	log_free();
}

/* Connections */

static void set_open(int fd, uint8_t open)
{
	if ((uint64_t)fd < server.numbers)
		atomic_store(&server.open[fd], open);
}

bool server_set_busy(int fd, bool busy)
{
	set_open(fd, busy ? BUSY : OPEN);
	/* Now whoever stops the server sees that, or it is seen here. */
	return atomic_load(&server.stopping);
}

/* Counts a connection out and frees it. */
static void forget(struct arrival *a)
{
	free(a);
	atomic_fetch_sub(&open_connections, 1);
	weft_waitgroup_done(&server.users);
}

/* What its like will be. */
static void learn_from(const struct arrival *a)
{
	if (a->conn.requests == 0 || server_is_stopping())
		return;
	if (a->tls)
		listen_learn(&server.tls_habit, server.tls, a->conn.requests == 1);
	else
		listen_learn(&server.plain_habit, server.plain, a->conn.requests == 1);
}

static int serve(void *arg)
{
	struct arrival *a = arg;
	struct stream *s = &a->conn.stream;

	if (server_set_busy(s->fd, false))
		shutdown(s->fd, SHUT_RD);
	if (a->tls)
		s->tls = tls_accept(&s->place, weft_now() + settings.head_time * WEFT_MS);
	if (!a->tls || s->tls != NULL)
		conn_serve(&a->conn);
	stream_await_taken(s);
	learn_from(a);
	set_open(s->fd, CLOSED);
	stream_close(s, a->conn.politely);
	forget(a);
	return 0;
}

/* Says 503, or its like, without waiting. What the client has sent is read first, as a close would
 * otherwise make its kernel throw the answer away. */
static void refuse(int fd, bool tls)
{
	const char *reply = tls ? busy_alert : busy_reply;
	size_t size = tls ? sizeof busy_alert - 1 : sizeof busy_reply - 1;
	char scrap[2048];
	int reads = 0;

	count(COUNT_REFUSED, 1);
	send(fd, reply, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	while (reads++ < REFUSED_READS &&
	       recv(fd, scrap, sizeof scrap, MSG_DONTWAIT) == (ssize_t)sizeof scrap)
		;
	weft_fd_close(fd);
}

/* The connection waited for its turn too long, or there is no stack for it: the machine is
 * overloaded. */
static void turn_away(void *arg)
{
	struct arrival *a = arg;

	place_leave(&a->conn.stream.place);
	refuse(a->conn.stream.fd, a->tls);
	forget(a);
}

static void begin(void *arg)
{
	if (weft_async_call(serve, arg) < 0)
		turn_away(arg);
}

/* Counts a connection in. False: there is no room for it. */
static bool admit(struct arrival *a, int fd, const struct sockaddr_storage *peer)
{
	if (!place_take(&a->conn.stream.place, fd, peer))
		return false;
	atomic_fetch_add(&open_connections, 1);
	return true;
}

static void arrive(int fd, const struct sockaddr_storage *peer, bool tls)
{
	struct arrival *a = calloc(1, sizeof *a);

	count(COUNT_CONNECTIONS, 1);
	if (a == NULL || !admit(a, fd, peer)) {
		free(a);
		refuse(fd, tls);
		return;
	}
	weft_waitgroup_add(&server.users, 1);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK); /* files are sent without copies */
	a->conn.stream.fd = fd;
	a->conn.peer = *peer;
	a->tls = tls;
	weft_event_init(&a->event, weft_color_new(), begin, a);
	a->event.drop = turn_away;
	if (weft_event_post(&a->event) < 0)
		turn_away(a);
}

/* Accepting */

/* For a shortage of descriptors or memory. The new connection stays in the kernel's queue; cached
 * files, and the connection that has waited longest, give theirs back. */
static void await_room(void)
{
	cache_clear();
	weft_sleep(places_make_room());
}

/* Ends the server: it can accept no more connections. */
static void fail(int error)
{
	/* Both sockets may fail, and a second call of server_stop would end the run in the middle. */
	if (atomic_exchange(&server.error, error) != 0)
		return;
	if (weft_post(WEFT_MAIN, server_stop, NULL) < 0)
		weft_stop();
}

/* One for each socket, which is its `arg`. One for each worker would take turns, and so wake
 * another worker for each connection. They begin where it is, and stay there as long as that
 * worker copes. */
static int accept_all(void *arg)
{
	bool tls = arg == &server.tls;
	int fd, listener = *(int *)arg;
	struct acceptor acceptor = { 0 };
	struct sockaddr_storage peer;

	/* Once it stops, the listener's number may be that of something else. */
	while (!server_is_stopping() && (fd = weft_accept(listener, &peer)) != -EBADF &&
	       fd != -ESHUTDOWN) {
		if (!acceptor_goes_on(&acceptor, "weft-httpd", fd)) {
			fail(fd);
			break;
		} else if (fd >= 0) {
			arrive(fd, &peer, tls);
		} else if (fd != -ECONNABORTED) {
			await_room();
		}
	}
	weft_waitgroup_done(&server.users);
	return 0;
}

static int start_accepting(int *listener)
{
	int rc = *listener >= 0 ? weft_fd_adopt(*listener) : 0;

	if (rc < 0 || *listener < 0)
		return rc;
	weft_waitgroup_add(&server.users, 1);
	rc = weft_go_on(weft_color_new(), accept_all, listener);
	if (rc < 0)
		weft_waitgroup_done(&server.users);
	return rc;
}

int server_start(void)
{
	int rc;

	places_init(server.most, settings.max_per_address);
	overload_init();
	tls_start();
	weft_handler_penalty(begin, NEW_IS_WARM);
	rc = start_accepting(&server.plain);
	return rc < 0 ? rc : start_accepting(&server.tls);
}

/* The end */

static void stop_accepting(int *listener)
{
	struct sockaddr_storage peer;
	int fd;

	if (*listener < 0)
		return;
	/* Those that the kernel has accepted for us are not turned away. */
	while ((fd = weft_accept_until(*listener, &peer, 0)) >= 0)
		arrive(fd, &peer, listener == &server.tls);
	weft_close(*listener);
}

static void shut_all(int how)
{
	for (uint64_t fd = 0; fd < server.numbers; fd++) {
		uint8_t open = atomic_load(&server.open[fd]);

		if (open == OPEN || (open == BUSY && how != SHUT_RD))
			shutdown((int)fd, how);
	}
}

/* Idle connections find their stream at its end; requests under way go on. */
static int end(void *unused)
{
	(void)unused;
	stop_accepting(&server.plain);
	stop_accepting(&server.tls);
	service_end(&server.users, settings.stop_time, shut_all);
	log_stop();
	cache_clear();
	return 0;
}

void server_stop(void *unused)
{
	(void)unused;
	if (atomic_exchange(&server.stopping, true) || weft_go(end, NULL) < 0)
		weft_stop();
}

static int reload(void *unused)
{
	int rc = settings.root != NULL ? root_open(settings.root) : 0;

	(void)unused;
	if (rc < 0)
		fprintf(stderr, "weft-httpd: %s: %s\n", settings.root, strerror(-rc));
	if (settings.listen_tls != NULL)
		tls_load();
	return 0;
}

static int reload_all(void *unused)
{
	static weft_mutex one_at_a_time = WEFT_MUTEX_INIT;

	weft_mutex_lock(&one_at_a_time);
	weft_offload(reload, unused);
	weft_mutex_unlock(&one_at_a_time);
	cache_clear();
	log_reopen();
	return 0;
}

void server_reload(void *unused)
{
	if (!server_is_stopping())
		weft_go(reload_all, unused);
}
