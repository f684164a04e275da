/* primitives.h - code as weft-tame makes it, written by hand once: a threaded function with one
 * twait block and one rendezvous, and events of the types that primitives have.
 *
 *	struct fn f;
 *	ssize_t n;
 *
 *	fn_begin(&f);
 *	BLOCK (&f)                              twait { weft_read_ev(..., mkevent(n)); }
 *		weft_read_ev(..., in_size(&f, &n));
 *	weft_read_ev(..., of_size(&f, 7, &n));  weft_read_ev(..., mkevent(r, 7, n));
 *	CHECK_EQ(next(&f), 7);                  twait(r, i);
 *	cancel(&f);                             rv_cancel(r);
 *	fn_end(&f);
 */
#ifndef TESTS_TAME_PRIMITIVES_H
#define TESTS_TAME_PRIMITIVES_H

#include "threads/blocking.h"
#include "threads/common.h"

#include <netinet/in.h>

#include <weft/tame_code.h>
#include <weft/tame_events.h>
#include <weft/tame_lock.h>

struct fn {
	weft_tame_thread_closure t;
	weft_tame_rendezvous r;
	uint32_t join;
};

static const weft_tame_function fn_function = { .name = "f", .where = "test.tame.c:1" };
static const weft_tame_rendezvous_site fn_site = { .where = "test.tame.c:2", .name = "r" };

static inline void fn_begin(struct fn *f)
{
	weft_tame_thread_enter(&f->t, &fn_function);
	weft_tame_rendezvous_init(&f->r, &f->t.c, &fn_site);
}

static inline void fn_end(struct fn *f)
{
	weft_tame_thread_leave(&f->t);
}

static inline int next(struct fn *f)
{
	int id;

	weft_tame_thread_next(&f->t, &f->r, &id, sizeof id);
	return id;
}

static inline void cancel(struct fn *f)
{
	weft_tame_rendezvous_cancel(&f->r);
}

/* Whether an event of the rendezvous was triggered that next has not told of. */
static inline bool has_next(const struct fn *f)
{
	return f->r.fired_ != NULL;
}

static inline bool block_begin(struct fn *f)
{
	weft_tame_thread_block(&f->t, &f->join);
	return true;
}

static inline bool block_end(struct fn *f)
{
	weft_tame_thread_join(&f->t, &f->join);
	return false;
}

#define BLOCK(f) for (bool block_ = block_begin(f); block_; block_ = block_end(f))

