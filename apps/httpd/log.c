/* log.c - lines go through a channel to one thread, which writes many at a time. */
#include "log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>

#include <weft/weft.h>

#include "log_file.h"
#include "settings.h"

/* The thread writes this often. Woken by every line it would cost each request a switch. */
#define LOG_PAUSE (20 * WEFT_MS)
enum { LINES = 8192, TARGET_KEPT = 120, VERB_KEPT = 8, BLOCK = 65536 };

struct line {
	time_t when;
	uint64_t bytes, us;
	struct in6_addr address;
	bool ipv6;
	uint8_t version, verb_size, target_size; /* version: 0 and 1 of HTTP/1, or 2 */
	uint16_t status;
	char verb[VERB_KEPT], target[TARGET_KEPT];
};

WEFT_CHANNEL(lines, struct line);

static struct {
	lines *channel;
	_Atomic bool reopen;
	time_t second; /* of the date below */
	char date[32];
} access_log;

static void set_address(struct line *line, const struct sockaddr_storage *peer)
{
	if (peer->ss_family == AF_INET6) {
		line->ipv6 = true;
		line->address = ((const struct sockaddr_in6 *)peer)->sin6_addr;
	} else {
		memcpy(&line->address, &((const struct sockaddr_in *)peer)->sin_addr, 4);
	}
}

void log_add(const struct log_line *from)
{
	const struct request *r = from->request;
	struct line line;

	if (access_log.channel == NULL)
		return;
	line.when = time(NULL);
	line.bytes = from->bytes;
	line.us = from->ns / 1000;
	line.ipv6 = false;
	set_address(&line, from->peer);
	line.version = from->h2 ? 2 : (uint8_t)r->minor;
	line.status = (uint16_t)from->status;
	line.verb_size = (uint8_t)(r->verb.size < VERB_KEPT ? r->verb.size : VERB_KEPT);
	line.target_size = (uint8_t)(r->target.size < TARGET_KEPT ? r->target.size : TARGET_KEPT);
	memcpy(line.verb, r->verb.size ? r->verb.at : "", line.verb_size);
	memcpy(line.target, r->target.size ? r->target.at : "", line.target_size);
	if (lines_try_send(access_log.channel, line) < 0)
		log_file_lose(1, "it cannot keep up");
}

static const char *date_of(time_t when)
{
	struct tm t;

	if (when != access_log.second) {
		access_log.second = when;
		gmtime_r(&when, &t);
		strftime(access_log.date, sizeof access_log.date, "%d/%b/%Y:%H:%M:%S +0000", &t);
	}
	return access_log.date;
}

/* What came from the net must not look like another line, or like a quote's end. */
static int write_safely(char *out, const char *text, size_t size)
{
	int n = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c > ' ' && c < 0x7f && c != '"' && c != '\\')
			out[n++] = (char)c;
		else
			n += snprintf(out + n, 5, "\\x%02x", c);
	}
	return n;
}

/* The common log format, and how long it took in microseconds. */
static size_t write_line(char *out, const struct line *line)
{
	static const char *const versions[] = { "HTTP/1.0", "HTTP/1.1", "HTTP/2.0" };
	char address[INET6_ADDRSTRLEN] = "-";
	int n;

	inet_ntop(line->ipv6 ? AF_INET6 : AF_INET, &line->address, address, sizeof address);
	n = snprintf(out, LOG_LINE_MOST, "%s - - [%s] \"", address, date_of(line->when));
	n += write_safely(out + n, line->verb, line->verb_size);
	out[n++] = ' ';
	n += write_safely(out + n, line->target, line->target_size);
	n += snprintf(out + n, 80, " %s\" %u %" PRIu64 " %" PRIu64 "\n", versions[line->version],
		      line->status, line->bytes, line->us);
	return (size_t)n;
}

static int write_lines(void *unused)
{
	static char block[BLOCK + LOG_LINE_MOST];
	struct line line;
	size_t size;

	(void)unused;
	while (lines_receive(access_log.channel, &line) == 0) {
		size = 0;
		do {
			size += write_line(block + size, &line);
		} while (size < BLOCK && lines_try_receive(access_log.channel, &line) == 0);
		if (atomic_exchange(&access_log.reopen, false))
			log_file_open_again();
		log_file_write(block, size);
		if (size < BLOCK)
			weft_sleep(LOG_PAUSE);
	}
	log_file_close();
	return 0;
}

int log_start(void)
{
	int rc = settings.access_log != NULL ? log_file_open() : 0;

	if (rc < 0 || settings.access_log == NULL)
		return rc;
	access_log.channel = lines_new(LINES);
	if (access_log.channel == NULL)
		return -ENOMEM;
	return weft_go_on(weft_color_new(), write_lines, NULL);
}

void log_reopen(void)
{
	atomic_store(&access_log.reopen, true);
}

void log_stop(void)
{
	if (access_log.channel != NULL)
		lines_close(access_log.channel);
}

void log_free(void)
{
	lines_free(access_log.channel);
}
