/* signals.h - waiting for signals, with a stack or without. */
#ifndef WF_SIGNALS_H
#define WF_SIGNALS_H

#include <signal.h>

#include "threads/wait.h"

/* Waits for one signal of a set. */
struct wf_signal_wait {
	struct wf_waiter waiter;
	sigset_t set;
	int signo; /* the one that came */
};

/* Catches the signals, and takes one that was kept: its number. 0: there is none, and w, whose
 * waiter and set were filled in, is in the list until it is woken. Or an error. */
int wf_signal_begin(struct wf_signal_wait *w);

/* Takes w off the list: false if a signal was given to it, and it is woken. */
bool wf_signal_stop(struct wf_signal_wait *w);

/* A signal was given to one who does not want it any more: the next gets it. */
void wf_signal_put_back(int signo);

#endif
