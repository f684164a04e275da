/* emit_fork.c - what is added for each tfork: a struct with the call's arguments, and the functions
 * that start it, make the call elsewhere, and trigger the event with the result.
 */
#include "tool.h"

static bool has_result(const struct fork *k)
{
	return tame_canonical(k->result).kind != CXType_Void;
}

static const char *event_type(const struct fork *k)
{
	return tame_format("WEFT_EVENT(%s)",
			   has_result(k) ? tame_declare(k->result, "", true) : "");
}

/* Arrays and functions come as pointers. */
static const char *declare_argument(const struct fork *k, size_t i)
{
	CXType type = tame_canonical(k->types[i]);
	const char *name = tame_format("\5a%zu", i + 1);

	if (tame_is_array(type))
		return tame_declare(clang.getArrayElementType(type), tame_format("(*%s)", name),
				    false);
	if (type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto)
		return tame_declare(type, tame_format("(*%s)", name), false);
	return tame_declare(k->types[i], name, true);
}

static void emit_struct(struct text *out, const struct function *f, const struct fork *k)
{
	tame_print(out, "struct %s__k%u {\n\tweft_tame_fork h;\n\t%s \5event;\n", f->stem,
		   k->number, event_type(k));
	if (k->function == NULL)
		tame_print(out, "\t%s;\n", tame_declare(k->callee_type, "\5call", true));
	for (size_t i = 0; i < k->argument_count; i++)
		tame_print(out, "\t%s;\n", declare_argument(k, i));
	if (has_result(k))
		tame_print(out, "\t%s;\n", tame_declare(k->result, "\5result", true));
	tame_put(out, "};\n");
}

static void emit_call(struct text *out, const struct function *f, const struct fork *k)
{
	tame_print(out,
		   "static void %s__call%u(weft_tame_fork *\5p)\n{\n"
		   "\tstruct %s__k%u *\5k = (struct %s__k%u *)(void "
		   "*)\5p;\n\n\t(void)\5k;\n\t",
		   f->stem, k->number, f->stem, k->number, f->stem, k->number);
	if (has_result(k))
		tame_put(out, "\5k->\5result = ");
	tame_print(out, "%s(", k->function != NULL ? k->function : "\5k->\5call");
	for (size_t i = 1; i <= k->argument_count; i++)
		tame_print(out, "%s\5k->\5a%zu", i == 1 ? "" : ", ", i);
	tame_put(out, ");\n}\n");
	tame_print(out,
		   "static void %s__done%u(weft_tame_fork *\5p)\n{\n"
		   "\tstruct %s__k%u *\5k = (struct %s__k%u *)(void *)\5p;\n\n"
		   "\tweft_trigger(\5k->\5event%s);\n}\n",
		   f->stem, k->number, f->stem, k->number, f->stem, k->number,
		   has_result(k) ? ", \5k->\5result" : "");
}

static void emit_start(struct text *out, const struct function *f, const struct fork *k)
{
	tame_print(out, "static inline void %s__fork%u(%s \5event", f->stem, k->number,
		   event_type(k));
	if (k->function == NULL)
		tame_print(out, ", %s", tame_declare(k->callee_type, "\5call", true));
	for (size_t i = 0; i < k->argument_count; i++)
		tame_print(out, ", %s", declare_argument(k, i));
	tame_print(out,
		   ")\n{\n\tstruct %s__k%u *\5k = weft_tame_fork_new(sizeof *\5k, %s);\n\n"
		   "\t\5k->h.call = %s__call%u;\n\t\5k->h.done = %s__done%u;\n"
		   "\t\5k->\5event = \5event;\n",
		   f->stem, k->number, k->threaded ? "1" : "0", f->stem, k->number, f->stem,
		   k->number);
	if (k->function == NULL)
		tame_put(out, "\t\5k->\5call = \5call;\n");
	for (size_t i = 1; i <= k->argument_count; i++)
		tame_print(out, "\t\5k->\5a%zu = \5a%zu;\n", i, i);
	tame_put(out, "\tweft_tame_fork_start(&\5k->h);\n}\n");
}

void tame_emit_forks(struct text *out, struct function *f)
{
	for (size_t i = 0; i < f->fork_count; i++) {
		emit_struct(out, f, f->forks[i]);
		emit_call(out, f, f->forks[i]);
		emit_start(out, f, f->forks[i]);
	}
}
