/* run.c - runs the compiler: as a preprocessor, and to ask what it compiles for. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

struct command {
	char **words;
	size_t count;
};

static void add(struct command *c, const char *word)
{
	*ADD(c->words, c->count) = (char *)(uintptr_t)word;
}

/* CC may hold more than a name: "ccache gcc". */
static struct command compiler(void)
{
	const char *cc = options.compiler != NULL ? options.compiler : getenv("CC");
	struct command c = { 0 };
	char *rest, *word;

	cc = cc == NULL || cc[0] == '\0' ? "cc" : cc;
	for (word = strtok_r(tame_copy(cc, strlen(cc)), " \t", &rest); word != NULL;
	     word = strtok_r(NULL, " \t", &rest))
		add(&c, word);
	return c;
}

/* An unnamed file that holds a text. */
static int file_of(const struct text *t)
{
	int fd = memfd_create("weft-tame", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < t->size) {
		ssize_t n = write(fd, t->at + done, t->size - done);

		if (n < 0 && errno != EINTR)
			tame_fail("temporary memory: %s", strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
		tame_fail("temporary memory: %s", strerror(errno));
	return fd;
}

static _Noreturn void become(const struct command *c, int in, int out, int err)
{
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execvp(c->words[0], c->words);
	_exit(127);
}

static char *read_all(int fd, size_t *size)
{
	FILE *file = fdopen(fd, "r");
	char *text = file == NULL ? NULL : tame_read_stream(file, size);

	if (text == NULL)
		tame_fail("%s: %s", compiler().words[0], strerror(errno));
	fclose(file);
	return text;
}

/* A process: what it gets on its standard input, and what it says. */
struct process {
	pid_t pid;
	int out;
	int err; /* a file */
};

static struct process start(struct command c, const struct text *input)
{
	struct process p;
	struct text nothing = { 0 };
	int pipe_[2], in = file_of(input);

	add(&c, NULL);
	p.err = file_of(&nothing);
	if (pipe2(pipe_, O_CLOEXEC) < 0)
		tame_fail("pipe: %s", strerror(errno));
	fflush(stdout);
	p.pid = fork();
	if (p.pid < 0)
		tame_fail("fork: %s", strerror(errno));
	if (p.pid == 0)
		become(&c, in, pipe_[1], p.err);
	close(in);
	close(pipe_[1]);
	p.out = pipe_[0];
	return p;
}

static char *finish(struct process p, size_t *size, char **errors, int *status)
{
	char *text = read_all(p.out, size);
	size_t error_size;

	while (waitpid(p.pid, status, 0) < 0 && errno == EINTR)
		;
	lseek(p.err, 0, SEEK_SET);
	*errors = read_all(p.err, &error_size);
	return text;
}

/* Marks are no news for people. */
static void say_errors(const char *text)
{
	const char *mark;

	while ((mark = strstr(text, " " TAME_MARK)) != NULL) {
		fwrite(text, 1, (size_t)(mark - text), stderr);
		text = mark + strlen(" " TAME_MARK);
		text += strspn(text, "0123456789");
		text += *text == ' ';
	}
	fputs(text, stderr);
}

/* These tell of the machine that is compiled for, in the words of clang. */
static struct process ask_machine(void)
{
	struct command c = compiler();
	struct text nothing = { 0 };

	for (size_t i = 0; i < options.flag_count; i++)
		if (strncmp(options.flags[i], "--target", 8) == 0 ||
		    strncmp(options.flags[i], "-m", 2) == 0)
			add(&c, options.flags[i]);
	add(&c, "-dumpmachine");
	return start(c, &nothing);
}

static const char *machine;

const char *tame_machine(void)
{
	return machine;
}

static struct command preprocessor(void)
{
	struct command c = compiler();
	const char *slash = strrchr(options.in, '/');

	/* -g3 and others would add to what -dD says */
	const char *const always[] = {
		"-E",
		"-dD",
		"-w",
		"-g0",
		"-fno-diagnostics-color",
		"-DWEFT_TAME_READING",
		"-U__BASE_FILE__",
		tame_format("-D__BASE_FILE__=\"%s\"", options.in),
		"-x",
		"c",
		"-",
	};

	/* what the file includes by a macro, or asks for, is beside it */
	if (slash != NULL)
		add(&c, tame_format("-iquote%.*s", (int)(slash + 1 - options.in), options.in));
	for (size_t i = 0; i < options.flag_count; i++)
		add(&c, options.flags[i]);
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		add(&c, always[i]);
	return c;
}

char *tame_preprocess(const struct text *feed, size_t *size)
{
	struct process asked = { 0 }, p;
	char *text, *errors, *answer;
	int status, answered;
	size_t answer_size;

	if (machine == NULL)
		asked = ask_machine();
	p = start(preprocessor(), feed);
	text = finish(p, size, &errors, &status);
	if (machine == NULL) {
		char *ignored;

		answer = finish(asked, &answer_size, &ignored, &answered);
		machine = tame_copy(answer, strcspn(answer, "\n"));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		tame_fail("%s: cannot be run; name another compiler by --cc=NAME",
			  compiler().words[0]);
	if (status == 0)
		return text;
	say_errors(errors);
	if (errors[0] == '\0')
		fprintf(stderr, "weft-tame: %s: it fails as a preprocessor, without a message\n",
			compiler().words[0]);
	tame_remove_output();
	exit(1);
}
