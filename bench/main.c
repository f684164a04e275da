/* main.c - weft-bench: chooses benchmarks by name and runs them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct {
	const char *name;
	int (*run)(void);
	const char *what;
} benches[] = {
	{ "post", bench_post, "what it costs to post an event and to run it" },
	{ "steal", bench_steal, "what it costs to steal a color, by queue length" },
	{ "unbalanced", bench_unbalanced, "Mely's tables III and IV: few long events among short" },
	{ "penalty", bench_penalty, "Mely's table V: events with warm data" },
	{ "cache-efficient", bench_cache_efficient, "Mely's table VI: fork and join over arrays" },
	{ "sim-unbalanced", bench_sim_unbalanced, "the same of unbalanced on virtual cores" },
	{ "sim-penalty", bench_sim_penalty, "the same of penalty on virtual cores" },
	{ "sim-cache-efficient", bench_sim_cache_efficient,
	  "the same of cache-efficient on virtual cores" },
	{ "timers", bench_timers, "a million timers started and fired; add and cancel" },
	{ "echo-callbacks", bench_echo_callbacks, "an echo server: CPU time per request, latency" },
	{ "idle", bench_idle, "what 10,000 idle connections and timers cost" },
	{ "overload", bench_overload, "goodput under three times the load that can be served" },
	{ "stall", bench_stall, "what the others do while one worker is blocked" },
};

static const char usage[] =
	"usage: weft-bench NAME... [--json] [--seconds N] [--repeats N]\n"
	"       weft-bench --list\n"
	"\n"
	"Runs benchmarks of Weft and of its peers, interleaved, and prints medians.\n"
	"\n"
	"  NAME           a benchmark of --list, or 'all'\n"
	"  --list         print the names of the benchmarks and what they measure\n"
	"  --json         one JSON object a line, for programs\n"
	"  --seconds N    how long each measurement runs, where time bounds it\n"
	"  --repeats N    measurements of each contender (1 to 100)\n"
	"  --help         print this\n"
	"\n"
	"WEFT_... variables of the environment are ignored: each case sets its own.\n"
	"Ends with status 0, or 1 if a measurement failed, or 2 for a wrong usage.\n";

static int complain(const char *what, const char *value)
{
	fprintf(stderr, "weft-bench: %s '%s'\n%s", what, value, usage);
	return 2;
}

static int list(void)
{
	for (int i = 0; i < BENCH_COUNT(benches); i++)
		printf("%-19s %s\n", benches[i].name, benches[i].what);
	return 0;
}

/* The environment wins over settings in code, so it must not reach the cases. */
static void forget_settings(void)
{
	static const char *const names[] = {
		"WEFT_WORKERS",    "WEFT_IO",          "WEFT_BATCH",       "WEFT_STEAL",
		"WEFT_STEAL_COST", "WEFT_STALL_MS",    "WEFT_OFFLOAD_MAX", "WEFT_STACK_SIZE",
		"WEFT_MAX_COLORS", "WEFT_COLOR_DEPTH", "WEFT_QUEUE_DEPTH", "WEFT_QUEUE_DELAY_MS",
	};

	for (int i = 0; i < BENCH_COUNT(names); i++)
		unsetenv(names[i]);
}

static int find(const char *name)
{
	for (int i = 0; i < BENCH_COUNT(benches); i++)
		if (strcmp(benches[i].name, name) == 0)
			return i;
	return -1;
}

static int run_named(char **names, int count)
{
	int failed = 0;

	for (int i = 0; i < count; i++)
		if (strcmp(names[i], "all") != 0 && find(names[i]) < 0)
			return complain("no such benchmark:", names[i]);
	bench_tick_ns(); /* once, for all the children */
	bench_print_machine();
	for (int i = 0; i < count; i++)
		for (int b = 0; b < BENCH_COUNT(benches); b++)
			if (strcmp(names[i], "all") == 0 || b == find(names[i]))
				failed += benches[b].run();
	return failed > 0;
}

static bool read_number(const char *text, double low, double high, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && *end == '\0' && *value >= low && *value <= high;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "seconds", required_argument, NULL, 's' },
		{ "repeats", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	double value;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			return list();
		case 'j':
			bench_options.json = true;
			break;
		case 's':
			if (!read_number(optarg, 0.01, 3600, &bench_options.seconds))
				return complain("bad number of seconds:", optarg);
			break;
		case 'r':
			if (!read_number(optarg, 1, BENCH_REPEATS_MAX, &value))
				return complain("bad number of repeats:", optarg);
			bench_options.repeats = (int)value;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return 2;
	}
	forget_settings();
	return run_named(argv + optind, argc - optind);
}
