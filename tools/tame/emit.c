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
	return tame_declare(type, v->member, false);
}

/* Whether a range names something that is only there inside of the function. */
static bool refers(const struct function *f, struct range r)
{
	for (size_t i = 0; i < f->reference_count; i++)
		if (tame_holds(r, f->references[i].offset))
			return true;
	for (size_t i = 0; i < f->type_count; i++)
		if (tame_holds(r, f->types[i]->range.begin))
			return true;
	for (size_t i = 0; i < f->type_reference_count; i++)
		if (tame_holds(r, f->type_references[i].offset))
			return true;
	for (size_t i = 0; i < f->constant_reference_count; i++)
		if (tame_holds(r, f->constant_references[i].offset))
			return true;
	return false;
}

/* Where the specifiers of a declaration end and its first declarator begins. */
static size_t end_of_specifiers(size_t token, size_t name)
{
	while (token < name && !tame_is(token, "*")) {
		if (tame_is(token, "("))
			return token;
		if (tame_is(token + 1, "(") &&
		    (tame_is(token, "__typeof__") || tame_is(token, "typeof") ||
		     tame_is(token, "__typeof") || tame_is(token, "_Atomic")))
			token = tame_close(token + 1);
		token++;
	}
	return token;
}

/* Words that a member cannot have, or that keep the text from telling the type. */
static bool is_odd(size_t first, size_t last)
{
	static const char *const odd[] = { "auto",          "__auto_type",  "register",
					   "__attribute__", "__attribute",  "asm",
					   "__asm__",       "__asm",        "__extension__",
					   "_Alignas",      "extern",       "static",
					   "__func__",      "__FUNCTION__", "__PRETTY_FUNCTION__" };

	for (size_t i = first; i < last; i++) {
		if (tame_is(i, "[") && tame_is(i + 1, "]"))
			return true;
		for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
			if (tame_is(i, odd[k]))
				return true;
	}
	return false;
}

static void put_tokens(struct text *out, size_t first, size_t last, const struct variable *v)
{
	for (size_t i = first; i < last; i++)
		if (tokens[i].offset == v->offset)
			tame_print(out, "%s ", v->member);
		else
			tame_put_token(out, i), tame_put(out, " ");
}

/* The declaration as it is written, if that means the same outside of the function. */
static const char *written_declaration(const struct function *f, const struct variable *v)
{
	size_t first = tame_token_at(v->group->range.begin), name = tame_token_at(v->offset);
	size_t begin = end_of_specifiers(first, tame_token_at(v->group->variables[0]->offset));
	size_t specifiers = begin, end = tame_until(begin, "=,;");
	struct text t = { 0 };

	while (end < name) {
		begin = tame_until(end, ",;") + 1;
		end = tame_until(begin, "=,;");
	}
	if (v->rendezvous || is_odd(first, specifiers) || is_odd(begin, end) ||
	    refers(f, tame_token_range(first, specifiers - 1)) ||
	    refers(f, tame_token_range(begin, end - 1)))
		return NULL;
	put_tokens(&t, first, specifiers, v);
	put_tokens(&t, begin, end, v);
	return t.at;
}

static const char *declaration(const struct function *f, const struct variable *v)
{
	const char *written;

	if (v->group == NULL)
		return declare_parameter(v);
	written = written_declaration(f, v);
	return written != NULL ? written : tame_declare(v->type, v->member, false);
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
		tame_put(out, "\t__extension__ union {\n");
	for (size_t i = 0; i < s->child_count; i++) {
		if (!has_content(f, s->children[i]))
			continue;
		if (children > 1)
			tame_put(out, "\t__extension__ struct {\n");
		emit_scope(out, f, s->children[i]);
		if (children > 1)
			tame_put(out, "\t};\n");
	}
	if (children > 1)
		tame_put(out, "\t};\n");
}

static void emit_lines(struct text *out, const struct function *f, const char *member,
		       struct range scope)
{
	tame_print(out, "\t%s__from_%s = %u, %s__till_%s = %u,\n", f->stem, member,
		   tame_place(scope.begin).line, f->stem, member, tame_place(scope.end - 1).line);
}

/* Debuggers find in an enumeration from which line to which each variable is in scope, and the lines of
 * the body. */
