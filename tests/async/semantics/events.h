/* events.h - sends and receives by events, of threaded and tamed functions. */
#ifndef TESTS_ASYNC_SEMANTICS_EVENTS_H
#define TESTS_ASYNC_SEMANTICS_EVENTS_H

#include <weft/channel.h>

#include "async/semantics/program.h"

/* Sends or receives the message, in the way named, and waits for that: as weft_channel_send and
 * weft_channel_receive. gives_up: as if a tamed function that is asked to end forgot what has
 * come. */
int operate_by_event(enum way by, weft_channel *ch, bool sends, int *message, bool gives_up);

#endif
