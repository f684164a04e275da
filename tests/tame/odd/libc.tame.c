/* Macros of the C library, across waits. */
#include "odd.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/tame.h>

static tamed error_numbers(event(int) done)
{
	int got, saved;

	errno = ENOENT;
	saved = errno;
	twait {
		later(saved == ENOENT, mkevent(got));
	}
	errno = 0;
	if (close(-1) < 0)
		got += errno == EBADF;
	trigger(done, got + (saved == ENOENT) * 10);
}
ODD(error_numbers, 12)

static tamed descriptor_sets(event(int) done)
{
	fd_set set, *p = &set;
	int fd = 3, n = 0;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	twait {
		later(70, mkevent(fd));
	}
	FD_SET(fd, p);
	for (int i = 0; i < FD_SETSIZE; i++)
		if (FD_ISSET(i, &set))
			n++;
	FD_CLR(3, &set);
	trigger(done, n * 10 + !FD_ISSET(3, &set) + !!FD_ISSET(fd, p));
}
ODD(descriptor_sets, 22)

static tamed characters(event(int) done)
{
	char text[] = "Ab3 _", *p = text;
	int n = 0;

	for (; *p; p++) {
		twait {
			soon(mkevent());
		}
		n += isalpha(*p) != 0;
		n += (isdigit((unsigned char)*p) != 0) * 10;
		n += (isspace(p[0]) != 0) * 100;
		*p = (char)toupper(*p);
	}
	trigger(done, n + (strcmp(text, "AB3 _") == 0) * 1000 + tolower(text[1]) - 'b');
}
ODD(characters, 1112)

static tamed byte_order(event(int) done)
{
	uint16_t port = 0x1234;
	uint32_t address = htonl(INADDR_LOOPBACK);
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr = { htonl(INADDR_ANY) } };
	int got;

	twait {
		later(ntohs(a.sin_port), mkevent(got));
	}
	trigger(done, (got == 0x1234) + (ntohl(address) == 0x7f000001) * 10 +
			      (be16toh(a.sin_port) == port) * 100 +
			      (htole32(address) == address) * 1000 + (int)a.sin_addr.s_addr +
			      IN6_IS_ADDR_LOOPBACK(&in6addr_loopback) * 10000);
}
ODD(byte_order, 11111)

static tamed statuses(event(int) done)
{
	int status, pid;

	pid = fork();
	if (pid == 0)
		_exit(7);
	twait {
		weft_child_ev(pid, mkevent(pid, status));
	}
	trigger(done, (WIFEXITED(status) ? WEXITSTATUS(status) : -1) + WIFSIGNALED(status) * 100 +
			      (pid == 0) * 10);
}
ODD(statuses, 17)

static tamed formats(event(int) done)
{
	char out[100];
	uint64_t n = 5;
	size_t size = 6;
	intmax_t m = INTMAX_C(7);
	int length;

	twait {
		later(snprintf(out, sizeof out, "%" PRIu64 " %zu %" PRIdMAX "%s", n, size, m, ""),
		      mkevent(length));
	}
	trigger(done, length * 10 + (strcmp(out, "5 6 7") == 0) + (INT_MAX > 0) * 100 +
			      (UINT64_C(1) << 3 == 8) * 1000 + (int)SIZE_MAX * -10000);
}
ODD(formats, 51 + 100 + 1000 + 10000)

static tamed offsets(event(int) done)
{
	struct odd_pair pairs[3];
	int b = 2;

	twait {
		later((int)offsetof(struct odd_pair, b), mkevent(pairs[b].b));
	}
	trigger(done, pairs[2].b + (int)(offsetof(struct odd_pair, b) * 10) + (NULL == (void *)0) * 100);
}
ODD(offsets, 144)

static tamed booleans(bool parameter, event(int) done)
{
	bool yes = true, no = false, from_int = 5;
	int got;

	twait {
		later(yes && !no, mkevent(got));
	}
	trigger(done, got + from_int * 10 + parameter * 100 + (int)sizeof yes * 1000 +
			      _Generic(no, bool: 1, default: 0) * 10000);
}

static tamed are_boolean(event(int) done)
{
	booleans(true, done);
}
ODD(are_boolean, 11111)

static tamed numbers(event(int) done)
{
	double d = NAN, e = INFINITY, x = 2.0;
	int got = 0;

	twait {
		later(isnan(d) != 0, mkevent(got));
	}
	trigger(done, got + (isinf(e) != 0) * 10 + (fpclassify(x) == FP_NORMAL) * 100 +
			      (isgreater(x, 1.0) != 0) * 1000 + (signbit(-x) != 0) * 10000 +
			      (int)(M_PI * x) * 100000);
}
ODD(numbers, 611111)

static tamed files(event(int) done)
{
	struct stat st;
	mode_t mode;
	int got = stat("/", &st);

	mode = st.st_mode;
	twait {
		later(S_ISDIR(mode), mkevent(got));
	}
	trigger(done, !!got + S_ISREG(st.st_mode) * 10 + (O_RDONLY == 0) * 100 +
			      (stderr != NULL) * 1000 + (st.st_mtime > 0) * 10000);
}
ODD(files, 11101)

static tamed times(event(int) done)
{
	struct timeval a = { 1, 900000 }, b = { 2, 200000 }, c;
	struct sigaction act = { .sa_handler = SIG_IGN };
	sigset_t set;

	twait {
		soon(mkevent());
	}
	timeradd(&a, &b, &c);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	trigger(done, (int)c.tv_sec + (int)c.tv_usec + timercmp(&a, &b, <) * 10 +
			      (act.sa_handler == SIG_IGN) * 100 + sigismember(&set, SIGUSR1) * 1000 +
			      timerisset(&c) * 10000);
}
ODD(times, 4 + 100000 + 10 + 100 + 1000 + 10000)

static tamed strings(event(int) done)
{
	char list[] = "a,b,c", *rest = list, *item;
	int n = 0;

	while ((item = strsep(&rest, ",")) != NULL) {
		twait {
			soon(mkevent());
		}
		n = n * 10 + *item - 'a' + 1;
	}
	trigger(done, n);
}
ODD(strings, 123)
