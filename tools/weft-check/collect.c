/* collect.c - notes the functions of a unit: what they promise, and their bodies. */
#include <string.h>

#include "check.h"

struct function **functions;
size_t function_count;

enum { BUCKETS = 4096 };
static struct bucket {
	struct function **functions;
	size_t count;
} buckets[BUCKETS];

static int look_for_mark(CXCursor child, CXCursor parent, void *arg)
{
	struct marks *m = arg;
	const char *name;

	(void)parent;
	if (child.kind != CXCursor_AnnotateAttr)
		return CXVisit_Continue;
	name = check_name(child);
	m->waits |= strcmp(name, "weft_waits") == 0;
	m->no_wait |= strcmp(name, "weft_no_wait") == 0;
	m->tamed |= strcmp(name, "weft_tamed") == 0;
	m->threaded |= strcmp(name, "weft_threaded") == 0;
	return CXVisit_Continue;
}

struct marks check_marks(CXCursor declaration)
{
	struct marks m = { 0 };

	clang.visitChildren(declaration, look_for_mark, &m);
	return m;
}

bool check_is_function(CXCursor declaration)
{
	return declaration.kind == CXCursor_FunctionDecl ||
	       (declaration.kind >= CXCursor_CXXMethod &&
		declaration.kind <= CXCursor_ConversionFunction &&
		declaration.kind != CXCursor_Namespace && declaration.kind != CXCursor_LinkageSpec);
}

/* The key of a static function has its file: libclang's name has only the last part of that. */
static const char *key_of(CXCursor c)
{
	const char *usr = tame_string(clang.getCursorUSR(c));

	if (clang.getCursorLinkage(c) == CXLinkage_External)
		return usr;
	return tame_format("%s %s", check_place(clang.getCursorLocation(c)).file, usr);
}

static struct bucket *bucket_of(const char *key)
{
	size_t hash = 5381;

	for (const char *k = key; *k != '\0'; k++)
		hash = hash * 33 + (unsigned char)*k;
	return &buckets[hash % BUCKETS];
}

static bool is_foreign(CXCursor c, const char *file)
{
	return clang.Location_isInSystemHeader(clang.getCursorLocation(c)) &&
	       strstr(file, "/weft/") == NULL;
}

/* A function of Weft's headers waits if it has the attribute, whatever its body does: the body is
 * read only where Weft itself is checked. */
static bool is_of_weft(CXCursor c, const struct function *f)
{
	return strncmp(f->name, "weft_", 5) == 0 && strstr(f->place.file, "weft/") != NULL &&
	       strstr(f->place.file, ".h") != NULL &&
	       clang.getCursorLinkage(c) == CXLinkage_External;
}

static struct function *new_function(const char *key, CXCursor c)
{
	struct function *f = tame_alloc(sizeof *f);

	f->key = key;
	f->name = check_name(c);
	f->type = check_type(clang.getCursorType(c));
	f->place = check_place(clang.getCursorLocation(c));
	f->foreign = is_foreign(c, f->place.file);
	return *ADD(functions, function_count) = f;
}

struct function *check_function(CXCursor c)
{
	const char *key = key_of(c);
	struct bucket *b = bucket_of(key);

	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->functions[i]->key, key) == 0)
			return b->functions[i];
	return *ADD(b->functions, b->count) = new_function(key, c);
}

static bool has_body_of(const struct function *f, const char *file)
{
	for (size_t i = 0; i < f->body_count; i++)
		if (strcmp(f->bodies[i]->place.file, file) == 0)
			return true;
	return false;
}

/* Arguments of callers go into the parameters of the definition. */
static void take_parameters(struct function *f, CXCursor c)
{
	int count = clang.Cursor_getNumArguments(c);

	for (int i = 0; i < count; i++) {
		CXCursor parameter = clang.Cursor_getArgument(c, (unsigned)i);
		struct slot *s = check_slot(parameter);

		if (s == NULL)
			continue;
		s->owner = f;
		*ADD(s->from, s->from_count) =
			check_parameter(f, (size_t)i, clang.getCursorType(parameter));
	}
}

static void add_body(struct function *f, CXCursor c, struct source *s)
{
	struct place where = check_place(clang.getCursorLocation(c));
	struct body *body;

	if (has_body_of(f, where.file))
		return;
	body = tame_alloc(sizeof *body);
	body->function = f;
	body->source = s;
	body->place = where;
	*ADD(f->bodies, f->body_count) = body;
	take_parameters(f, c);
	check_walk(c, body);
}

/* System headers declare thousands of functions: those that are called are noted at the call. */
static void add_promise(struct function *f, const struct source *s)
{
	f->no_wait = true;
	if (f->promised_count == 0 || f->promised_by[f->promised_count - 1] != s)
		*ADD(f->promised_by, f->promised_count) = s;
}

static void look_at_function(CXCursor c, struct source *s)
{
	struct function *f;
	struct marks marks;

	if (is_foreign(c, check_place(clang.getCursorLocation(c)).file))
		return;
	f = check_function(c);
	marks = check_marks(c);
	f->waits |= marks.waits;
	if (marks.no_wait)
		add_promise(f, s);
	f->tamed |= marks.tamed;
	f->of_weft |= is_of_weft(c, f);
	if (clang.isCursorDefinition(c))
		add_body(f, c, s);
}

static int look_at(CXCursor c, CXCursor parent, void *arg)
{
	(void)parent;
	if (check_is_function(c))
		look_at_function(c, arg);
	else if (c.kind == CXCursor_VarDecl)
		check_walk(c, NULL);
	else if (c.kind == CXCursor_UnexposedDecl || c.kind == CXCursor_StructDecl ||
		 c.kind == CXCursor_ClassDecl || c.kind == CXCursor_Namespace ||
		 c.kind == CXCursor_LinkageSpec)
		clang.visitChildren(c, look_at, arg);
	return CXVisit_Continue;
}

void check_collect(CXCursor unit, struct source *s)
{
	clang.visitChildren(unit, look_at, s);
}
