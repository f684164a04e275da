/* client.c - starts weft-httpd and talks to it by plain sockets. */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

char answer[8 << 20], site[64];
size_t answer_size;
struct program server;
int server_port, server_tls_port;

/* Files */

static void remove_site(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", site);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", site);
}

void site_write(const char *name, const void *data, size_t size)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof path, "%s/%s", site, name);
	out = fopen(path, "w");
	CHECK(out != NULL);
	CHECK_EQ(fwrite(data, 1, size, out), size);
	CHECK_EQ(fclose(out), 0);
}

char site_byte(size_t offset)
{
	return (char)(offset * 131 + offset / 4096);
}

void site_make(void)
{
	char *large = malloc(FILES_LARGE), path[128];

	strcpy(site, "/tmp/weft-httpd-XXXXXX");
	CHECK(mkdtemp(site) != NULL);
	atexit(remove_site);
	site_write("index.html", "<p>home</p>\n", 12);
	site_write("a.txt", "abcdefghijklmnopqrstuvwxyz", 26);
	site_write(".hidden", "secret\n", 7);
	for (size_t i = 0; i < FILES_LARGE; i++)
		large[i] = site_byte(i);
	site_write("large.bin", large, FILES_LARGE);
	free(large);
	snprintf(path, sizeof path, "%s/dir", site);
	CHECK_EQ(mkdir(path, 0755), 0);
	site_write("dir/index.html", "<p>dir</p>\n", 11);
	site_write("dir/b c.txt", "b c", 3);
	snprintf(path, sizeof path, "%s/out", site);
	CHECK_EQ(symlink("/etc", path), 0);
	snprintf(path, sizeof path, "%s/up", site);
	CHECK_EQ(symlink("../", path), 0);
	snprintf(path, sizeof path, "%s/within", site);
	CHECK_EQ(symlink("a.txt", path), 0);
	snprintf(path, sizeof path, "%s/fifo", site);
	CHECK_EQ(mkfifo(path, 0644), 0);
}

/* The server */

void server_begin(int descriptors, const char *const flags[])
{
	/* The machine may have much else to do: that is no overload, unless a test says so. */
	const char *words[64] = { "--listen", "127.0.0.1:0", "--queue-time", "10000" };
	const char *line;
	int n = 4;

	if (site[0] != '\0') {
		words[n++] = "--root";
		words[n++] = site;
	}
	while (*flags != NULL && n < 63)
		words[n++] = *flags++;
	server = (struct program){ .descriptors = descriptors };
	program_start(&server, getenv("WEFT_HTTPD"), words);
	line = program_line(&server);
	if (sscanf(line, "weft-httpd: https://127.0.0.1:%d/", &server_tls_port) == 1)
		line = program_line(&server);
	CHECK_EQ(sscanf(line, "weft-httpd: http://127.0.0.1:%d/", &server_port), 1);
}

const char *server_end(void)
{
	const char *line;

	CHECK_EQ(kill(server.pid, SIGTERM), 0);
	line = program_line(&server);
	CHECK_EQ(program_end(&server, 0), 0);
	return line;
}

/* Talking */

int dial_port(const char *host, int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET }, from = address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(fd >= 0);
	CHECK_EQ(inet_pton(AF_INET, host, &from.sin_addr), 1);
	CHECK_EQ(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

int dial_from(const char *host)
{
	return dial_port(host, server_port);
}

int dial(void)
{
	return dial_from("127.0.0.1");
}

void say_bytes(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return; /* the server has heard enough */
		CHECK(n > 0);
		at += n;
		size -= (size_t)n;
	}
}

void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

static bool hear_more(int fd, size_t most)
{
	ssize_t n = recv(fd, answer + answer_size, most, 0);

	CHECK(n >= 0 || errno == ECONNRESET);
	if (n <= 0)
		return false;
	answer_size += (size_t)n;
	answer[answer_size] = '\0';
	return true;
}

void hear(int fd, size_t size)
{
	answer_size = 0;
	answer[0] = '\0';
	while ((size == 0 || answer_size < size) &&
	       hear_more(fd, size == 0 ? sizeof answer - 1 - answer_size : size - answer_size))
		;
}

int hear_reply(int fd)
{
	const char *length;
	size_t size, head;
	int status;

	answer_size = 0;
	answer[0] = '\0';
	while (strstr(answer, "\r\n\r\n") == NULL)
		if (!hear_more(fd, 1))
			return 0;
	CHECK_EQ(sscanf(answer, "HTTP/1.1 %d ", &status), 1);
	head = answer_size;
	length = header("Content-Length");
	size = length != NULL ? (size_t)atol(length) : 0;
	while (answer_size < head + size)
		CHECK(hear_more(fd, head + size - answer_size));
	return status;
}

int ask(const char *text)
{
	int fd = dial(), status = 0;

	say(fd, text);
	shutdown(fd, SHUT_WR);
	hear(fd, 0);
	close(fd);
	sscanf(answer, "HTTP/1.1 %d ", &status);
	return status;
}

int get(const char *path, const char *headers)
{
	char text[4096];

	snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n",
		 path, headers);
	return ask(text);
}

int times(const char *word)
{
	int n = 0;

	for (const char *at = answer; (at = strstr(at, word)) != NULL; at++)
		n++;
	return n;
}

const char *body(void)
{
	const char *end = strstr(answer, "\r\n\r\n");

	CHECK(end != NULL);
	return end + 4;
}

const char *header(const char *name)
{
	static char value[512];
	char line[64];
	const char *at;

	snprintf(line, sizeof line, "\r\n%s: ", name);
	at = strstr(answer, line);
	if (at == NULL || at > body())
		return NULL;
	at += strlen(line);
	snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
	return value;
}

long status_number(const char *name)
{
	char word[64];
	const char *at;

	CHECK_EQ(get("/_status?json", ""), 200);
	snprintf(word, sizeof word, "\"%s\": ", name);
	at = strstr(answer, word);
	CHECK(at != NULL);
	return atol(at + strlen(word));
}