static void emit_scopes(struct text *out, const struct function *f)
{
	tame_print(out, "enum %s__scopes {\n", f->stem);
	emit_lines(out, f, "", f->body);
	for (size_t i = 0; i < f->variable_count; i++) {
		const struct variable *v = f->variables[i];

		if (v->kept && v->name[0] != '\0')
			emit_lines(out, f, v->member,
				   v->group == NULL
					   ? f->body
					   : (struct range){ v->offset, v->scope->range.end });
	}
	tame_put(out, "};\n");
}

/* The array without elements keeps the enumeration in what compilers write for debuggers. */
static void emit_closure(struct text *out, const struct function *f)
{
	emit_scopes(out, f);
	tame_print(out, "struct %s__c {\n\t%s \5h;\n", f->stem,
		   f->threaded ? "weft_tame_thread_closure" : "weft_tame_closure");
	tame_print(out, "\t__extension__ enum %s__scopes \5scopes[0];\n", f->stem);
	for (size_t i = 0; i < f->variable_count; i++)
		if (f->variables[i]->alone && f->variables[i]->name[0] != '\0')
			emit_variable(out, f, f->variables[i]);
	emit_scope(out, f, f->scope);
	for (size_t i = 0; i < f->wait_count && !f->threaded; i++)
		if (f->waits[i]->keeps)
			tame_print(out, "\tweft_tame_rendezvous *\5w%u;\n", f->waits[i]->state);
	for (size_t i = 0; i < f->literal_count; i++)
		if (f->literals[i].kept)
			tame_print(out, "\t%s;\n",
				   tame_declare(f->literals[i].type, tame_format("\5l%zu", i),
						false));
	if (f->depth > 0)
		tame_print(out, "\tuint32_t \5j[%u];\n", f->depth);
	for (size_t i = 0; i < f->mkevent_count; i++) {
		struct mkevent *m = f->mkevents[i];

		if (!m->of_rendezvous && !m->apart)
			tame_print(out, "\tstruct %s__e%u \5e%u;\n", f->stem, m->number, m->number);
	}
	tame_put(out, "};\n");
}

static void emit_descriptor(struct text *out, const struct function *f)
{
	bool waits = f->wait_count > 0 && !f->threaded;

	if (waits) {
		tame_print(out, "static const weft_tame_wait_point %s__w[] = {\n", f->stem);
		for (size_t i = 0; i < f->wait_count; i++) {
			const struct wait *w = f->waits[i];

			tame_print(out, "\t{ %s, ", tame_here(w->offset));
			tame_put_string(out, w->text, strlen(w->text));
			tame_emit_awaited(out, f, w);
			tame_put(out, " },\n");
		}
		tame_put(out, "};\n");
	}
	tame_print(out, "static const weft_tame_function %s__fn = {\n", f->stem);
	tame_print(out, "\t.name = \"%s\",\n\t.where = %s,\n", f->name, tame_here(f->offset));
	if (!f->threaded)
		tame_print(out, "\t.body = %s__body,\n", f->stem);
	if (!f->threaded)
		tame_print(out, "\t.entry = (void (*)(void))%s,\n", f->name);
	if (waits)
		tame_print(out, "\t.waits = %s__w,\n\t.wait_count = %zu,\n", f->stem,
			   f->wait_count);
	tame_print(out, "\t.size = sizeof(struct %s__c),\n};\n", f->stem);
}

/* Then it cannot be written twice. */
static bool declares_type(struct range head)
{
	for (size_t i = tame_token_at(head.begin); tokens[i].offset < head.end; i++)
		if (tame_is(i, "{"))
			return true;
	return false;
}

/* Everything that the function's text refers to. The function itself is declared as it will be
 * defined, since the tables name it. */
void tame_emit_before(struct text *out, struct function *f)
{
	struct range head = { f->range.begin, f->body.begin };

	tame_put(out, "\3");
	tame_move_types(out, f);
	if (f->kind != 0) {
		tame_emit_event_types(out, f);
		emit_closure(out, f);
		if (!declares_type(head) &&
		    clang.equalCursors(clang.getCanonicalCursor(f->cursor), f->cursor))
			tame_print(out, "%s;\n", tame_range(head));
		if (!f->threaded)
			tame_print(out, "static void %s__body(void *\5p);\n", f->stem);
		tame_print(out, "\4%zu\2", f->offset);
		emit_descriptor(out, f);
		tame_put(out, "\n\3");
		tame_emit_event_functions(out, f);
		tame_emit_rendezvous(out, f);
	}
	tame_emit_forks(out, f);
}
