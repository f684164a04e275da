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

static void emit_struct(struct text *out, const struct function *f, const struct fork *k)
{
	tame_print(out, "struct %s__k%u {\n\tweft_tame_fork h;\n\t%s event;\n", f->name, k->number,
		   event_type(k));
	if (k->function == NULL)
		tame_print(out, "\t%s;\n", tame_declare(k->callee_type, "call", true));
	for (size_t i = 0; i < k->argument_count; i++)
		tame_print(out, "\t%s;\n",
			   tame_declare(k->types[i], tame_format("a%zu", i + 1), true));
	if (has_result(k))
		tame_print(out, "\t%s;\n", tame_declare(k->result, "result", true));
	tame_put(out, "};\n");
}

static void emit_call(struct text *out, const struct function *f, const struct fork *k)
{
	tame_print(out,
		   "static void %s__call%u(weft_tame_fork *tame_p)\n{\n"
		   "\tstruct %s__k%u *tame_k = (struct %s__k%u *)(void "
		   "*)tame_p;\n\n\t(void)tame_k;\n\t",
		   f->name, k->number, f->name, k->number, f->name, k->number);
	if (has_result(k))
		tame_put(out, "tame_k->result = ");
	tame_print(out, "%s(", k->function != NULL ? k->function : "tame_k->call");
	for (size_t i = 1; i <= k->argument_count; i++)
		tame_print(out, "%stame_k->a%zu", i == 1 ? "" : ", ", i);
	tame_put(out, ");\n}\n");
	tame_print(out,
		   "static void %s__done%u(weft_tame_fork *tame_p)\n{\n"
		   "\tstruct %s__k%u *tame_k = (struct %s__k%u *)(void *)tame_p;\n\n"
		   "\tweft_trigger(tame_k->event%s);\n}\n",
		   f->name, k->number, f->name, k->number, f->name, k->number,
		   has_result(k) ? ", tame_k->result" : "");
}

static void emit_start(struct text *out, const struct function *f, const struct fork *k)
{
	tame_print(out, "static inline void %s__fork%u(%s event", f->name, k->number,
		   event_type(k));
	if (k->function == NULL)
		tame_print(out, ", %s", tame_declare(k->callee_type, "call", true));
	for (size_t i = 0; i < k->argument_count; i++)
		tame_print(out, ", %s",
			   tame_declare(k->types[i], tame_format("a%zu", i + 1), true));
	tame_print(out,
		   ")\n{\n\tstruct %s__k%u *tame_k = weft_tame_fork_new(sizeof *tame_k, %s);\n\n"
		   "\ttame_k->h.call = %s__call%u;\n\ttame_k->h.done = %s__done%u;\n"
		   "\ttame_k->event = event;\n",
		   f->name, k->number, k->threaded ? "true" : "false", f->name, k->number, f->name,
		   k->number);
	if (k->function == NULL)
		tame_put(out, "\ttame_k->call = call;\n");
	for (size_t i = 1; i <= k->argument_count; i++)
		tame_print(out, "\ttame_k->a%zu = a%zu;\n", i, i);
	tame_put(out, "\tweft_tame_fork_start(&tame_k->h);\n}\n");
}

void tame_emit_forks(struct text *out, struct function *f)
{
	for (size_t i = 0; i < f->fork_count; i++) {
		emit_struct(out, f, f->forks[i]);
		emit_call(out, f, f->forks[i]);
		emit_start(out, f, f->forks[i]);
	}
}
