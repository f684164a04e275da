/* report.c - prints results: aligned text for people, JSON lines for programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"

static const char *const better_names[] = {
	[BENCH_LOWER] = "lower",
	[BENCH_HIGHER] = "higher",
};

static void cpu_model(char *model, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(model, size, "unknown CPU");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char *colon = strchr(line, ':');

		if (colon == NULL || strncmp(line, "model name", 10) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(model, size, "%s", colon + 2);
		break;
	}
	if (f != NULL)
		fclose(f);
}

void bench_print_machine(void)
{
	struct utsname u;
	char model[128];

	if (bench_options.json)
		return;
	cpu_model(model, sizeof model);
	uname(&u);
	printf("machine: %s, %d usable CPUs, %.2f GHz clock, %s %s %s\n", model, bench_cpus(),
	       bench_ghz(), u.sysname, u.release, u.machine);
	fflush(stdout);
}

static void json_string(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\":\"", key);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text >= ' ')
			fputc(*text, out);
	}
	fputc('"', out);
}

static void json_number(FILE *out, const char *key, double value)
{
	if (isfinite(value))
		fprintf(out, "\"%s\":%.6g", key, value);
	else
		fprintf(out, "\"%s\":null", key);
}

/* What all lines have; the caller may add more, and closes it. */
static void json_figure(FILE *out, const char *bench, const char *label, const char *who,
			double value, const char *unit, enum bench_better better, int runs,
			double spread)
{
	fputc('{', out);
	json_string(out, "bench", bench);
	fputc(',', out);
	json_string(out, "case", label);
	fputc(',', out);
	json_string(out, "who", who);
	fputc(',', out);
	json_number(out, "value", value);
	fputc(',', out);
	json_string(out, "unit", unit);
	fputc(',', out);
	json_string(out, "better", better_names[better]);
	fprintf(out, ",\"runs\":%d,", runs);
	json_number(out, "spread", spread);
}

static void json_row(FILE *out, const struct bench_plan *plan, const struct bench_row *row, int m)
{
	const struct bench_metric *metric = &plan->metrics[m];
	char label[160];
	bool failed = row->why[0] != '\0' && !bench_options.cases;
	bool named = plan->metric_count > 1 && !failed;

	/* A row that was not measured is said once, not for each column. */
	if (failed ? m > 0 : isnan(row->median[m]) && (row->paper || !bench_options.cases))
		return;
	snprintf(label, sizeof label, "%s%s%s", row->label, named ? ": " : "",
		 named ? metric->name : "");
	json_figure(out, plan->name, label, row->who, row->median[m], metric->unit, metric->better,
		    row->runs, row->spread[m]);
	if (row->paper)
		fprintf(out, ",\"source\":\"paper\"");
	if (failed) {
		fputc(',', out);
		json_string(out, row->missing ? "missing" : "error", row->why);
	}
	fprintf(out, "}\n");
}

static void print_json(FILE *out, const struct bench_plan *plan, const struct bench_row *rows,
		       const struct bench_derived *derived, int repeats, double noise)
{
	for (; rows != NULL; rows = rows->next)
		for (int m = 0; m < plan->metric_count; m++)
			json_row(out, plan, rows, m);
	for (; derived != NULL; derived = derived->next) {
		json_figure(out, plan->name, derived->label, "weft", derived->value, derived->unit,
			    derived->better, repeats, derived->spread);
		fputc(',', out);
		json_string(out, "aim", derived->aim);
		fprintf(out, "}\n");
	}
	json_figure(out, plan->name, "CPU used by others", "machine", noise, "%", BENCH_LOWER, 1,
		    NAN);
	fprintf(out, "}\n");
}

static const char *number(double value, char *text, size_t size)
{
	double size_of = fabs(value);

	if (isnan(value))
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.*f",
			 size_of >= 100               ? 0
			 : size_of >= 10              ? 1
			 : size_of >= 1 || value == 0 ? 2
						      : 3,
			 value);
	return text;
}

static int widest(const struct bench_row *rows, bool who)
{
	size_t width = 4;

	for (; rows != NULL; rows = rows->next) {
		size_t n = strlen(who ? rows->who : rows->label);

		width = n > width ? n : width;
	}
	return (int)width;
}

/* A column is as wide as its widest title; the spread follows in 6 places. */
static int column(const struct bench_metric *m)
{
	size_t name = strlen(m->name), unit = strlen(m->unit) + strlen(" high");

	return (int)(name > unit ? name : unit);
}

static void print_titles(const struct bench_plan *plan, int label, int who)
{
	char unit[64];

	printf("  %-*s  %-*s", label, "case", who, "who");
	for (int m = 0; m < plan->metric_count; m++)
		printf("  %*s      ", column(&plan->metrics[m]), plan->metrics[m].name);
	printf("\n  %-*s  %-*s", label, "", who, "");
	for (int m = 0; m < plan->metric_count; m++) {
		snprintf(unit, sizeof unit, "%s %s", plan->metrics[m].unit,
			 plan->metrics[m].better == BENCH_LOWER ? "low" : "high");
		printf("  %*s      ", column(&plan->metrics[m]), unit);
	}
	printf("\n");
}

static void print_row(const struct bench_plan *plan, const struct bench_row *row)
{
	char text[32], spread[32];

	if (row->why[0] != '\0') {
		printf("  %s: %s\n", row->missing ? "not measured" : "FAILED", row->why);
		return;
	}
	for (int m = 0; m < plan->metric_count; m++) {
		/* The sign has two bytes but takes one place. */
		if (isfinite(row->spread[m]))
			snprintf(spread, sizeof spread, " \302\261%-4.0f", row->spread[m] * 100);
		else
			snprintf(spread, sizeof spread, "%6s", "");
		printf("  %*s%s", column(&plan->metrics[m]),
		       number(row->median[m], text, sizeof text), spread);
	}
	printf("%s\n", row->paper ? "(paper)" : "");
}

static void print_derived(const struct bench_derived *d)
{
	char text[32];

	printf("  %s: %s %s", d->label, number(d->value, text, sizeof text), d->unit);
	if (isfinite(d->spread))
		printf(" \302\261%.0f", d->spread * 100);
	if (d->aim[0] != '\0')
		printf(" (aim: %s)", d->aim);
	printf("\n");
}

static void print_text(const struct bench_plan *plan, const struct bench_row *rows,
		       const struct bench_derived *derived, int repeats, double noise)
{
	int label = widest(rows, false), who = widest(rows, true);

	printf("\n%s: %s\n", plan->name, plan->work);
	printf("median of %d interleaved runs; \302\261 is (max - min) / median in %%; "
	       "low or high is better;\n"
	       "below the table, the median of what is computed from neighbouring runs\n",
	       repeats);
	printf("other processes used %.0f%% of the CPUs meanwhile%s\n\n", noise,
	       noise > 10 ? ": TOO NOISY, repeat it on a quiet machine" : "");
	print_titles(plan, label, who);
	for (; rows != NULL; rows = rows->next) {
		printf("  %-*s  %-*s", label, rows->label, who, rows->who);
		print_row(plan, rows);
	}
	if (derived != NULL)
		printf("\n");
	for (; derived != NULL; derived = derived->next)
		print_derived(derived);
}

void bench_print(const struct bench_plan *plan, const struct bench_row *rows,
		 const struct bench_derived *derived, int repeats, double noise)
{
	if (bench_options.json)
		print_json(stdout, plan, rows, derived, repeats, noise);
	else
		print_text(plan, rows, derived, repeats, noise);
	if (bench_options.save != NULL)
		print_json(bench_options.save, plan, rows, derived, repeats, noise);
	fflush(NULL);
}
