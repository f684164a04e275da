/* emit_event.c - what is added for each mkevent: its event, its site, and the functions that make,
 * trigger and deliver it; and for each variable that is or holds a rendezvous, what begins it.
 */
#include <string.h>

#include "tool.h"

static const char *value_type(const struct mkevent *m, size_t i, const char *name)
{
	return tame_declare(clang.getCursorType(m->slots[i].cursor), name, true);
}

static const char *slot_type(const struct mkevent *m, size_t i, const char *name)
{
	return value_type(m, i, tame_format("*%s", name));
}

/* The arguments of its trigger function, behind the event. */
static const char *values(const struct mkevent *m)
{
	struct text t = { 0 };

	for (size_t i = 0; i < m->slot_count; i++)
		tame_print(&t, ", %s", value_type(m, i, tame_format("\5v%zu", i + 1)));
	return t.at == NULL ? "" : t.at;
}

static const char *value_types(const struct mkevent *m)
{
	struct text t = { 0 };

	for (size_t i = 0; i < m->slot_count; i++)
		tame_print(&t, "%s%s", i == 0 ? "" : ", ", value_type(m, i, ""));
	return t.at == NULL ? "" : t.at;
}

static const char *base_of(const struct mkevent *m)
{
	return m->of_rendezvous ? "weft_tame_event_of_rendezvous"
	       : m->apart       ? "weft_tame_event_apart"
				: "weft_tame_event";
}

void tame_emit_event_types(struct text *out, struct function *f)
{
	for (size_t i = 0; i < f->mkevent_count; i++) {
		struct mkevent *m = f->mkevents[i];

		/* the trigger function by its type, as those read it who trigger */
		tame_print(out,
			   "__extension__ struct %s__e%u {\n\t__extension__ union {\n\t\t%s h;\n"
			   "\t\tvoid (*trigger)(weft_tame_event *%s);\n\t};\n",
			   f->stem, m->number, base_of(m),
			   tame_format("%s%s", m->slot_count > 0 ? ", " : "", value_types(m)));
		for (size_t k = 0; k < m->slot_count; k++)
			tame_print(out, "\t%s;\n\t%s;\n",
				   slot_type(m, k, tame_format("\5s%zu", k + 1)),
				   value_type(m, k, tame_format("\5v%zu", k + 1)));
		if (m->named)
			tame_print(out, "\t%s;\n", tame_declare(m->id_type, "\5id", true));
		tame_put(out, "};\n");
	}
}

static void emit_deliver(struct text *out, const struct function *f, const struct mkevent *m)
{
	if (m->slot_count == 0)
		return;
	tame_print(out, "static void %s__d%u(void *\5p)\n{\n\tstruct %s__e%u *\5e = \5p;\n\n",
		   f->stem, m->number, f->stem, m->number);
	for (size_t i = 1; i <= m->slot_count; i++)
		tame_print(out, "\t*\5e->\5s%zu = \5e->\5v%zu;\n", i, i);
	tame_put(out, "}\n");
}

static void emit_trigger(struct text *out, const struct function *f, const struct mkevent *m)
{
	tame_print(out, "static void %s__t%u(weft_tame_event *\5p%s)\n{\n", f->stem, m->number,
		   values(m));
	if (m->slot_count > 0)
		tame_print(out, "\tstruct %s__e%u *\5e = (struct %s__e%u *)(void *)\5p;\n\n",
			   f->stem, m->number, f->stem, m->number);
	for (size_t i = 1; i <= m->slot_count; i++)
		tame_print(out, "\t\5e->\5v%zu = \5v%zu;\n", i, i);
	tame_put(out, "\tweft_tame_trigger(\5p);\n}\n");
}

static void emit_site(struct text *out, const struct function *f, const struct mkevent *m)
{
	const char *text, *given = tame_given_to(m);

	tame_print(out,
		   "static const weft_tame_site %s__s%u = {\n\t.where = %s,\n\t.text = ", f->stem,
		   m->number, tame_here(m->offset));
	text = tame_cut(m->range);
	tame_put_string(out, text, strlen(text));
	tame_print(out, ",\n\t.function = \"%s\",\n", f->name);
	if (given != NULL)
		tame_print(out, "\t.given = \"%s\",\n", given);
	if (m->slot_count > 0)
		tame_print(out, "\t.deliver = %s__d%u,\n", f->stem, m->number);
	tame_print(out, "\t.kind = %s,\n\t.size = sizeof(struct %s__e%u),\n",
		   m->of_rendezvous ? "WEFT_TAME_OF_RENDEZVOUS"
		   : m->apart       ? "WEFT_TAME_APART"
				    : "WEFT_TAME_INSIDE",
		   f->stem, m->number);
	if (!m->of_rendezvous && !m->apart)
		tame_print(out, "\t.offset = __builtin_offsetof(struct %s__c, \5e%u),\n", f->stem,
			   m->number);
	if (!m->of_rendezvous)
		tame_print(out,
			   "\t.join = __builtin_offsetof(struct %s__c, \5j) + %u * "
			   "sizeof(uint32_t),\n",
			   f->stem, m->wait->depth);
	if (m->named)
		tame_print(out,
			   "\t.id = __builtin_offsetof(struct %s__e%u, \5id),\n"
			   "\t.id_size = sizeof(((struct %s__e%u *)0)->\5id),\n",
			   f->stem, m->number, f->stem, m->number);
	tame_put(out, "};\n");
}