/* Events of up to two values. */
#define EVENT_TYPE(name, has_a, type_a, has_b, type_b, params, set) \
	typedef WEFT_EVENT params name##_event; \
	struct name##_values { \
		type_a a; \
		type_a *to_a; \
		type_b b; \
		type_b *to_b; \
	}; \
	struct in_##name { \
		weft_tame_event_apart e; \
		struct name##_values v; \
	}; \
	struct of_##name { \
		weft_tame_event_of_rendezvous e; \
		struct name##_values v; \
		int id; \
	}; \
	static inline void name##_give(struct name##_values *v) \
	{ \
		if (has_a && v->to_a != NULL) \
			*v->to_a = v->a; \
		if (has_b && v->to_b != NULL) \
			*v->to_b = v->b; \
	} \
	static inline void in_##name##_deliver(void *e) \
	{ \
		name##_give(&((struct in_##name *)e)->v); \
	} \
	static inline void of_##name##_deliver(void *e) \
	{ \
		name##_give(&((struct of_##name *)e)->v); \
	} \
	static const weft_tame_site in_##name##_site UNUSED = { \
		.where = "test.tame.c:3", \
		.text = "mkevent(" #name ")", \
		.function = "f", \
		.deliver = in_##name##_deliver, \
		.kind = WEFT_TAME_APART, \
		.size = sizeof(struct in_##name), \
		.join = offsetof(struct fn, join), \
	}; \
	static const weft_tame_site of_##name##_site UNUSED = { \
		.where = "test.tame.c:4", \
		.text = "mkevent(r, " #name ")", \
		.function = "f", \
		.deliver = of_##name##_deliver, \
		.kind = WEFT_TAME_OF_RENDEZVOUS, \
		.size = sizeof(struct of_##name), \
		.id = offsetof(struct of_##name, id), \
		.id_size = sizeof(int), \
	}; \
	set(in_##name) set(of_##name)

#define SET_NONE(name) \
	static inline void name##_trigger(weft_tame_event *e) \
	{ \
		weft_tame_trigger(e); \
	}
#define SET_ONE(name) \
	static inline void name##_trigger(weft_tame_event *e, SET_TYPE a) \
	{ \
		((struct name *)e)->v.a = a; \
		weft_tame_trigger(e); \
	}
#define SET_TWO(name) \
	static inline void name##_trigger(weft_tame_event *e, int a, SET_TYPE b) \
	{ \
		((struct name *)e)->v.a = a; \
		((struct name *)e)->v.b = b; \
		weft_tame_trigger(e); \
	}

#define MAKE_NONE(name) \
	static inline name##_event in_##name##_(struct fn *f) \
	{ \
		return weft_tame_event_new(&f->t.c, &in_##name##_site, \
					   (void (*)(void))in_##name##_trigger); \
	} \
	static inline name##_event of_##name##_(struct fn *f, int id) \
	{ \
		struct of_##name *e = \
			weft_tame_rendezvous_event(&f->r, &f->t.c, &of_##name##_site, \
						   (void (*)(void))of_##name##_trigger); \
\
		e->id = id; \
		return (name##_event)(void *)e; \
	}
#define MAKE(name, type_a, type_b) \
	static inline name##_event in_##name(struct fn *f, type_a *a, type_b *b) \
	{ \
		struct in_##name *e = weft_tame_event_new(&f->t.c, &in_##name##_site, \
							  (void (*)(void))in_##name##_trigger); \
\
		e->v.to_a = a; \
		e->v.to_b = b; \
		return (name##_event)(void *)e; \
	} \
	static inline name##_event of_##name(struct fn *f, int id, type_a *a, type_b *b) \
	{ \
		struct of_##name *e = \
			weft_tame_rendezvous_event(&f->r, &f->t.c, &of_##name##_site, \
						   (void (*)(void))of_##name##_trigger); \
\
		e->v.to_a = a; \
		e->v.to_b = b; \
		e->id = id; \
		return (name##_event)(void *)e; \
	}

EVENT_TYPE(none, false, char, false, char, (), SET_NONE)
MAKE_NONE(none)
#define SET_TYPE int
EVENT_TYPE(int, true, int, false, char, (int), SET_ONE)
MAKE(int, int, char)
#undef SET_TYPE
#define SET_TYPE ssize_t
EVENT_TYPE(size, true, ssize_t, false, char, (ssize_t), SET_ONE)
MAKE(size, ssize_t, char)
#undef SET_TYPE
#define SET_TYPE struct in_addr
EVENT_TYPE(ip, true, struct in_addr, false, char, (struct in_addr), SET_ONE)
MAKE(ip, struct in_addr, char)
#undef SET_TYPE
#define SET_TYPE int
EVENT_TYPE(two, true, int, true, int, (int, int), SET_TWO)
MAKE(two, int, int)
#undef SET_TYPE
#define SET_TYPE struct sockaddr_storage
EVENT_TYPE(sock, true, int, true, struct sockaddr_storage, (int, struct sockaddr_storage), SET_TWO)
MAKE(sock, int, struct sockaddr_storage)
#undef SET_TYPE
#define SET_TYPE struct sockaddr_storage *
EVENT_TYPE(socks, true, int, true, struct sockaddr_storage *, (int, struct sockaddr_storage *),
	   SET_TWO)
MAKE(socks, int, struct sockaddr_storage *)
#undef SET_TYPE

#define in_none(f) in_none_(f)
#define of_none(f, id) of_none_(f, id)
#define in_int(f, a) in_int(f, a, NULL)
#define of_int(f, id, a) of_int(f, id, a, NULL)
#define in_size(f, a) in_size(f, a, NULL)
#define of_size(f, id, a) of_size(f, id, a, NULL)
#define in_ip(f, a) in_ip(f, a, NULL)
#define of_ip(f, id, a) of_ip(f, id, a, NULL)

/* Lets everything run that is queued in this color now, and what that posts here. */
static inline void settle(void)
{
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_yield(), 0);
}

#endif
