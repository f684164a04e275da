/* plain.c - real functions for public calls that are macros, so that a program can take their
 * address. A call by name uses the macro, which adds the caller's file and line.
 */
#include <weft/tame_lock.h>

#include "base/report.h"

int(weft_tame_lock_fini)(weft_tame_lock *l)
{
	return weft_tame_lock_fini_at(l, WF_NO_PLACE);
}

int(weft_unlock)(weft_tame_lock *l)
{
	return weft_unlock_at(l, WF_NO_PLACE);
}

int(weft_trylock)(weft_tame_lock *l)
{
	return weft_trylock_at(l, WF_NO_PLACE);
}

int(weft_trylock_shared)(weft_tame_lock *l)
{
	return weft_trylock_shared_at(l, WF_NO_PLACE);
}
