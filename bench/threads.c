/* threads.c - what the thread benchmarks have in common. */
#include "threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Programs beside weft-bench */

void peers_path(const char *file, char *path, size_t size)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	snprintf(path, size, "%s/peers/%s", self, file);
}

static void program_path(const char *name, char *path, size_t size)
{
	char file[64];

	snprintf(file, sizeof file, "weft-bench-%s", name);
	peers_path(file, path, size);
}

bool program_built(const char *name)
{
	char path[600];

	program_path(name, path, sizeof path);
	return access(path, X_OK) == 0;
}

static int read_numbers(FILE *f, double *values)
{
	char line[256], *at = line, *end;
	int n = 0;

	if (fgets(line, sizeof line, f) == NULL)
		return bench_fail("it printed nothing");
	while (n < BENCH_METRICS) {
		double value = strtod(at, &end);

		if (end == at)
			break;
		at = end;
		values[n++] = value;
	}
	line[strcspn(line, "\n")] = '\0';
	return n > 0 ? 0 : bench_fail("it printed '%s'", line);
}

void program_exec(const char *name, const char *const *words)
{
	char path[600];
	const char *args[16] = { path };

	program_path(name, path, sizeof path);
	for (int i = 0; words[i] != NULL && i + 2 < BENCH_COUNT(args); i++)
		args[i + 1] = words[i];
	execv(path, (char *const *)args);
	_exit(127);
}

/* A pipe from a child that was started by hand: popen would leave it in the shell's
 * care, and its CPU time would count as somebody else's. */
int program_run(const char *name, double *values, const char *const *words)
{
	int ends[2], status = 0, err;
	FILE *out;
	pid_t pid;

	if (pipe(ends) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		program_exec(name, words);
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	err = out != NULL ? read_numbers(out, values) : -ENOMEM;
	waitpid(pid, &status, 0);
	if (status != 0)
		return bench_fail("weft-bench-%s ended with status %x", name, (unsigned)status);
	return err;
}

int program_work(const char *name, double *values, const char *what, const struct thread_work *work)
{
	char threads[16], rounds[24], cores[16], depth[16];
	const char *const words[] = { what, threads, rounds, cores, depth, NULL };

	snprintf(threads, sizeof threads, "%d", work->threads);
	snprintf(rounds, sizeof rounds, "%ld", work->rounds);
	snprintf(cores, sizeof cores, "%d", work->cores);
	snprintf(depth, sizeof depth, "%d", work->depth);
	return program_run(name, values, words);
}

/* Rows */

struct bench_row *thread_peer_add(const char *label, const struct thread_peer *peer,
				  bench_measure *fn, const void *arg)
{
	bool built = peer->program == NULL || program_built(peer->program);

	if (peer->missing != NULL && (fn == NULL || !built)) {
		bench_add_missing(label, peer->name, peer->missing);
		return NULL;
	}
	return bench_add(label, peer->name, fn, arg);
}

void thread_case_add(const struct thread_case *c, size_t what, struct bench_row *rows[THREAD_PEERS])
{
	for (int i = 0; i < THREAD_PEERS && c->peers[i] != NULL; i++) {
		bench_measure *fn;

		memcpy(&fn, (const char *)c->peers[i] + what, sizeof fn);
		rows[i] = thread_peer_add(c->label, c->peers[i], fn, &c->work);
	}
}

void thread_case_derive(const struct thread_case *c, struct bench_row *rows[THREAD_PEERS],
			int metric, enum bench_better better, const char *aim)
{
	int best = 1 + bench_pick(rows + 1, THREAD_PEERS - 1, metric, better);
	const struct bench_row *ours = rows[0], *theirs = rows[best];
	bool lower = better == BENCH_LOWER;
	char text[96];

	if (c->peers[best] == NULL)
		return;
	snprintf(text, sizeof text, "%s: weft better than the best peer, %s", c->label,
		 c->peers[best]->name);
	bench_ratio(text, lower ? theirs : ours, lower ? ours : theirs, metric, BENCH_HIGHER, aim);
}

/* The machine */

double threads_clock(const struct thread_work *work)
{
	return work->cores == 1 ? bench_cpu_ns(getpid()) : (double)bench_now();
}

double threads_memory(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	double sum = 0, kb;
	char line[128];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "VmRSS: %lf", &kb) == 1 || sscanf(line, "VmPTE: %lf", &kb) == 1)
			sum += kb * 1024;
	if (f != NULL)
		fclose(f);
	return sum;
}
