/* main.c - weft-bench: chooses benchmarks by name and runs them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct {
	const char *name;
	int (*run)(void);
	bool timed; /* --seconds says how long; the others have a fixed amount of work */
	const char *what;
} benches[] = {
	{ "post", bench_post, false, "the cost of posting an event and running it" },
	{ "steal", bench_steal, true, "the cost of stealing a color, for queues of 10 to 50,000" },
	{ "unbalanced", bench_unbalanced, true,
	  "stealing when few events are long and most short (Mely, tables III and IV)" },
	{ "penalty", bench_penalty, true,
	  "stealing when data is warm on one core (Mely, table V)" },
	{ "cache-efficient", bench_cache_efficient, true,
	  "stealing when arrays are sorted in parts and merged (Mely, table VI)" },
	{ "sim-unbalanced", bench_sim_unbalanced, false,
	  "unbalanced, simulated on 8, 64 and 256 cores" },
	{ "sim-penalty", bench_sim_penalty, false, "penalty, simulated on 8, 64 and 256 cores" },
	{ "sim-cache-efficient", bench_sim_cache_efficient, false,
	  "cache-efficient, simulated on 8, 64 and 256 cores" },
	{ "timers", bench_timers, false, "the cost of starting, firing and cancelling timers" },
	{ "echo-callbacks", bench_echo_callbacks, true,
	  "an echo server: CPU time per request, and latency" },
	{ "idle", bench_idle, true, "the cost of 10,000 idle connections and timers" },
	{ "overload", bench_overload, true,
	  "how many requests are answered in time when three times too many come" },
	{ "stall", bench_stall, false, "how the other workers go on while one is blocked" },
	{ "beat", bench_beat, false, "a thread that runs every 2 ms while others compute" },
	{ "switch", bench_switch, false, "the cost of a switch between threads" },
	{ "spawn", bench_spawn_join, false, "the cost of starting and joining a thread" },
	{ "mutex", bench_mutex, false, "the cost of locking and unlocking a mutex" },
	{ "channel", bench_channel, false, "the cost of a message, also between cores" },
	{ "producer-consumer", bench_producer_consumer, false,
	  "2 to 1,000,000 threads at one buffer (Capriccio, figure 1)" },
	{ "pipes", bench_pipes, true, "tokens passed over pipes (Capriccio, figure 2)" },
	{ "disk", bench_disk, true,
	  "random reads from the disk and from the page cache (Capriccio, figures 3 and 4)" },
	{ "parked", bench_parked, false, "the cost of 1,000,000 threads that wait" },
	{ "skynet", bench_skynet, false, "a tree of 1,111,111 threads" },
	{ "echo-threads", bench_echo_threads, true,
	  "a thread-per-connection echo server with 20,000 connections, half of them slow" },
	{ "pingpong-shm", bench_pingpong_shm, false,
	  "round trips between two processes over shared memory (AC, section 5.1)" },
	{ "fanout-2pc", bench_fanout_2pc, false,
	  "two-phase commit with 1 to 16 other processes (AC, figure 10)" },
	{ "async-call", bench_async_call, false,
	  "the cost of an async call that does not wait (AC, section 5.1)" },
	{ "async-yield", bench_async_yield, false,
	  "the cost of an async call that waits (AC, section 5.1)" },
	{ "finish", bench_finish, false, "the cost of a finish block (AC, section 5.1)" },
	{ "random-read", bench_random_read, true,
	  "random reads, many under way at a time (AC, figure 11)" },
	{ "quote-server", bench_quote_server, true,
	  "a message a second to each of 20,000 clients (AC, figure 12)" },
	{ "sealed-files", bench_sealed_files, true,
	  "an encrypted file server on 1 and 2 workers (libasync-mp, figure 5-5)" },
	{ "httpd", bench_httpd, true, "the web server beside others, asked by wrk" },
	{ "web-steal", bench_web_steal, true,
	  "the web server with and without stealing (Mely, figure 7)" },
	{ "web-pauses", bench_web_pauses, true,
	  "web servers whose clients pause between requests (Capriccio, figure 9)" },
	{ "web-copies", bench_web_copies, true,
	  "speed-up of the web server, and of copies of it (libasync-mp, figures 5-2 to 5-4)" },
	{ "tame-call", bench_tame_call, false,
	  "the cost of a tamed call that does not wait (Tame, figure 8)" },
	{ "tame-wait", bench_tame_wait, false,
	  "the cost of a tamed function's wait (Tame, figure 9)" },
	{ "tame-memory", bench_tame_memory, false, "a million closures that wait" },
	{ "four-styles", bench_four_styles, true,
	  "the same server as callbacks, tamed functions, threads and async blocks" },
};

static const char usage[] =
	"usage: weft-bench NAME... [--json] [--save FILE] [--cases] [--seconds N] [--repeats N]\n"
	"       weft-bench --list\n"
	"\n"
	"Runs benchmarks of Weft and of its peers, interleaved, and prints medians.\n"
	"\n"
	"  NAME           a benchmark of --list, or 'all'\n"
	"  --list         print the names of the benchmarks and what they measure\n"
	"  --json         one JSON object a line, for programs\n"
	"  --save FILE    append the JSON objects to a file, whatever is printed\n"
	"  --cases        only name the cases and contenders; nothing is measured\n"
	"  --seconds N    how long each measurement runs, where time bounds it; most have\n"
	"                 a fixed amount of work, and say so\n"
	"  --repeats N    measurements of each contender (1 to 100)\n"
	"  --help         print this\n"
	"\n"
	"WEFT_... variables of the environment are ignored: each case sets its own.\n"
	"Ends with status 0, or 1 if a measurement failed, or 2 for a wrong usage.\n";

static int point_to_help(void)
{
	fputs("try 'weft-bench --help'\n", stderr);
	return 2;
}

static int complain(const char *what, const char *value)
{
	fprintf(stderr, "weft-bench: %s '%s'\n", what, value);
	return point_to_help();
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

static int run_one(int b)
{
	if (bench_options.seconds > 0 && !benches[b].timed)
		fprintf(stderr, "weft-bench: --seconds is not used by %s: its work is fixed\n",
			benches[b].name);
	return benches[b].run();
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
				failed += run_one(b);
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
		{ "save", required_argument, NULL, 'a' },
		{ "cases", no_argument, NULL, 'c' },
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
		case 'a':
			bench_options.save = fopen(optarg, "ae");
			if (bench_options.save == NULL)
				return complain("cannot write to", optarg);
			break;
		case 'c':
			bench_options.cases = true;
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
			return point_to_help();
		}
	}
	if (optind == argc) {
		fputs("weft-bench: which benchmark?\n", stderr);
		return point_to_help();
	}
	forget_settings();
	return run_named(argv + optind, argc - optind);
}
