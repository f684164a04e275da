/* flags.c - reads flags, and prints what there are. */
#include "flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_usage(const struct flags *flags)
{
	char left[40];

	printf("usage: %s %s\n\n%s\n\n", flags->program, flags->usage, flags->about);
	for (int i = 0; i < flags->count; i++) {
		const struct flag *f = &flags->list[i];

		snprintf(left, sizeof left, "--%s%s%s", f->name, f->value ? " " : "",
			 f->value ? f->value : "");
		printf("  %-24s %s", left, f->help);
		if (f->number != NULL)
			printf(" [%llu]", (unsigned long long)*f->number);
		else if (f->text != NULL && *f->text != NULL)
			printf(" [%s]", *f->text);
		putchar('\n');
	}
	puts("  --help                   this text");
	if (flags->runtime)
		puts("\nSettings of the runtime come from the environment: WEFT_WORKERS=1, "
		     "WEFT_IO=epoll\n...");
}

static bool read_number(const char *program, const struct flag *f, const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < f->least ||
	    value > f->most) {
		fprintf(stderr, "%s: --%s takes a number from %llu to %llu, not %s\n", program,
			f->name, (unsigned long long)f->least, (unsigned long long)f->most, text);
		return false;
	}
	*f->number = value;
	return true;
}

static const struct flag *find(const struct flags *flags, const char *word)
{
	if (strncmp(word, "--", 2) == 0)
		for (int i = 0; i < flags->count; i++)
			if (strcmp(word + 2, flags->list[i].name) == 0)
				return &flags->list[i];
	return NULL;
}

static bool take(const struct flags *flags, const struct flag *f, const char *value)
{
	if (f->given != NULL)
		*f->given = true;
	if (f->value == NULL)
		return true;
	if (value == NULL) {
		fprintf(stderr, "%s: --%s takes a value\n", flags->program, f->name);
		return false;
	}
	if (f->text == NULL)
		return read_number(flags->program, f, value);
	*f->text = value;
	return true;
}

int flags_read(const struct flags *flags, int argc, char **argv, int *rest)
{
	int i;

	for (i = 1; i < argc; i++) {
		const struct flag *f = find(flags, argv[i]);

		if (strcmp(argv[i], "--help") == 0) {
			print_usage(flags);
			return EXIT_SUCCESS;
		}
		if (f == NULL && rest != NULL && argv[i][0] != '-')
			break;
		if (f == NULL) {
			fprintf(stderr, "%s: no such flag: %s (see --help)\n", flags->program,
				argv[i]);
			return 2;
		}
		if (!take(flags, f, argv[i + 1]))
			return 2;
		i += f->value != NULL;
	}
	if (rest != NULL)
		*rest = i;
	return -1;
}
