/* hosts.c - names that need no server: numeric addresses, the hosts file, and
 * localhost (RFC 6761).
 *
 * c-ares 1.18 can read another hosts file only by an environment variable, so
 * the file is read here. It is small, and read when it changed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/dns.h"

#define SPACE " \t\r\v\f"

/* A growing array of addresses. */
struct found {
	struct sockaddr_storage *addrs;
	int count, room;
};

static int add(struct found *f, const struct sockaddr_storage *addr)
{
	if (f->count == f->room) {
		int room = f->room > 0 ? 2 * f->room : 2;
		struct sockaddr_storage *more = wf_new_array((size_t)room, sizeof *more);

		if (more == NULL)
			return -ENOMEM;
		if (f->count > 0)
			memcpy(more, f->addrs, (size_t)f->count * sizeof *more);
		free(f->addrs);
		f->addrs = more;
		f->room = room;
	}
	f->addrs[f->count++] = *addr;
	return 0;
}

/* "fe80::1%eth0": the zone is the name or number of an interface. */
static bool parse_v6(const char *text, struct sockaddr_in6 *in6)
{
	const char *zone = strchr(text, '%');
	char bare[INET6_ADDRSTRLEN];
	size_t len = zone != NULL ? (size_t)(zone - text) : strlen(text);

	if (len >= sizeof bare)
		return false;
	memcpy(bare, text, len);
	bare[len] = '\0';
	in6->sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, bare, &in6->sin6_addr) != 1)
		return false;
	if (zone != NULL) {
		in6->sin6_scope_id = if_nametoindex(zone + 1);
		if (in6->sin6_scope_id == 0)
			in6->sin6_scope_id = (uint32_t)strtoul(zone + 1, NULL, 10);
	}
	return zone == NULL || in6->sin6_scope_id != 0;
}

static bool parse_address(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof *addr);
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		return true;
	}
	return parse_v6(text, (struct sockaddr_in6 *)addr);
}

static bool wanted(const struct sockaddr_storage *addr, int family)
{
	return family == AF_UNSPEC || family == addr->ss_family;
}

/* The length of a name without the dot that makes it absolute. */
static size_t name_length(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && name[len - 1] == '.' ? len - 1 : len;
}

static bool same_name(const char *a, size_t len_a, const char *b, size_t len_b)
{
	return len_a == len_b && strncasecmp(a, b, len_a) == 0;
}

/* One line: an address and its names. A line that makes no sense is skipped. */
static int find_in_line(const char *line, size_t len, const char *name, int family, struct found *f)
{
	const char *hash = memchr(line, '#', len);
	const char *end = hash != NULL ? hash : line + len, *p = line;
	char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	struct sockaddr_storage addr;
	bool first = true, match = false;

	while (p < end) {
		size_t skip = strspn(p, SPACE), word;

		p += skip < (size_t)(end - p) ? skip : (size_t)(end - p);
		word = strcspn(p, SPACE "#\n");
		word = word < (size_t)(end - p) ? word : (size_t)(end - p);
		if (word == 0)
			break;
		if (first) {
			if (word >= sizeof text)
				return 0;
			memcpy(text, p, word);
			text[word] = '\0';
		} else {
			match |= same_name(p, word, name, name_length(name));
		}
		first = false;
		p += word;
	}
	if (!match || !parse_address(text, &addr) || !wanted(&addr, family))
		return 0;
	return add(f, &addr);
}

static int find_in_text(const char *text, const char *name, int family, struct found *f)
{
	int r = 0;

	while (r == 0 && *text != '\0') {
		size_t len = strcspn(text, "\n");

		r = find_in_line(text, len, name, family, f);
		text += len + (text[len] == '\n');
	}
	return r;
}

static int find_localhost(const char *name, int family, struct found *f)
{
	static const char local[] = "localhost", *const loopback[] = { "127.0.0.1", "::1" };
	size_t len = name_length(name), tail = sizeof local - 1;
	struct sockaddr_storage addr;
	int r = 0;

	if (len < tail || !same_name(name + len - tail, tail, local, tail) ||
	    (len > tail && name[len - tail - 1] != '.'))
		return 0;
	for (size_t i = 0; i < WF_COUNT(loopback) && r == 0; i++) {
		if (parse_address(loopback[i], &addr) && wanted(&addr, family))
			r = add(f, &addr);
	}
	return r;
}

/* *whole tells whether all of it could be read. */
static char *read_text(int fd, size_t size, bool *whole)
{
	char *text = wf_new_array(1, size + 1);
	size_t done = 0;
	ssize_t n = 1;

	while (text != NULL && done < size && n > 0) {
		n = read(fd, text + done, size - done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	*whole = n >= 0;
	return text;
}

/* Reads the file if it is not the one in memory. No file is an empty one. */
static int refresh(struct wf_hosts *h)
{
	struct stat st;
	bool whole;
	int fd;

	if (stat(h->path, &st) == 0 && h->text != NULL && st.st_dev == h->dev &&
	    st.st_ino == h->ino && st.st_size == h->size &&
	    st.st_mtim.tv_sec == h->changed.tv_sec && st.st_mtim.tv_nsec == h->changed.tv_nsec)
		return 0;
	free(h->text);
	h->text = NULL;
	fd = open(h->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	h->text = read_text(fd, (size_t)st.st_size, &whole);
	close(fd);
	h->dev = st.st_dev;
	h->ino = st.st_ino;
	h->size = whole ? st.st_size : -1; /* then it is read again the next time */
	h->changed = st.st_mtim;
	return h->text != NULL ? 0 : -ENOMEM;
}

static int find(struct wf_hosts *h, const char *name, int family, struct found *f)
{
	struct sockaddr_storage addr;
	int r;

	if (parse_address(name, &addr))
		return wanted(&addr, family) ? add(f, &addr) : -ENOENT;
	r = refresh(h);
	if (r == 0 && h->text != NULL)
		r = find_in_text(h->text, name, family, f);
	if (r == 0 && f->count == 0)
		r = find_localhost(name, family, f);
	return r;
}

int wf_hosts_find(struct wf_hosts *h, const char *name, int family, struct sockaddr_storage **addrs)
{
	struct found f = { NULL, 0, 0 };
	int r = find(h, name, family, &f);

	if (r < 0) {
		free(f.addrs);
		return r;
	}
	*addrs = f.addrs;
	return f.count;
}

void wf_hosts_init(struct wf_hosts *h, char *path)
{
	*h = (struct wf_hosts){ .path = path };
}

void wf_hosts_fini(struct wf_hosts *h)
{
	free(h->path);
	free(h->text);
	*h = (struct wf_hosts){ .path = NULL };
}
