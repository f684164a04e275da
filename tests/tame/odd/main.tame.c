/* main.tame.c - runs what ODD() registered, each program in a process of its own. Prints a line
 * `ok FILE: NAME` for each that gives what is expected. */
#include "odd.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/tame.h>

struct request {
	event() none;
	event(int) e;
	const void *data;
	int value; /* or how many there are */
};

static struct request *request(event(int) e, const void *data, int value)
{
	struct request *q = malloc(sizeof *q);

	*q = (struct request){ .e = e, .data = data, .value = value };
	return q;
}

static void answer(weft_fn *fn, struct request *q)
{
	if (weft_post(weft_color_current(), fn, q) < 0)
		abort();
}

static void give_none(void *arg)
{
	event() e = ((struct request *)arg)->none;

	free(arg);
	trigger(e);
}

static void give(struct request *q, int value)
{
	event(int) e = q->e;

	free(q);
	trigger(e, value);
}

static void give_value(void *arg)
{
	give(arg, ((struct request *)arg)->value);
}

static void give_sum(void *arg)
{
	const struct request *q = arg;
	int sum = 0;

	for (int i = 0; i < q->value; i++)
		sum += ((const int *)q->data)[i];
	give(arg, sum);
}

static void give_pair(void *arg)
{
	const struct odd_pair *p = ((struct request *)arg)->data;

	give(arg, 10 * p->a + p->b);
}

static void give_length(void *arg)
{
	give(arg, (int)strlen(((struct request *)arg)->data));
}

void soon(event() e)
{
	struct request *q = request(NULL, NULL, 0);

	q->none = e;
	answer(give_none, q);
}

void later(int value, event(int) e)
{
	answer(give_value, request(e, NULL, value));
}

void sum_later(const int *x, int count, event(int) e)
{
	answer(give_sum, request(e, x, count));
}

void pair_later(const struct odd_pair *p, event(int) e)
{
	answer(give_pair, request(e, p, 0));
}

void length_later(const char *text, event(int) e)
{
	answer(give_length, request(e, text, 0));
}

extern const struct odd_program __start_odd_programs[], __stop_odd_programs[];

static threaded int run(void *program)
{
	const struct odd_program *p = program;
	int got = -1;

	twait {
		p->function(mkevent(got));
	}
	printf("%s%s: %s", got == p->expected ? "ok " : "", p->file, p->name);
	if (got != p->expected)
		printf(" gives %d, not %d", got, p->expected);
	putchar('\n');
	return 0;
}

static void run_apart(const struct odd_program *p)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		alarm(60);
		exit(weft_run(run, (void *)p, NULL) != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
		printf("%s: %s: its process fails\n", p->file, p->name);
	fflush(stdout);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct odd_program *p = __start_odd_programs; p < __stop_odd_programs; p++)
		run_apart(p);
	return 0;
}
