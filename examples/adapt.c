/* adapt.c - a library with callbacks, c-ares, made to wait as Weft's own calls do: a
 * thread calls ask() and has the answer, or -ECANCELED when its scope is cancelled.
 *
 * c-ares says which sockets it looks at (on_socket) and for how long, wants to be called
 * then (on_ready), and calls back when it is done (on_answer). All of that happens in the
 * color of the thread that asks, so nothing needs a lock. The name server is our own: it
 * knows loom.example, and says nothing about other names.
 */
#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <weft/weft.h>

static struct sockaddr_in server;

struct question {
	weft_wait wait;
	ares_channel channel;
	weft_timer timer; /* when c-ares wants to try again */
	int status;
	char address[INET_ADDRSTRLEN];
};

static void on_ready(void *arg)
{
	struct question *q = arg;
	ares_socket_t fd[ARES_GETSOCK_MAXNUM];
	int n = ares_getsock(q->channel, fd, ARES_GETSOCK_MAXNUM);
	struct timeval left;

	for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++)
		ares_process_fd(q->channel, ARES_GETSOCK_READABLE(n, i) ? fd[i] : ARES_SOCKET_BAD,
				ARES_GETSOCK_WRITABLE(n, i) ? fd[i] : ARES_SOCKET_BAD);
	weft_timer_cancel(&q->timer);
	if (ares_timeout(q->channel, NULL, &left) != NULL)
		weft_timer_start(&q->timer, (uint64_t)left.tv_sec * WEFT_SEC +
						    (uint64_t)left.tv_usec * WEFT_US);
}

static void on_socket(void *arg, ares_socket_t fd, int readable, int writable)
{
	weft_off_fd(fd, WEFT_READ);
	weft_off_fd(fd, WEFT_WRITE);
	if (readable)
		weft_on_fd(fd, WEFT_READ, weft_color_current(), on_ready, arg);
	if (writable)
		weft_on_fd(fd, WEFT_WRITE, weft_color_current(), on_ready, arg);
}

static void on_answer(void *arg, int status, int timeouts, struct hostent *host)
{
	struct question *q = arg;

	(void)timeouts;
	if (status == ARES_ECANCELLED)
		return; /* stop did it, and nobody waits any more */
	q->status = status;
	if (status == ARES_SUCCESS)
		inet_ntop(AF_INET, host->h_addr_list[0], q->address, sizeof q->address);
	weft_schedule(&q->wait);
}

/* While it waits: its scope is cancelled. */
static bool stop(weft_wait *wait)
{
	struct question *q = (struct question *)wait;

	ares_cancel(q->channel);
	return true;
}

static int begin(struct question *q)
{
	struct ares_options options = { .sock_state_cb = on_socket, .sock_state_cb_data = q };
	struct ares_addr_port_node to = { .family = AF_INET, .udp_port = ntohs(server.sin_port) };

	to.addr.addr4 = server.sin_addr;
	if (ares_init_options(&q->channel, &options, ARES_OPT_SOCK_STATE_CB) != ARES_SUCCESS)
		return -ENOMEM;
	ares_set_servers_ports(q->channel, &to);
	weft_timer_init(&q->timer, weft_color_current(), on_ready, q);
	return 0;
}

/* Writes the address of a name: 0, -ENOENT, -ECANCELED or -ENOMEM. */
static int ask(const char *name, char address[INET_ADDRSTRLEN])
{
	struct question q = { .wait = WEFT_WAIT_INIT("name", stop) };
	int rc = begin(&q);

	if (rc < 0)
		return rc;
	ares_gethostbyname(q.channel, name, AF_INET, on_answer, &q);
	on_ready(&q);
	rc = weft_suspend(&q.wait);
	weft_timer_cancel(&q.timer);
	ares_destroy(q.channel);
	if (rc < 0)
		return rc;
	memcpy(address, q.address, sizeof q.address);
	return q.status == ARES_SUCCESS ? 0 : -ENOENT;
}

/* The name server: a question becomes its answer. */

static int serve(void *arg)
{
	static const unsigned char found[] = {
		0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7
	};
	int fd = (int)(intptr_t)arg;
	struct sockaddr_in from;
	unsigned char text[512];
	struct iovec iov = { text, sizeof text - sizeof found };
	struct msghdr msg = { .msg_name = &from, .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	for (;;) {
		size_t end = 12;

		iov.iov_len = sizeof text - sizeof found;
		msg.msg_namelen = sizeof from;
		n = weft_recvmsg(fd, &msg, 0);
		if (n < 0)
			return 0; /* closed */
		if (n < 17 || memcmp(text + 12, "\4loom", 5) != 0)
			continue;
		while (end < (size_t)n && text[end] != 0)
			end += text[end] + 1u;
		end += 5;
		text[2] |= 0x80; /* an answer */
		memset(text + 6, 0, 6);
		text[7] = 1; /* with one record */
		memcpy(text + end, found, sizeof found);
		iov.iov_len = end + sizeof found;
		weft_sendmsg(fd, &msg, 0);
	}
}

static int start_server(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof server;

	server.sin_family = AF_INET;
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&server, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&server, &len) < 0)
		return -errno;
	return fd;
}

static int ask_and_tell(void *name)
{
	char address[INET_ADDRSTRLEN];
	int rc = ask(name, address);

	printf("%s: %s\n", (char *)name, rc == 0 ? address : strerror(-rc));
	return rc;
}

static int app(void *unused)
{
	char address[INET_ADDRSTRLEN];
	int fd = start_server(), rc;
	weft_scope s;

	(void)unused;
	if (fd < 0 || weft_go(serve, (void *)(intptr_t)fd) < 0)
		return -1;
	/* Two questions at once; the second has no answer, and is given up. */
	weft_scope_begin(&s);
	weft_async_call(ask_and_tell, (void *)(intptr_t) "silence.example");
	rc = ask("loom.example", address);
	printf("loom.example: %s\n", rc == 0 ? address : strerror(-rc));
	weft_scope_cancel(&s);
	weft_scope_end(&s);
	/* The same by a deadline. */
	weft_scope_begin(&s);
	weft_scope_deadline(&s, weft_now() + 10 * WEFT_MS);
	ask_and_tell((void *)(intptr_t) "nothing.example");
	printf("the scope: %s\n", strerror(-weft_scope_end(&s)));
	return weft_close(fd);
}

int main(void)
{
	return ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS ||
	       weft_run(app, NULL, NULL) < 0;
}
