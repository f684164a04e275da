/* dns_channel.c - the c-ares channel, driven by watches and one timer.
 *
 * c-ares tells which of its sockets it wants to read or write; each becomes a
 * watch in the channel's color, so no two of its calls run at one time and it
 * needs no lock. The watches and the timer do not keep weft_run from ending:
 * lookups do that.
 *
 * c-ares opens and closes sockets through us: Weft must know of a close, and
 * when a socket cannot be watched, a read from it fails, so that c-ares gives
 * it up instead of waiting for what will never be noticed.
 */
#ifdef WEFT_HAVE_CARES

#include <ares.h>
#include <errno.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weft/io.h>

#include "base/memory.h"
#include "io/dns.h"
#include "scheduler/scheduler.h"

/* The first wait for an answer, doubled at each of so many tries: 14 s. */
#define FIRST_WAIT_MS 2000
#define TRIES 3

struct sock {
	int fd;
	int watched; /* WEFT_READ | WEFT_WRITE */
	bool broken; /* it cannot be watched */
	struct sock *next;
};

static struct {
	ares_channel ares;
	weft_color color;
	bool closing;
	struct sock *socks; /* a few: one or two per server */
	weft_timer tick;
	bool ticking;
} channel;

static struct sock *find_sock(int fd)
{
	struct sock *s = channel.socks;

	while (s != NULL && s->fd != fd)
		s = s->next;
	return s;
}

static void ready(int in, int out)
{
	ares_process_fd(channel.ares, in, out);
	wf_channel_settle();
}

static void readable(void *sock)
{
	ready(((struct sock *)sock)->fd, ARES_SOCKET_BAD);
}

static void writable(void *sock)
{
	ready(ARES_SOCKET_BAD, ((struct sock *)sock)->fd);
}

static void watch(struct sock *s, int what)
{
	weft_fn *fn = what == WEFT_READ ? readable : writable;

	if (weft_on_fd(s->fd, what, channel.color, fn, s) < 0) {
		s->broken = true;
		return;
	}
	s->watched |= what;
	wf_live_add(-1);
}

static void unwatch(struct sock *s, int what)
{
	s->watched &= ~what;
	wf_live_add(1);
	weft_off_fd(s->fd, what);
}

static void set_watch(struct sock *s, int what, bool on)
{
	if (on && !(s->watched & what))
		watch(s, what);
	else if (!on && (s->watched & what))
		unwatch(s, what);
}

/* What c-ares wants to know of a socket has changed. */
static void on_state(void *unused, ares_socket_t fd, int in, int out)
{
	struct sock *s = find_sock(fd);

	(void)unused;
	if (s == NULL || channel.closing)
		return;
	set_watch(s, WEFT_READ, in);
	set_watch(s, WEFT_WRITE, out);
}

/* Sockets for c-ares; by its rule these set errno. */

static ares_socket_t sock_open(int family, int type, int protocol, void *unused)
{
	struct sock *s = WF_NEW(struct sock);

	(void)unused;
	if (s == NULL) {
		errno = ENOMEM;
		return -1;
	}
	errno = EMFILE;
	s->fd = WF_FAULT(EMFILE) ? -1
				 : socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (s->fd < 0) {
		free(s);
		return -1;
	}
	s->next = channel.socks;
	channel.socks = s;
	return s->fd;
}

static int sock_close(ares_socket_t fd, void *unused)
{
	struct sock **at = &channel.socks, *s;

	(void)unused;
	while ((s = *at) != NULL && s->fd != fd)
		at = &s->next;
	if (s != NULL) {
		on_state(NULL, fd, 0, 0);
		*at = s->next;
		free(s);
	}
	return channel.closing ? close(fd) : weft_fd_close(fd);
}

static int sock_connect(ares_socket_t fd, const struct sockaddr *addr, ares_socklen_t len,
			void *unused)
{
	(void)unused;
	return connect(fd, addr, len);
}

static ares_ssize_t sock_recv(ares_socket_t fd, void *buf, size_t len, int flags,
			      struct sockaddr *from, ares_socklen_t *from_len, void *unused)
{
	struct sock *s = find_sock(fd);

