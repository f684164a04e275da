/* server.c - accepts clients, finds their keys, and ends in good order. All but keys is done
 * in WEFT_MAIN. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients.h"
#include "common/acceptor.h"
#include "common/beneath.h"
#include "common/service.h"
#include "common/socket.h"
#include "key.h"
#include "settings.h"

static struct {
	int listener, keys;
	_Atomic bool stopping;
	_Atomic int error; /* 0, or why it could not go on */
	uint64_t all;      /* that ever came */
	_Atomic uint64_t refused;
	struct session *sessions;
	weft_waitgroup users; /* the acceptor and the sessions */
} server = { .listener = -1, .keys = -1 };

static const struct channel_io waiting = { weft_read_until, weft_write_all_until };

int server_error(void)
{
	return atomic_load(&server.error);
}

bool server_is_stopping(void)
{
	return atomic_load_explicit(&server.stopping, memory_order_relaxed);
}

uint64_t server_clients(void)
{
	return server.all;
}

uint64_t server_refused(void)
{
	return server.refused;
}

static int complain(const char *what, int rc)
{
	fprintf(stderr, "weft-sealed-files: %s: %s\n", what, strerror(-rc));
	return rc;
}

int server_open(void)
{
	int rc = tree_open_root(settings.root);

	if (rc < 0)
		return complain(settings.root, rc);
	server.keys = open(settings.keys, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (server.keys < 0)
		return complain(settings.keys, -errno);
	server.listener = socket_listen(settings.listen);
	if (server.listener < 0)
		return complain(settings.listen, server.listener);
	socket_limit_silence(server.listener, settings.message_time);
	return 0;
}

void server_close(void)
{
	tree_close_root();
	if (server.keys >= 0)
		close(server.keys);
}

void server_name(char *out, size_t size)
{
	out[0] = '\0';
	socket_name(server.listener, out, size);
}

/* Keys */

struct search {
	const char *name;
	uint8_t *key;
};

static int read_key(void *arg)
{
	const struct search *s = arg;
	int fd = beneath_open(server.keys, s->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, false);
	int rc = fd < 0 ? fd : key_read(fd, s->key);

	if (fd >= 0)
		close(fd);
	if (rc < 0 && rc != -ENOENT)
		fprintf(stderr, "weft-sealed-files: the key of %s: %s\n", s->name,
			rc == -EPERM ? "others may read it" : strerror(-rc));
	return rc;
}

int server_find_key(const char *name, uint8_t key[SEAL_KEY])
{
	return weft_offload(read_key, &(struct search){ name, key });
}

/* Clients */

/* -ECONNRESET: it has lost its place to another stranger. -EUSERS: others have become clients
 * since. */
int server_admit(struct session *s)
{
	int rc = place_busy(&s->place) ? clients_add(s->channel.name) : -ECONNRESET;

	if (rc < 0) {
		atomic_fetch_add(&server.refused, 1);
		return rc;
	}
	place_leave(&s->place);
	s->known = true;
	return 0;
}

void server_forget(struct session *s)
{
	*s->link = s->next;
	if (s->next != NULL)
		s->next->link = s->link;
	if (s->known)
		clients_remove(s->channel.name);
	place_leave(&s->place);
	weft_color_pin(s->color, -1);
	weft_close(s->channel.fd);
	channel_fini(&s->channel);
	OPENSSL_cleanse(&s->channel, sizeof s->channel);
	free(s);
	weft_waitgroup_done(&server.users);
}

static void remember(struct session *s)
{
	s->next = server.sessions;
	s->link = &server.sessions;
	if (s->next != NULL)
		s->next->link = &s->next;
	server.sessions = s;
	server.all++;
	weft_waitgroup_add(&server.users, 1);
}

static void arrive(int fd, const struct sockaddr_storage *peer)
{
	struct session *s = calloc(1, sizeof *s);

	if (s == NULL || !clients_have_room() || !place_take(&s->place, fd, peer)) {
		free(s);
		atomic_fetch_add(&server.refused, 1);
		weft_close(fd);
		return;
	}
	s->channel.fd = fd;
	s->channel.io = &waiting;
	s->color = settings.serial ? WEFT_MAIN : weft_color_new();
	weft_color_pin(s->color,
		       settings.serial ? -1 : (int)(server.all % (uint64_t)weft_workers()));
	remember(s);
	if (weft_go(session_serve, s) < 0)
		server_forget(s);
}

/* Ends the server: it can accept no more connections. */
static void fail(int error)
{
	atomic_store(&server.error, error);
	if (weft_post(WEFT_MAIN, server_stop, NULL) < 0)
		weft_stop();
}

static int accept_all(void *unused)
{
	struct acceptor acceptor = { 0 };
	struct sockaddr_storage peer;
	int fd;

	(void)unused;
	/* Once it stops, the listener's number may be that of something else. */
	while (!server_is_stopping() && (fd = weft_accept(server.listener, &peer)) != -EBADF &&
	       fd != -ESHUTDOWN) {
		if (!acceptor_goes_on(&acceptor, "weft-sealed-files", fd)) {
			fail(fd);
			break;
		} else if (fd >= 0) {
			arrive(fd, &peer);
		} else if (fd != -ECONNABORTED) {
			weft_sleep(places_make_room()); /* it stays in the kernel's queue */
		}
	}
	weft_waitgroup_done(&server.users);
	return 0;
}

int server_start(void)
{
	int rc = weft_fd_adopt(server.listener);

	if (rc < 0)
		return rc;
	places_init(settings.max_strangers, settings.max_per_address);
	weft_waitgroup_add(&server.users, 1);
	rc = weft_go(accept_all, NULL);
	if (rc < 0)
		weft_waitgroup_done(&server.users);
	return rc;
}

/* The end */

static void shut_all(int how)
{
	for (struct session *s = server.sessions; s != NULL; s = s->next)
		shutdown(s->channel.fd, how);
}

/* Idle clients find their connection at its end; requests under way go on. */
static int end(void *unused)
{
	(void)unused;
	weft_close(server.listener);
	lease_stop();
	service_end(&server.users, settings.stop_time, shut_all);
	return 0;
}

void server_stop(void *unused)
{
	(void)unused;
	if (atomic_exchange(&server.stopping, true) || weft_go(end, NULL) < 0)
		weft_stop();
}
