/* plain.c - real functions for public calls that are macros, so that a program can take their
 * address. A call by name uses the macro, which adds the caller's file and line.
 */
#include <weft/scope.h>

#include "base/report.h"

void(weft_scope_begin)(weft_scope *s)
{
	weft_scope_begin_at(s, WF_NO_PLACE);
}

void(weft_shield_begin)(weft_scope *s)
{
	weft_shield_begin_at(s, WF_NO_PLACE);
}
