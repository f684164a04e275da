/* program.c - starts servers, hears what they say, looks at what they have, and ends them. */
#include "program.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"

static void limit_descriptors(int most)
{
	if (most > 0)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)most, (rlim_t)most });
}

void program_start(struct program *p, const char *path, const char *const words[])
{
	const char *argv[64] = { path };
	int ends[2];

	CHECK(path != NULL);
	for (int n = 1; n < 63 && words[n - 1] != NULL; n++)
		argv[n] = words[n - 1];
	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	p->pid = fork();
	CHECK(p->pid >= 0);
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		limit_descriptors(p->descriptors);
		dup2(ends[1], STDOUT_FILENO);
		execv(path, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(ends[1]);
	p->out = ends[0];
}

const char *program_line(struct program *p)
{
	static char line[256];
	size_t size = 0;

	while (size < sizeof line - 1 && read(p->out, line + size, 1) == 1 && line[size] != '\n')
		size++;
	line[size] = '\0';
	return line;
}

int program_end(struct program *p, int signal)
{
	int status;

	CHECK_EQ(kill(p->pid, signal), 0);
	CHECK_EQ(waitpid(p->pid, &status, 0), p->pid);
	close(p->out);
	return status;
}

int program_descriptors(const struct program *p)
{
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
	dir = opendir(path);
	CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

size_t program_unsent(int port)
{
	FILE *in = fopen("/proc/net/tcp", "r");
	enum { LISTENING = 10 }; /* then the number means something else */
	unsigned local, state;
	size_t unsent, sum = 0;
	char line[256];

	CHECK(in != NULL);
	while (fgets(line, sizeof line, in) != NULL)
		if (sscanf(line, " %*d: %*x:%x %*x:%*x %x %zx:", &local, &state, &unsent) == 3 &&
		    local == (unsigned)port && state != LISTENING)
			sum += unsent;
	fclose(in);
	return sum;
}
