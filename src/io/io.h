/* io.h - the door of io: how every kernel wait becomes an event.
 *
 * The scheduler reaches io by the table wf_pollers (scheduler/poller.h); the
 * layers above use the public calls of weft/io.h.
 */
#ifndef WF_IO_H
#define WF_IO_H

#include <weft/io.h>

#include "scheduler/poller.h"

#endif