static void emit_make(struct text *out, const struct function *f, const struct mkevent *m)
{
	const char *closure = f->threaded ? "&\5c->\5h.c" : "&\5c->\5h";
	const char *trigger = tame_format("(void (*)(void))%s__t%u", f->stem, m->number);

	tame_print(out,
		   "WEFT_TAME_UNCOUNTED_ static inline WEFT_EVENT(%s) %s__mk%u(struct %s__c *\5c",
		   value_types(m), f->stem, m->number, f->stem);
	if (m->of_rendezvous)
		tame_put(out, ", weft_tame_rendezvous *\5r");
	if (m->named)
		tame_print(out, ", %s", tame_declare(m->id_type, "\5id", true));
	for (size_t i = 0; i < m->slot_count; i++)
		tame_print(out, ", %s", slot_type(m, i, tame_format("\5s%zu", i + 1)));
	tame_print(out, ")\n{\n\tstruct %s__e%u *\5e = ", f->stem, m->number);
	if (m->of_rendezvous)
		tame_print(out, "weft_tame_rendezvous_event(\5r, %s, &%s__s%u,\n\t\t%s);\n",
			   closure, f->stem, m->number, trigger);
	else if (m->apart)
		tame_print(out, "weft_tame_event_new(%s, &%s__s%u,\n\t\t%s);\n", closure, f->stem,
			   m->number, trigger);
	else
		tame_print(out, "&\5c->\5e%u;\n", m->number);
	tame_put(out, "\n");
	if (!m->of_rendezvous && !m->apart)
		tame_print(out,
			   "\t\5e->h.site_ = &%s__s%u;\n\t\5e->trigger = %s__t%u;\n"
			   "\t++\5c->\5j[%u];\n",
			   f->stem, m->number, f->stem, m->number, m->wait->depth);
	for (size_t i = 1; i <= m->slot_count; i++)
		tame_print(out, "\t\5e->\5s%zu = \5s%zu;\n", i, i);
	if (m->named)
		tame_put(out, "\t\5e->\5id = \5id;\n");
	tame_put(out, "\treturn &\5e->trigger;\n}\n");
}

/* All of it on the line of the mkevent: it is inlined there, and debuggers show lines. */
static void emit_on_line(struct text *out, const struct function *f, const struct mkevent *m)
{
	struct text t = { 0 };

	emit_make(&t, f, m);
	for (size_t i = 0; i + 1 < t.size; i++)
		if (t.at[i] == '\n' || t.at[i] == '\t')
			t.at[i] = ' ';
	tame_print(out, "\4%zu\2%s", m->offset, t.at);
}

void tame_emit_event_functions(struct text *out, struct function *f)
{
	for (size_t i = 0; i < f->mkevent_count; i++) {
		struct mkevent *m = f->mkevents[i];

		emit_deliver(out, f, m);
		emit_trigger(out, f, m);
		tame_print(out, "\4%zu\2", m->offset);
		emit_site(out, f, m);
		emit_on_line(out, f, m);
		tame_put(out, "\3");
	}
}

/* Rendezvous */

struct beginning {
	struct text *out;
	const char *path;
	const char *site;
	const char *closure;
	unsigned depth;
};

static void begin_each(struct beginning b, CXType type);

static int begin_field(CXCursor field, void *arg)
{
	struct beginning b = *(struct beginning *)arg;
	const char *name = tame_name(field);

	if (name[0] != '\0')
		b.path = tame_format("%s.%s", b.path, name);
	begin_each(b, clang.getCursorType(field));
	return CXVisit_Continue;
}

static void begin_each(struct beginning b, CXType type)
{
	CXType id;
	bool named;

	if (!tame_holds_rendezvous(type))
		return;
	if (tame_is_rendezvous(type, &id, &named)) {
		tame_print(
			b.out,
			"\tweft_tame_rendezvous_init((weft_tame_rendezvous *)(uintptr_t)&(%s), %s, "
			"&%s);\n",
			b.path, b.closure, b.site);
		return;
	}
	type = tame_canonical(type);
	if (!tame_is_array(type)) {
		clang.Type_visitFields(type, begin_field, &b);
		return;
	}
	tame_print(b.out, "\tfor (size_t \5i%u = 0; \5i%u < %lld; \5i%u++) {\n", b.depth, b.depth,
		   clang.getArraySize(type), b.depth);
	b.path = tame_format("%s[\5i%u]", b.path, b.depth++);
	begin_each(b, clang.getArrayElementType(type));
	tame_put(b.out, "\t}\n");
}

void tame_emit_rendezvous(struct text *out, struct function *f)
{
	for (size_t i = 0; i < f->variable_count; i++) {
		struct variable *v = f->variables[i];
		struct beginning b = { .out = out };

		if (!v->rendezvous || !v->kept)
			continue;
		tame_print(out,
			   "\4%zu\2static const weft_tame_rendezvous_site %s__rs%u = { %s, \"%s\" "
			   "};\n",
			   v->offset, f->stem, v->number, tame_here(v->offset), v->name);
		tame_print(out, "\3static inline void %s__r%u(struct %s__c *\5c)\n{\n", f->stem,
			   v->number, f->stem);
		b.path = tame_format("\5c->%s", v->member);
		b.site = tame_format("%s__rs%u", f->stem, v->number);
		b.closure = f->threaded ? "&\5c->\5h.c" : "&\5c->\5h";
		begin_each(b, v->type);
		tame_put(out, "}\n");
	}
}
