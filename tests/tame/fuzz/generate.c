/* generate.c - writes random programs with waits, each as plain C and as tamed C, to two files.
 *
 * usage: generate SEED COUNT PLAIN.c TAMED.tame.c
 *
 * Program N is the same for every SEED and COUNT it is written with: `generate N 1` writes it
 * alone.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

struct writing w;
unsigned long long program;

/* Chance: splitmix64. */
static uint64_t state;

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

unsigned below(unsigned n)
{
	return (unsigned)((next() >> 32) * n >> 32);
}

bool one_in(unsigned n)
{
	return below(n) == 0;
}

/* Text. */
enum { NESTED = 16 };
static FILE *files[2], *outer[NESTED][2];
static const char *names[2]; /* of the two programs */
static int nested;
static char *pieces[1 << 16];
static size_t piece_count;

char *text(const char *format, ...)
{
	va_list args;
	char *out;

	va_start(args, format);
	if (vasprintf(&out, format, args) < 0 || piece_count == sizeof pieces / sizeof *pieces)
		abort();
	va_end(args);
	pieces[piece_count++] = out;
	return out;
}

static void forget_text(void)
{
	while (piece_count > 0)
		free(pieces[--piece_count]);
}

static struct {
	char mark;
	bool inside; /* of a line */
} versions[2] = { { .mark = 's' }, { .mark = 't' } };
static int level;

void indent(int by)
{
	level += by;
}

static void put_to(int version, const char *piece)
{
	for (; *piece != '\0'; piece++) {
		if (!versions[version].inside && *piece != '\n')
			for (int i = 0; i < level; i++)
				fputc('\t', files[version]);
		fputc(*piece == '@' ? versions[version].mark : *piece, files[version]);
		versions[version].inside = *piece != '\n';
	}
}

void put_each(const char *plain, const char *tame)
{
	put_to(0, plain);
	put_to(1, tame);
}

void put(const char *format, ...)
{
	va_list args;
	char *out;

	va_start(args, format);
	if (vasprintf(&out, format, args) < 0)
		abort();
	va_end(args);
	put_each(out, out);
	free(out);
}

static FILE *open_file(const char *name)
{
	FILE *f = fopen(name, "w");

	if (f == NULL) {
		perror(name);
		exit(1);
	}
	return f;
}

void begin_file(void)
{
	static unsigned number;

	if (nested == NESTED)
		abort();
	for (int i = 0; i < 2; i++) {
		const char *name = text("%s.%u.inc", names[i], number), *last = strrchr(name, '/');

		put_to(i, text("#include \"%s\"\n", last == NULL ? name : last + 1));
		outer[nested][i] = files[i];
		files[i] = open_file(name);
	}
	number++;
	nested++;
}

void end_file(void)
{
	nested--;
	for (int i = 0; i < 2; i++) {
		fclose(files[i]);
		files[i] = outer[nested][i];
	}
}

/* Functions */

/* What stands in front of a function's body and behind it. */
struct frame {
	const char *before, *open, *close;
};
static const struct frame frames[] = {
	{ "", "\n{\n", "}\n\n" },
	{ "FUNCTION(", ",\n{\n", "})\n\n" },
	{ "#ifdef FUZZ_WORLD_H\n", "\n{\n#else\nint f(void) {\n#endif\n", "}\n\n" },
	{ "#ifdef NOWHERE\nint f(\n#else\n", "\n{\n#endif\n", "}\n\n" },
};

static void put_heads(const struct function *f, bool last, const char *before, const char *behind)
{
	const char *parameters =
		text("@%llu_f%d(int depth, int a%s%s", program, f->number,
		     f->has_pair ? ", struct pair x" : "", f->has_out ? ", int *out" : "");

	put_each(text("%s%sint %s)%s", before, last ? "" : "static ", parameters, behind),
		 f->threaded ? text("%sstatic threaded int %s)%s", before, parameters, behind)
			     : text("%sstatic tamed %s, event(int) done)%s", before, parameters,
				    behind));
}

/* Names that generated code might have, too. */
static void write_neighbours(const struct function *f)
{
	static const char *const suffixes[] = { "body", "c", "function", "e1", "t1", "1" };
	const char *name = text("@%llu_f%d__%s", program, f->number, suffixes[below(6)]);

	if (one_in(2)) {
		put("static const int %s = %u;\n", name, below(100));
		w.variables[declare(name, INT)].constant = true;
	} else {
		put("struct %s {\n\tint x;\n};\n", name);
	}
}

static void write_head(const struct function *f, bool last, const struct frame *frame)
{
	if (one_in(3))
		write_neighbours(f);
	if (one_in(3))
		put_heads(f, last, "", ";\n");
	put_heads(f, last, frame->before, frame->open);
	open_scope();
	w.variables[declare("depth", INT)].constant = true;
	declare("a", INT);
	if (f->has_pair)
		declare("x", PAIR);
	indent(1);
	if (!f->threaded && one_in(6))
		put_each("", "trefused (e1) {\n\ttrigger(done, e1);\n}\n");
	put("int h = %u;\n\n(void)depth, (void)a;\n", below(1000));
}

