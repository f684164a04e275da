/* weft/weft.h - all of Weft.
 *
 * Everything is a colored event: a function that is ready to run, and a color.
 * Events of one color run one at a time and in order; events of different
 * colors run in parallel, on all cores. Calls return 0 or a count, or -Exxx;
 * none sets errno.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/blocking.h>
#include <weft/channel.h>
#include <weft/event.h>
#include <weft/io.h>
#include <weft/observe.h>
#include <weft/run.h>
#include <weft/scope.h>
#include <weft/sync.h>
#include <weft/thread.h>
#include <weft/time.h>

#endif
