/* server.c - the echo server of Weft, by operations or by watches.
 *
 * Each connection is a color of its own, so that connections run on all workers
 * and none needs a lock.
 */
#include "server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

struct conn {
	weft_op recv, send;
	int fd;
	size_t sent, len;
	char buf[ECHO_BUFFER];
};

static struct {
	const struct echo_server *settings;
	weft_op accept;
} server;

static void conn_close(struct conn *c)
{
	weft_fd_close(c->fd);
	free(c);
}

/* By operations */

static void start_recv(struct conn *c)
{
	if (weft_op_recv(&c->recv, c->fd, c->buf, sizeof c->buf, 0) < 0)
		conn_close(c);
}

static void start_send(struct conn *c)
{
	if (weft_op_send(&c->send, c->fd, c->buf + c->sent, c->len - c->sent, MSG_NOSIGNAL) < 0)
		conn_close(c);
}

static void received(void *arg)
{
	struct conn *c = arg;

	if (c->recv.result <= 0) {
		conn_close(c);
		return;
	}
	c->sent = 0;
	c->len = (size_t)c->recv.result;
	start_send(c);
}

static void sent(void *arg)
{
	struct conn *c = arg;

	if (c->send.result < 0) {
		conn_close(c);
		return;
	}
	c->sent += (size_t)c->send.result;
	if (c->sent < c->len)
		start_send(c);
	else
		start_recv(c);
}

/* By watches */

static void writable(void *arg);

static bool would_block(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void readable(void *arg)
{
	struct conn *c = arg;
	ssize_t n = recv(c->fd, c->buf, sizeof c->buf, MSG_DONTWAIT);
	ssize_t done;

	if (would_block(n))
		return;
	done = n > 0 ? send(c->fd, c->buf, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
	if (n > 0 && done == n)
		return;
	if (n <= 0 || (done < 0 && !would_block(done))) {
		conn_close(c);
		return;
	}
	c->sent = done > 0 ? (size_t)done : 0;
	c->len = (size_t)n;
	weft_off_fd(c->fd, WEFT_READ);
	if (weft_on_fd(c->fd, WEFT_WRITE, c->recv.event.color, writable, c) < 0)
		conn_close(c);
}

static void writable(void *arg)
{
	struct conn *c = arg;
	ssize_t n = send(c->fd, c->buf + c->sent, c->len - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && !would_block(n)) {
		conn_close(c);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent < c->len)
		return;
	weft_off_fd(c->fd, WEFT_WRITE);
	if (weft_on_fd(c->fd, WEFT_READ, c->recv.event.color, readable, c) < 0)
		conn_close(c);
}

/* Both */

static void conn_new(int fd)
{
	weft_color color = weft_color_new();
	struct conn *c = malloc(sizeof *c);
	int one = 1;

	if (c == NULL) {
		weft_fd_close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	c->fd = fd;
	weft_op_init(&c->recv, color, received, c);
	weft_op_init(&c->send, color, sent, c);
	if (!server.settings->watches)
		start_recv(c);
	else if (weft_on_fd(fd, WEFT_READ, color, readable, c) < 0)
		conn_close(c);
}

static void accepted(void *arg)
{
	(void)arg;
	if (server.accept.result >= 0)
		conn_new((int)server.accept.result);
	weft_op_accept(&server.accept, server.settings->listeners[0], NULL, NULL);
}

static void nothing(void *arg)
{
	(void)arg;
}

static int app(void *arg)
{
	int count = server.settings->timers;
	weft_timer *timers = calloc((size_t)count + 1, sizeof *timers);
	int result = timers == NULL ? -ENOMEM : 0;

	(void)arg;
	for (int i = 0; i < count && result == 0; i++) {
		weft_timer_init(&timers[i], WEFT_MAIN, nothing, NULL);
		result = weft_timer_start(&timers[i], 3600 * WEFT_SEC);
	}
	weft_op_init(&server.accept, WEFT_MAIN, accepted, NULL);
	if (result == 0)
		result = weft_op_accept(&server.accept, server.settings->listeners[0], NULL, NULL);
	if (result < 0)
		weft_stop();
	return result;
}

void server_weft(const void *echo_server)
{
	weft_options opt = { 0 };

	server.settings = echo_server;
	opt.workers = server.settings->loops;
	opt.io = server.settings->io;
	if (server.settings->threads)
		_exit(-weft_run(server_threads_app, (void *)(uintptr_t)echo_server, &opt));
	_exit(-weft_run(app, NULL, &opt));
}

/* Backends */

static int nothing_app(void *arg)
{
	(void)arg;
	return 0;
}

static void ignore_report(enum weft_report_kind kind, const char *text, void *arg)
{
	(void)kind;
	(void)text;
	(void)arg;
}

static void try_backend(const void *io)
{
	weft_options opt = { .workers = 1, .io = io };

	weft_on_report(ignore_report, NULL);
	_exit(-weft_run(nothing_app, NULL, &opt));
}

struct bench_row *server_add_weft(const char *label, const char *io, bench_measure *fn,
				  const void *arg)
{
	int pid = bench_spawn(try_backend, io);
	int status = 0;

	/* -EINVAL is how weft_run refuses a backend; other troubles are failures. */
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == EINVAL) {
		bench_add_missing(label, "weft", "this system or this build has no such backend");
		return NULL;
	}
	return bench_add(label, "weft", fn, arg);
}

/* Processes */

static int listen_on(int port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 4096) < 0)
		return -errno;
	return fd;
}