/* Its value is h. */
static void write_end(const struct function *f)
{
	if (f->has_out) {
		const char *e = expression(1);

		put_each(text("*out = plain_int(%s);\n", e),
			 text("twait {\n\tgive_int(%s, mkevent(*out));\n}\n", e));
	}
	if (f->threaded)
		put("return h;\n");
	else
		put_each("return h;\n", "trigger(done, h);\n");
}

static void write_body(const struct function *f)
{
	for (int n = (int)below(3); n > 0; n--)
		write_declaration();
	put("int list[%d] = { %u, a, [3] = %u };\n", ELEMENTS, below(9), below(9));
	declare("list", ARRAY);
	while (w.left > 0)
		statement();
	write_end(f);
}

static void write_function(struct function *all, int number, bool last)
{
	struct function *f = &all[number];
	const struct frame *frame = &frames[one_in(2) ? 0 : below(4)];
	bool apart = one_in(8);

	*f = (struct function){ .number = number,
				.threaded = last && one_in(4),
				.has_out = !last && one_in(3),
				.has_pair = !last && one_in(3) };
	w = (struct writing){ .f = f, .others = all, .times = 1, .left = 3 + (int)below(7) };
	if (apart)
		begin_file();
	write_head(f, last, frame);
	w.in_macro = frame == &frames[1];
	write_body(f);
	close_scope();
	indent(-1);
	put("%s", frame->close);
	if (apart)
		end_file();
	if (w.calls_itself)
		f->cost *= 3;
}

/* Returns whether what is called is threaded. */
static bool write_program(int *top)
{
	struct function functions[FUNCTIONS];
	int count;

	state = program;
	count = 1 + (int)below(FUNCTIONS);
	for (int i = 0; i < count; i++)
		write_function(functions, i, i == count - 1);
	*top = count - 1;
	return functions[count - 1].threaded;
}

/* Each is run a few times. */
static void write_run(int top, bool threaded_top)
{
	const char *call = text("t%llu_f%d(1, k", program, top);
	FILE *out = files[1];

	fprintf(out, "int s%llu_f%d(int depth, int a);\n", program, top);
	fprintf(out, "static threaded void run_%llu(void)\n{\n\tint got = 0;\n\n", program);
	fprintf(out, "\tfor (int k = 0; k < 3; k++) {\n");
	if (threaded_top)
		fprintf(out, "\t\tgot = %s);\n", call);
	else
		fprintf(out, "\t\ttwait {\n\t\t\t%s, mkevent(got));\n\t\t}\n", call);
	fprintf(out, "\t\tcompare(%lluull, s%llu_f%d(1, k), got);\n\t}\n}\n\n", program, program,
		top);
}

static void write_main(unsigned long long seed, unsigned count)
{
	FILE *out = files[1];

	fprintf(out, "static int all(void *unused)\n{\n\t(void)unused;\n");
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "\trun_%llu();\n", seed + i);
	fprintf(out, "\treturn 0;\n}\n\nint main(void)\n{\n\treturn run_programs(all);\n}\n");
}

/* With -DALONE the plain programs run without the others. */
static void write_plain_main(unsigned long long seed, const int *tops, unsigned count)
{
	FILE *out = files[0];

	fprintf(out, "#ifdef ALONE\nint main(void)\n{\n\tunsigned got = 0;\n\n");
	fprintf(out, "\tfor (int k = 0; k < 3; k++) {\n");
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "\t\tgot += (unsigned)s%llu_f%d(1, k);\n", seed + i, tops[i]);
	fprintf(out, "\t}\n\tprintf(\"%%u\\n\", got);\n\treturn 0;\n}\n#endif\n");
}

static int write_programs(unsigned long long seed, unsigned count)
{
	int *tops = calloc(count, sizeof *tops);

	for (unsigned i = 0; i < count; i++) {
		bool threaded_top;

		program = seed + i;
		threaded_top = write_program(&tops[i]);
		write_run(tops[i], threaded_top);
		forget_text();
	}
	write_main(seed, count);
	write_plain_main(seed, tops, count);
	free(tops);
	return fclose(files[0]) | fclose(files[1]);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: generate SEED COUNT PLAIN.c TAMED.tame.c\n");
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		names[i] = argv[3 + i];
		files[i] = open_file(names[i]);
	}
	fprintf(files[0], "#define PLAIN\n#include \"world.h\"\n\n");
	fprintf(files[1], "#include \"world.h\"\n\n");
	return write_programs(strtoull(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10)) !=
	       0;
}
