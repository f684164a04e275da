/* choice.c - a call that waits for one channel, or for whichever of several comes
 * first: how it waits, and is cancelled.
 */
#include "threads/channel.h"
#include "threads/shm.h"

/* Takes a claimed choice off the channels where it is still listed. */
static void unlist(struct wf_choice *choice)
{
	for (size_t i = 0; i < choice->count; i++) {
		weft_case *c = &choice->cases[i];
		weft_channel *ch = c->channel;
		struct wf_pass pass;
		bool forsaken;

		if (c == choice->chosen || ch == NULL)
			continue;
		wf_pass_enter(&pass, ch);
		if (c->listed_)
			wf_case_remove(c->sends ? &ch->senders : &ch->receivers, c);
		forsaken = WF_UNLIKELY(ch->shm != NULL) && wf_shm_forsaken(ch);
		wf_pass_leave(ch, &pass);
		if (forsaken)
			wf_shm_call_off(ch->shm);
	}
}

/* A deadline or a cancelled scope. Who comes second finds the choice claimed, and
 * must not touch its channels: they may be gone. */
void wf_choice_cancel(struct wf_wait *wait)
{
	struct wf_choice *choice = WF_CONTAINER(wait, struct wf_choice, waiter.wait);

	if (!wf_choice_claim(choice, WF_HOME_LOCKED))
		return;
	unlist(choice);
	wf_waiter_wake(&choice->waiter);
}

bool wf_channel_stop(struct wf_choice *choice)
{
	if (!wf_choice_claim(choice, WF_HOME_LOCKED))
		return false;
	unlist(choice);
	return true;
}

int wf_choice_wait(struct wf_choice *choice, uint64_t deadline, const char *where)
{
	wf_waiter_sleep(&choice->waiter, deadline, where);
	if (choice->chosen == NULL)
		return choice->waiter.wait.error;
	if (choice->count > 1)
		unlist(choice);
	return (int)(choice->chosen - choice->cases);
}