	(void)unused;
	if (s != NULL && s->broken) {
		errno = EIO;
		return -1;
	}
	return recvfrom(fd, buf, len, flags, from, from_len);
}

static ares_ssize_t sock_send(ares_socket_t fd, const struct iovec *iov, int count, void *unused)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)iov,
			      .msg_iovlen = (size_t)count };

	(void)unused;
	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

static const struct ares_socket_functions sock_functions = {
	.asocket = sock_open,
	.aclose = sock_close,
	.aconnect = sock_connect,
	.arecvfrom = sock_recv,
	.asendv = sock_send,
};

static void on_tick(void *unused)
{
	(void)unused;
	channel.ticking = false;
	ready(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

/* Lets c-ares find out that a socket is of no use. */
static void give_up_broken(void)
{
	struct sock *s = channel.socks;

	while (s != NULL) {
		int fd = s->fd;

		if (!s->broken) {
			s = s->next;
			continue;
		}
		ares_process_fd(channel.ares, fd, ARES_SOCKET_BAD);
		s = find_sock(fd);
		if (s != NULL)
			s->broken = false; /* c-ares kept it: time will end its queries */
		s = channel.socks;
	}
}

/* A tick that is under way comes early enough: every wait is as long as the
 * first, or longer. */
void wf_channel_settle(void)
{
	struct timeval left;

	give_up_broken();
	if (channel.ticking || ares_timeout(channel.ares, NULL, &left) == NULL)
		return;
	channel.ticking = weft_timer_start(&channel.tick, (uint64_t)left.tv_sec * WEFT_SEC +
								  (uint64_t)left.tv_usec * WEFT_US +
								  WEFT_MS) == 0;
}

void wf_channel_ask(const char *name, int family, wf_answer_fn *fn, void *arg)
{
	struct ares_addrinfo_hints hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };

	ares_getaddrinfo(channel.ares, name, NULL, &hints, fn, arg);
}

void wf_channel_cancel(void)
{
	ares_cancel(channel.ares);
}

static void library_init(void)
{
	ares_library_init(ARES_LIB_INIT_ALL);
}

/* The hosts file is not c-ares's business (hosts.c), hence lookups "b". Servers
 * that the program names replace the system's configuration, its list of
 * domains to search too. */
static int open_ares(ares_channel *ares, const char *servers, ares_sock_state_cb fn)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static char lookups[] = "b";
	struct ares_options opt = {
		.flags = servers != NULL ? ARES_FLAG_NOSEARCH : 0,
		.timeout = FIRST_WAIT_MS,
		.tries = TRIES,
		.lookups = lookups,
		.sock_state_cb = fn,
	};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
		   ARES_OPT_SOCK_STATE_CB;
	int status;

	pthread_once(&once, library_init);
	if (WF_FAULT(ENOMEM) || ares_init_options(ares, &opt, mask) != ARES_SUCCESS)
		return -ENOMEM;
	status = servers != NULL ? ares_set_servers_ports_csv(*ares, servers) : ARES_SUCCESS;
	if (status == ARES_SUCCESS)
		return 0;
	ares_destroy(*ares);
	return status == ARES_ENOMEM ? -ENOMEM : -EINVAL;
}

static void ignore_state(void *unused, ares_socket_t fd, int in, int out)
{
	(void)unused, (void)fd, (void)in, (void)out;
}

int wf_channel_check(const char *servers)
{
	ares_channel ares;
	int r = open_ares(&ares, servers, ignore_state);

	if (r == 0)
		ares_destroy(ares);
	return r;
}

int wf_channel_open(weft_color color, const char *servers)
{
	int r = open_ares(&channel.ares, servers, on_state);

	if (r < 0)
		return r;
	ares_set_socket_functions(channel.ares, &sock_functions, NULL);
	channel.color = color;
	channel.closing = channel.ticking = false;
	weft_timer_init(&channel.tick, color, on_tick, NULL);
	channel.tick.background = true;
	return 0;
}

void wf_channel_close(void)
{
	channel.closing = true;
	ares_destroy(channel.ares);
}

#else

typedef int wf_without_c_ares;

#endif
