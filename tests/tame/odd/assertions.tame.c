/* assert, that is kept. */
/* flags: -UNDEBUG */
#include "odd.h"

#include <assert.h>

#include <weft/tame.h>

#include "assertions.inc"
ODD(asserted, 3)
