/* emit.c - what is added in front of a function: its closure and the tables that describe it. */
#include <string.h>

#include "tool.h"

const char *tame_here(size_t offset)
{
	return tame_format("__FILE__ \":%u\"", tame_place(offset).line);
}

/* Parameters are pointers where arrays and functions are written. */
static const char *declare_parameter(const struct variable *v)
{
	CXType type = v->type;
	int kind = tame_canonical(type).kind;

	if (tame_is_array(type)) {
		type = type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray ||
				       type.kind == CXType_VariableArray
			       ? type
			       : tame_canonical(type);
		type = clang.getArrayElementType(type);
		return tame_declare(type,
				    tame_format(tame_is_array(type) ? "(*%s)" : "*%s", v->member),
				    false);
	}
	if (kind == CXType_FunctionProto || kind == CXType_FunctionNoProto)
		return tame_declare(type, tame_format("(*%s)", v->member), false);
	return tame_declare(type, v->member, true);
}

static bool refers(const struct function *f, struct range r)
{
	for (size_t i = 0; i < f->reference_count; i++)
		if (f->references[i].offset >= r.begin && f->references[i].offset < r.end)
			return true;
	for (size_t i = 0; i < f->type_count; i++)
		if (f->types[i]->range.begin >= r.begin && f->types[i]->range.begin < r.end)
			return true;
	return false;
}

/* The size of an array may depend on the machine: where it can be, it is copied as it is written
 * and not as it is here. */
static const char *written_declaration(const struct function *f, const struct variable *v)
{
	size_t first = tame_token_at(v->group->range.begin), last;
	struct range r = { v->group->range.begin, 0 };

	if (v->group->variable_count != 1 || !tame_is_array(v->type) || tame_has_const(v->type) ||
	    v->rendezvous || strcmp(v->member, v->name) != 0)
		return NULL;
	last = tame_until(tame_token_at(v->offset) + 1, "=;");
	r.end = tame_token_end(last - 1);
	if (refers(f, r))
		return NULL;
	for (size_t i = first; i < last; i++)
		if (tame_is(i, "register") || tame_is(i, "auto") || tame_is(i, "__attribute__") ||
		    (tame_is(i, "[") && tame_is(i + 1, "]")))
			return NULL;
	return tame_range(r);
}

static const char *declaration(const struct function *f, const struct variable *v)
{
	const char *written;

	if (v->group == NULL)
		return declare_parameter(v);
	written = written_declaration(f, v);
	return written != NULL ? written : tame_declare(v->type, v->member, true);
}

static void emit_variable(struct text *out, const struct function *f, const struct variable *v)
{
	tame_print(out, "\t%s;\n", declaration(f, v));
}

static bool shares(const struct variable *v, const struct scope *s)
{
	return v->kept && !v->alone && v->scope == s;
}

static bool has_content(const struct function *f, const struct scope *s)
{
	for (size_t i = 0; i < f->variable_count; i++)
		if (shares(f->variables[i], s))
			return true;
	for (size_t i = 0; i < s->child_count; i++)
		if (has_content(f, s->children[i]))
			return true;
	return false;
}

/* Scopes that are never entered at the same time share memory. */
static void emit_scope(struct text *out, const struct function *f, const struct scope *s)
{
	size_t children = 0;

	for (size_t i = 0; i < f->variable_count; i++)
		if (shares(f->variables[i], s))
			emit_variable(out, f, f->variables[i]);
	for (size_t i = 0; i < s->child_count; i++)
		children += has_content(f, s->children[i]);
	if (children > 1)
		tame_put(out, "\tunion {\n");
	for (size_t i = 0; i < s->child_count; i++) {
		if (!has_content(f, s->children[i]))
			continue;
		if (children > 1)
			tame_put(out, "\tstruct {\n");
		emit_scope(out, f, s->children[i]);
		if (children > 1)
			tame_put(out, "\t};\n");
	}
	if (children > 1)
		tame_put(out, "\t};\n");
}

static void emit_closure(struct text *out, const struct function *f)
{
	tame_print(out, "struct %s__c {\n\t%s tame_h;\n", f->name,
		   f->threaded ? "weft_tame_thread_closure" : "weft_tame_closure");
	for (size_t i = 0; i < f->variable_count; i++)
		if (f->variables[i]->alone && f->variables[i]->name[0] != '\0')
			emit_variable(out, f, f->variables[i]);
	emit_scope(out, f, f->scope);
	if (f->depth > 0)
		tame_print(out, "\tuint32_t tame_j[%u];\n", f->depth);
	for (size_t i = 0; i < f->mkevent_count; i++) {
		struct mkevent *m = f->mkevents[i];

		if (m->seen > 0 && !m->of_rendezvous && !m->apart)
			tame_print(out, "\tstruct %s__e%u tame_e%u;\n", f->name, m->number,
				   m->number);
	}
	tame_put(out, "};\n");
}

static void emit_descriptor(struct text *out, const struct function *f)
{
	bool waits = f->wait_count > 0 && !f->threaded;

	if (waits) {
		tame_print(out, "static const weft_tame_wait_point %s__w[] = {\n", f->name);
		for (size_t i = 0; i < f->wait_count; i++) {
			const struct wait *w = f->waits[i];

			tame_print(out, "\t{ %s, ", tame_here(w->offset));
			tame_put_string(out, w->text, strlen(w->text));
			tame_put(out, " },\n");
		}
		tame_put(out, "};\n");
	}
	tame_print(out, "static const weft_tame_function %s__fn = {\n", f->name);
	tame_print(out, "\t.name = \"%s\",\n\t.where = %s,\n", f->name, tame_here(f->offset));
	if (!f->threaded)
		tame_print(out, "\t.body = %s__body,\n", f->name);
	tame_print(out, "\t.entry = (void (*)(void))%s,\n", f->name);
	if (waits)
		tame_print(out, "\t.waits = %s__w,\n\t.wait_count = %zu,\n", f->name,
			   f->wait_count);
	tame_print(out, "\t.size = sizeof(struct %s__c),\n};\n", f->name);
}

/* Everything that the function's text refers to. The function itself is declared as it will be
 * defined, since the tables name it. */
void tame_emit_before(struct text *out, struct function *f)
{
	struct range head = { f->range.begin, f->body.begin };
	struct place p = tame_place(f->offset);

	tame_put(out, "\n\3");
	if (f->kind != 0) {
		tame_move_types(out, f);
		tame_emit_event_types(out, f);
		emit_closure(out, f);
		tame_print(out, "%s;\n", tame_range(head));
		if (!f->threaded)
			tame_print(out, "static void %s__body(void *tame_p);\n", f->name);
		tame_print(out, "#line %u ", p.line);
		tame_put_string(out, p.file, strlen(p.file));
		tame_put(out, "\n");
		emit_descriptor(out, f);
		tame_put(out, "\n\3");
		tame_emit_event_functions(out, f);
		tame_emit_rendezvous(out, f);
	}
	tame_emit_forks(out, f);
}
