/* own_header.h - what own_header.tame.c includes. */
#include "odd.h"

#include <weft/tame.h>
