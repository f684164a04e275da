/* files_uv.c - files over HTTP by libuv and http-parser: a loop for each CPU, each with a
 * listener of its own on the same port.
 *
 * usage: weft-bench-files-uv ROOT ADDRESS
 *
 * It serves the files that the root has when it starts, from memory, and knows GET only: it
 * has less to do than any of the others. Replies are written at once; what does not fit waits.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <http_parser.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { FILES = 16, INPUT = 4096, HEAD = 512, DATE = 40 };

struct file {
	char path[256];
	char *body;
	size_t size;
	char modified[DATE];
};

static struct file files[FILES];
static int file_count;

struct conn {
	uv_tcp_t tcp;
	uv_write_t write;
	http_parser parser;
	const struct file *asked; /* NULL: there is none of that name */
	bool whole;               /* a request was read */
	bool keep;                /* the connection, behind the reply */
	char head[HEAD], in[INPUT];
};

/* Each loop has its own. */
static _Thread_local struct {
	uint64_t made; /* when, by the loop's clock */
	char text[DATE];
} date;

static void write_date(time_t when, char text[DATE])
{
	struct tm t;

	gmtime_r(&when, &t);
	strftime(text, DATE, "%a, %d %b %Y %H:%M:%S GMT", &t);
}

static const char *current_date(uv_loop_t *loop)
{
	uint64_t now = uv_now(loop);

	if (date.made == 0 || now - date.made >= 1000) {
		date.made = now;
		write_date(time(NULL), date.text);
	}
	return date.text;
}

static bool read_file(struct file *f, const char *path)
{
	FILE *in = fopen(path, "r");
	struct stat st;
	bool good;

	if (in == NULL)
		return false;
	good = fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode);
	f->size = good ? (size_t)st.st_size : 0;
	f->body = malloc(f->size + 1);
	good = good && f->body != NULL && fread(f->body, 1, f->size, in) == f->size;
	fclose(in);
	write_date(st.st_mtime, f->modified);
	return good;
}

static void read_files(const char *root)
{
	DIR *dir = opendir(root);
	struct dirent *entry;
	char path[600];

	while (dir != NULL && (entry = readdir(dir)) != NULL && file_count < FILES) {
		struct file *f = &files[file_count];

		snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
		snprintf(f->path, sizeof f->path, "/%.250s", entry->d_name);
		file_count += read_file(f, path);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Requests */

static int on_url(http_parser *p, const char *at, size_t size)
{
	struct conn *c = p->data;

	for (int i = 0; i < file_count; i++)
		if (strlen(files[i].path) == size && memcmp(files[i].path, at, size) == 0)
			c->asked = &files[i];
	return 0;
}

static int on_complete(http_parser *p)
{
	struct conn *c = p->data;

	c->whole = true;
	c->keep = http_should_keep_alive(p);
	http_parser_pause(p, 1); /* one at a time */
	return 0;
}

static const http_parser_settings parsing = { .on_url = on_url,
					      .on_message_complete = on_complete };

/* Replies */

static void closed(uv_handle_t *handle)
{
	free(handle);
}

static void end(struct conn *c)
{
	uv_close((uv_handle_t *)&c->tcp, closed);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void give_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	struct conn *c = (struct conn *)handle;

	(void)size;
	*buf = uv_buf_init(c->in, sizeof c->in);
}

static void replied(struct conn *c)
{
	c->whole = false;
	c->asked = NULL;
	if (!c->keep)
		end(c);
}

static void written(uv_write_t *write, int status)
{
	struct conn *c = (struct conn *)write->handle;

	if (status < 0) {
		end(c);
		return;
	}
	if (c->keep)
		uv_read_start((uv_stream_t *)&c->tcp, give_buffer, on_read);
	replied(c);
}

static size_t write_head(struct conn *c)
{
	return (size_t)snprintf(c->head, sizeof c->head,
				"HTTP/1.1 %s\r\nServer: uv\r\nDate: %s\r\n"
				"Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n"
				"Last-Modified: %s\r\n%s\r\n",
				c->asked != NULL ? "200 OK" : "404 Not Found",
				current_date(c->tcp.loop), c->asked != NULL ? c->asked->size : 0,
				c->asked != NULL ? c->asked->modified : date.text,
				c->keep ? "" : "Connection: close\r\n");
}

static void reply(struct conn *c)
{
	uv_buf_t out[2] = { uv_buf_init(c->head, (unsigned)write_head(c)) };
	int n, count = c->asked != NULL ? 2 : 1;
	size_t done;

	if (c->asked != NULL)
		out[1] = uv_buf_init(c->asked->body, (unsigned)c->asked->size);
	n = uv_try_write((uv_stream_t *)&c->tcp, out, (unsigned)count);
	done = n > 0 ? (size_t)n : 0;
	for (int i = 0; i < count; i++) {
		size_t part = done < out[i].len ? done : out[i].len;

		out[i].base += part;
		out[i].len -= part;
		done -= part;
	}
	if (out[0].len == 0 && (count == 1 || out[1].len == 0)) {
		replied(c);
		return;
	}
	uv_read_stop((uv_stream_t *)&c->tcp);
	uv_write(&c->write, (uv_stream_t *)&c->tcp, out, (unsigned)count, written);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct conn *c = (struct conn *)stream;

	if (n == 0)
		return;
	if (n < 0) {
		end(c);
		return;
	}
	http_parser_execute(&c->parser, &parsing, buf->base, (size_t)n);
	if (c->whole) {
		http_parser_pause(&c->parser, 0);
		reply(c);
	} else if (HTTP_PARSER_ERRNO(&c->parser) != HPE_OK) {
		end(c);
	}
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct conn *c = status < 0 ? NULL : malloc(sizeof *c);

	if (c == NULL)
		return;
	uv_tcp_init(listener->loop, &c->tcp);
	if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0) {
		end(c);
		return;
	}
	uv_tcp_nodelay(&c->tcp, 1);
	http_parser_init(&c->parser, HTTP_REQUEST);
	c->parser.data = c;
	c->asked = NULL;
	c->whole = false;
	uv_read_start((uv_stream_t *)&c->tcp, give_buffer, on_read);
}

static int listen_at(const char *address)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	const char *colon = strrchr(address, ':');
	char host[64];
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || colon == NULL)
		return -1;
	snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
	inet_pton(AF_INET, host, &a.sin_addr);
	a.sin_port = htons((uint16_t)atoi(colon + 1));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
	return bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -1 : fd;
}

static void *serve(void *arg)
{
	const int *fd = arg;
	uv_tcp_t listener;
	uv_loop_t loop;

	if (uv_loop_init(&loop) < 0 || uv_tcp_init(&loop, &listener) < 0 ||
	    uv_tcp_open(&listener, *fd) < 0 ||
	    uv_listen((uv_stream_t *)&listener, 4096, on_connection) < 0)
		exit(1);
	uv_run(&loop, UV_RUN_DEFAULT);
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int listeners[64];
	pthread_t thread;

	if (argc != 3)
		return 2;
	read_files(argv[1]);
	cpus = cpus > 64 ? 64 : cpus;
	for (long i = 0; i < cpus; i++) {
		listeners[i] = listen_at(argv[2]);
		if (listeners[i] < 0) {
			perror(argv[2]);
			return 1;
		}
	}
	for (long i = 1; i < cpus; i++)
		pthread_create(&thread, NULL, serve, &listeners[i]);
	serve(&listeners[0]);
	return 0;
}
