/* Sends and receives by events. The functions are written as weft-tame makes them, as these tests are
 * built without it, too.
 */
#include "async/semantics/events.h"

#include "tame/primitives.h"

struct operation {
	weft_channel *ch;
	bool sends, gives_up;
	int *message;
};

static void begin(const struct operation *o, int_event e)
{
	if (o->sends)
		weft_channel_send_ev(o->ch, o->message, e);
	else
		weft_channel_receive_ev(o->ch, o->message, e);
}

/* tamed pass(struct operation o, bool listens, event(int) done)
 * {
 *	rendezvous(int) r;
 *	int id, rc;
 *	if (listens)
 *		weft_tell_cancel(done, mkevent(r, ASKED));
 *	begin(&o, mkevent(r, CAME, rc));
 *	twait(r, id);
 *	if (id == ASKED) {
 *		rv_stop(r);
 *		twait(r, id);
 *	}
 *	trigger(done, rc);
 * }
 */
enum { ASKED, CAME };

struct pass {
	weft_tame_closure c;
	struct operation o;
	bool listens, asked;
	int_event done;
	weft_tame_rendezvous r;
	int id, rc;
};

static void pass_body(void *closure);
static void pass(const struct operation *o, bool listens, int_event done);

static const weft_tame_wait_point pass_waits[] = { { "pass.tame.c:8", "twait(r, id)", NULL },
						   { "pass.tame.c:11", "twait(r, id)", NULL } };
static const weft_tame_function pass_function = {
	.name = "pass",
	.where = "pass.tame.c:1",
	.body = pass_body,
	.entry = (void (*)(void))pass,
	.waits = pass_waits,
	.wait_count = 2,
	.size = sizeof(struct pass),
};
static const weft_tame_rendezvous_site pass_site = { "pass.tame.c:3", "r" };

static void pass(const struct operation *o, bool listens, int_event done)
{
	struct pass *p = (struct pass *)weft_tame_enter(&pass_function);

	CHECK(p != NULL);
	p->o = *o;
	p->listens = listens;
	p->done = done;
	if (weft_tame_begins(&p->c))
		pass_body(&p->c);
}

static none_event pass_note(struct pass *p)
{
	struct of_none *e = weft_tame_rendezvous_event(&p->r, &p->c, &of_none_site,
						       (void (*)(void))of_none_trigger);

	e->id = ASKED;
	return (none_event)(void *)e;
}

static int_event pass_event(struct pass *p)
{
	struct of_int *e = weft_tame_rendezvous_event(&p->r, &p->c, &of_int_site,
						      (void (*)(void))of_int_trigger);

	e->id = CAME;
	e->v.to_a = &p->rc;
	e->v.to_b = NULL;
	return (int_event)(void *)e;
}

static bool pass_next(struct pass *p, uint32_t state)
{
	p->c.state_ = state;
	return weft_tame_next(&p->r, &p->c, &p->id, sizeof p->id);
}

static void pass_body(void *closure)
{
	struct pass *p = closure;

	if (p->c.state_ == 0) {
		p->asked = false;
		weft_tame_rendezvous_init(&p->r, &p->c, &pass_site);
		if (p->listens)
			weft_tell_cancel(p->done, pass_note(p));
		begin(&p->o, pass_event(p));
	}
	if (p->c.state_ < 2 && !pass_next(p, 1))
		return;
	if (p->id == ASKED && !p->asked) {
		p->asked = true;
		weft_tame_rendezvous_stop(&p->r);
	}
	if (p->id == ASKED && !pass_next(p, 2))
		return;
	weft_trigger(p->done, p->asked && p->o.gives_up ? -ECANCELED : p->rc);
	weft_tame_leave(&p->c);
}

/* tfork(e, call(&o)), of a function that waits as threads do. */
struct forked {
	weft_tame_fork h;
	int_event event;
	struct operation o;
	int result;
};

static void forked_call(weft_tame_fork *h)
{
	struct forked *k = (struct forked *)h;

	k->result = k->o.sends ? weft_channel_send(k->o.ch, k->o.message)
			       : weft_channel_receive(k->o.ch, k->o.message);
}

static void forked_done(weft_tame_fork *h)
{
	struct forked *k = (struct forked *)h;

	weft_trigger(k->event, k->result);
}

static void start_forked(const struct operation *o, int_event e)
{
	struct forked *k = weft_tame_fork_new(sizeof *k, true);

	k->h.call = forked_call;
	k->h.done = forked_done;
	k->event = e;
	k->o = *o;
	weft_tame_fork_start(&k->h);
}

/* twait { ...mkevent(rc)... } */
static void in_block(enum way by, const struct operation *o, int_event e)
{
	if (by == BY_BLOCK)
		begin(o, e);
	else if (by == BY_FORK)
		start_forked(o, e);
	else
		pass(o, by == BY_CHILD, e);
}

int operate_by_event(enum way by, weft_channel *ch, bool sends, int *message, bool gives_up)
{
	struct operation o = { ch, sends, gives_up, message };
	struct fn f;
	int rc = 1;

	fn_begin(&f);
	if (by == BY_NEXT) {
		begin(&o, of_int(&f, CAME, &rc));
		CHECK_EQ(next(&f), CAME);
	} else {
		BLOCK (&f)
			in_block(by, &o, in_int(&f, &rc));
	}
	fn_end(&f);
	return rc;
}
