/* channels.h - what tests of channels share: runs in one color and in several, and a
 * look at who waits.
 */
#ifndef TESTS_THREADS_CHANNELS_H
#define TESTS_THREADS_CHANNELS_H

#include "common.h"
#include "threads/channel.h"

static void run_with(int workers, int (*fn)(void *), void *arg) UNUSED;
static void run_with(int workers, int (*fn)(void *), void *arg)
{
	weft_options opt = { .workers = workers };

	CHECK_EQ(weft_run(fn, arg, &opt), 0);
}

/* Where faults are counted nobody else may ask for them: neither another worker nor a stand-in. */
static void run_alone(int (*fn)(void *)) UNUSED;
static void run_alone(int (*fn)(void *))
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

/* Runs it with all threads in one color, then with each in its own. */
static void run_both(int (*fn)(void *)) UNUSED;
static void run_both(int (*fn)(void *))
{
	many_colors = false;
	run_with(2, fn, NULL);
	many_colors = true;
	run_with(2, fn, NULL);
}

/* How many wait at the channel to send or to receive. */
static unsigned waiting(weft_channel *ch, bool senders) UNUSED;
static unsigned waiting(weft_channel *ch, bool senders)
{
	enum wf_home_how how = wf_home_enter(&ch->home);
	unsigned n = 0;

	for (weft_case *c = senders ? ch->senders.first : ch->receivers.first; c != NULL;
	     c = c->next_)
		n++;
	wf_home_leave(&ch->home, how);
	return n;
}

/* One call in a thread of its own. */
struct call {
	weft_channel *ch;
	uint64_t deadline;
	int value, result;
	weft_thread *thread;
};

static int call_send(void *arg) UNUSED;
static int call_send(void *arg)
{
	struct call *c = arg;

	c->result = weft_channel_send_until(c->ch, &c->value, c->deadline);
	return c->result;
}

static int call_receive(void *arg) UNUSED;
static int call_receive(void *arg)
{
	struct call *c = arg;

	c->result = weft_channel_receive_until(c->ch, &c->value, c->deadline);
	return c->result;
}

/* Starts a call and waits until it waits, behind `before` others. */
static void start_send(struct call *c, weft_channel *ch, int value, unsigned before) UNUSED;
static void start_send(struct call *c, weft_channel *ch, int value, unsigned before)
{
	*c = (struct call){ .ch = ch, .deadline = WEFT_FOREVER, .value = value };
	c->thread = start(call_send, c);
	YIELD_UNTIL(waiting(ch, true) == before + 1);
}

static void start_receive(struct call *c, weft_channel *ch, unsigned before) UNUSED;
static void start_receive(struct call *c, weft_channel *ch, unsigned before)
{
	*c = (struct call){ .ch = ch, .deadline = WEFT_FOREVER, .value = -1 };
	c->thread = start(call_receive, c);
	YIELD_UNTIL(waiting(ch, false) == before + 1);
}

static int send_int(weft_channel *ch, int value) UNUSED;
static int send_int(weft_channel *ch, int value)
{
	return weft_channel_send(ch, &value);
}

static int try_send_int(weft_channel *ch, int value) UNUSED;
static int try_send_int(weft_channel *ch, int value)
{
	return weft_channel_try_send(ch, &value);
}

/* The next message, or an error. */
static int receive_int(weft_channel *ch) UNUSED;
static int receive_int(weft_channel *ch)
{
	int value = -1, rc = weft_channel_receive(ch, &value);

	return rc < 0 ? rc : value;
}

static int try_receive_int(weft_channel *ch) UNUSED;
static int try_receive_int(weft_channel *ch)
{
	int value = -1, rc = weft_channel_try_receive(ch, &value);

	return rc < 0 ? rc : value;
}

#endif
