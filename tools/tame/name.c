/* name.c - names in the body of a function, and the words of the language that are found by them. */
#include <string.h>

#include "walk.h"

static struct mkevent *mkevent_at(struct function *f, size_t offset)
{
	struct mkevent *m;
	struct range *arguments;
	size_t token = tame_token_at(offset);

	for (size_t i = 0; i < f->mkevent_count; i++)
		if (f->mkevents[i]->offset == offset)
			return f->mkevents[i];
	m = tame_alloc(sizeof *m);
	m->offset = offset;
	m->range = tame_token_range(token, tame_close(token + 1));
	m->argument_count = tame_arguments(token + 1, true, &arguments);
	m->arguments = tame_alloc((m->argument_count + 1) * sizeof *m->arguments);
	for (size_t i = 0; i < m->argument_count; i++)
		m->arguments[i].range = arguments[i];
	m->number = (unsigned)f->mkevent_count + 1;
	*ADD(f->mkevents, f->mkevent_count) = m;
	return m;
}

/* In the order of the text, whatever the tree's: macros have the type first. */
void tame_find_mkevents(struct function *f)
{
	size_t i = tame_token_at(f->body.begin);

	for (; i < token_count && tokens[i].offset < f->body.end; i++)
		if (tame_is(i, TAME_MKEVENT) && tame_is(i + 1, "("))
			(void)mkevent_at(f, tokens[i].offset);
}

static void give_expression(struct argument *a, CXCursor c, size_t begin)
{
	if (a->range.begin != begin || a->range.begin == a->range.end)
		return;
	/* conversions that clang adds are of no interest */
	if (!a->seen || a->cursor.kind == CXCursor_UnexposedExpr)
		a->cursor = c;
	a->seen = true;
}

/* Whether it goes on behind the end: then it is not this argument but the operator `,`. */
static bool goes_on(CXCursor c, struct range r)
{
	size_t end = tame_extent(c).end;

	return c.kind == CXCursor_BinaryOperator && end != SIZE_MAX && end > r.end;
}

void tame_note_expression(struct walk *w, CXCursor c)
{
	size_t begin = tame_extent(c).begin;

	for (size_t i = 0; i < w->f->mkevent_count; i++) {
		struct mkevent *m = w->f->mkevents[i];

		if (begin < m->range.begin || begin >= m->range.end)
			continue;
		for (size_t k = 0; k < m->argument_count; k++)
			give_expression(&m->arguments[k], c, begin);
	}
	for (size_t i = 0; i < w->f->fork_count; i++) {
		give_expression(&w->f->forks[i]->event, c, begin);
		give_expression(&w->f->forks[i]->call, c, begin);
	}
	for (size_t i = 0; i < w->f->wait_count; i++) {
		struct wait *wait = w->f->waits[i];

		if (wait->kind != WAIT_RENDEZVOUS || goes_on(c, wait->rendezvous.range))
			continue;
		give_expression(&wait->rendezvous, c, begin);
		give_expression(&wait->id, c, begin);
	}
}

static void rename_type(struct walk *w, CXCursor declaration, size_t offset)
{
	for (size_t i = 0; i < w->f->type_count; i++) {
		struct local_type *t = w->f->types[i];
		struct type_reference *r;

		if (!tame_same_type(t->cursor, declaration) || t->name == NULL)
			continue;
		r = ADD(w->f->type_references, w->f->type_reference_count);
		r->offset = offset;
		r->type = t;
		return;
	}
}

static void visit_marker(struct walk *w, const char *word, size_t offset)
{
	if (w->f->kind == 0 && strcmp(word, "tfork") != 0) {
		tame_error(offset,
			   "'%s' in '%s', which is neither 'tamed' nor 'threaded': write 'tamed' "
			   "in place of its type, or 'threaded' in front of it",
			   word, w->f->name);
		return;
	}
	if (strcmp(word, "mkevent") == 0) {
		struct mkevent *m = mkevent_at(w->f, offset);

		m->wait = w->wait;
		m->in_loop = w->in_loop;
		m->seen++;
	}
}

