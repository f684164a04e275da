/* weft/tame.h by a header of the user's, whose name is a macro; #import and #include_next. */
/* flags: -Wno-deprecated -Wno-pedantic -Wno-import-preprocessor-directive-pedantic */
#define OWN "own_header.h"
#include OWN
#import "own_header_words.inc"
#import "own_header_words.inc"

own_tamed own_words(own_event done)
{
	int got;

	own_wait {
		later(5, own_make(got));
	}
	own_tell(done, got + OWN_TIMES);
}
ODD(own_words, 6)