static int port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof a;

	return getsockname(fd, (struct sockaddr *)&a, &len) < 0 ? -errno : ntohs(a.sin_port);
}

struct start {
	struct echo_server settings;
	void (*serve)(const void *echo_server);
	int pin;
};

static void start_main(const void *arg)
{
	const struct start *s = arg;

	signal(SIGPIPE, SIG_IGN);
	if (s->pin >= 0)
		bench_pin(s->pin);
	s->serve(&s->settings);
}

int server_start(struct server *sv, struct echo_server settings,
		 void (*serve)(const void *echo_server), int pin)
{
	struct start s = { settings, serve, pin };
	/* Weft accepts for all its workers; a loop of a peer for itself alone. */
	int listeners = serve == server_weft ? 1 : settings.loops;

	bench_raise_files();
	sv->port = 0;
	for (int i = 0; i < listeners; i++) {
		s.settings.listeners[i] = listen_on(sv->port);
		if (s.settings.listeners[i] < 0)
			return s.settings.listeners[i];
		sv->port = port_of(s.settings.listeners[i]);
	}
	sv->pid = bench_spawn(start_main, &s);
	for (int i = 0; i < listeners; i++)
		close(s.settings.listeners[i]);
	return sv->pid < 0 ? sv->pid : 0;
}

struct program_start {
	const struct server_program *program;
	int out;
};

static void program_main(const void *arg)
{
	const struct program_start *s = arg;
	const struct server_program *p = s->program;
	char workers[16];

	snprintf(workers, sizeof workers, "%d", p->workers);
	if (p->workers > 0)
		setenv("WEFT_WORKERS", workers, 1);
	setenv("WEFT_IO", p->io, 1);
	dup2(s->out, STDOUT_FILENO);
	execv(p->arguments[0], (char *const *)p->arguments);
}

int server_start_program(struct server *sv, const struct server_program *program)
{
	struct program_start s = { .program = program };
	int ends[2], told;
	FILE *out;

	if (pipe(ends) < 0)
		return -errno;
	s.out = ends[1];
	sv->pid = bench_spawn(program_main, &s);
	close(ends[1]);
	out = fdopen(ends[0], "r"); /* stays open: it may print more */
	told = out != NULL ? fscanf(out, program->told, &sv->port) : 0;
	return told == 1 ? 0 : bench_fail("the server did not start");
}

int server_stop(const struct server *sv, int result)
{
	int status;

	if (waitpid(sv->pid, &status, WNOHANG) == sv->pid) {
		if (WIFEXITED(status))
			return bench_fail("the server ended: %s", strerror(WEXITSTATUS(status)));
		return bench_fail("the server was ended by signal %d", WTERMSIG(status));
	}
	kill(sv->pid, SIGKILL);
	waitpid(sv->pid, NULL, 0);
	return result;
}