static void visit_fork(struct walk *w, size_t offset)
{
	struct fork *k;
	struct range *arguments;
	size_t token = tame_token_at(offset), count;

	for (size_t i = 0; i < w->f->fork_count; i++)
		if (w->f->forks[i]->offset == offset)
			return;
	k = tame_alloc(sizeof *k);
	k->offset = offset;
	k->range = tame_token_range(token, tame_close(token + 1));
	count = tame_arguments(token + 1, true, &arguments);
	if (count < 2) {
		tame_error(offset, "expected 'tfork(event, function(arguments))'");
		return;
	}
	k->event.range = arguments[0];
	k->call.range = (struct range){ arguments[1].begin, arguments[count - 1].end };
	k->number = (unsigned)w->f->fork_count + 1;
	*ADD(w->f->forks, w->f->fork_count) = k;
}

static bool in_fork(struct walk *w, size_t offset)
{
	for (size_t i = 0; i < w->f->fork_count; i++)
		if (w->f->forks[i]->call.range.begin == offset)
			return true;
	return false;
}

static void visit_function_name(struct walk *w, CXCursor function, size_t offset)
{
	static const char prefix[] = "weft_tame_untranslated_";
	const char *name = tame_name(function);
	int mark = tame_mark_of(function);

	if (strncmp(name, prefix, sizeof prefix - 1) == 0) {
		const char *word = name + sizeof prefix - 1;

		visit_marker(w, word, offset);
		if (strcmp(word, "tfork") == 0)
			visit_fork(w, offset);
		return;
	}
	if (w->f->kind == 't' && mark == 'w')
		*ADD(w->f->waitings, w->f->waiting_count) =
			(struct waiting){ offset, tame_written(offset, name) };
	if (w->f->kind == 't' && mark == 'h' && !in_fork(w, offset))
		tame_error(offset,
			   "'%s' is 'threaded': called from the tamed function '%s' it "
			   "would block the event loop; call it by 'tfork(event, %s(...))'",
			   name, w->f->name, name);
	if (strcmp(name, "alloca") == 0 || strncmp(name, "__builtin_alloca", 16) == 0)
		*ADD(w->f->allocas, w->f->alloca_count) = offset;
}

void tame_visit_name(CXCursor c, struct walk *w)
{
	CXCursor to = clang.getCursorReferenced(c);
	size_t offset = tame_offset(c);
	struct variable *v = NULL;

	if (to.kind == CXCursor_FunctionDecl) {
		visit_function_name(w, to, offset);
	} else if (to.kind == CXCursor_EnumConstantDecl) {
		for (size_t i = 0; i < w->f->constant_count; i++)
			if (clang.equalCursors(w->f->constants[i].cursor, to))
				*ADD(w->f->constant_references, w->f->constant_reference_count) =
					(struct constant_reference){ offset, i };
	} else {
		v = tame_variable(w->f, to);
	}
	if (v == NULL) {
		tame_know(w, offset);
		return;
	}
	*ADD(w->f->references, w->f->reference_count) = (struct reference){ offset, v, w->in_type };
}

/* Whose address may be given away, to be used when it is gone. */
void tame_visit_address(CXCursor c, struct walk *w)
{
	CXCursor of = tame_first_child(c);
	struct variable *v;

	if (of.kind != CXCursor_DeclRefExpr)
		return;
	v = tame_variable(w->f, clang.getCursorReferenced(of));
	if (v == NULL || w->wait == NULL || v->scope->wait != w->wait || v->is_static ||
	    v->scope->range.begin == w->wait->body.begin)
		return;
	*ADD(w->f->addresses, w->f->address_count) =
		(struct address){ tame_extent(c).begin, v, w->call };
}

void tame_visit_type_name(CXCursor c, struct walk *w)
{
	rename_type(w, clang.getCursorReferenced(c), tame_offset(c));
	tame_know(w, tame_offset(c));
}
