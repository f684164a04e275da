#include <weft/tame.h>

tamed int length(int fd, event() done); /* error:7: tamed function 'length' cannot return 'int', .*'threaded int' */
static tamed struct sum *sum_up(int n); /* error:14: tamed .* give it an 'event(struct sum \*)' and trigger */
tamed void none(void);			/* error:7: 'tamed' says already that 'none' returns nothing: leave out 'void' */
static tamed __attribute__((unused)) fine(int (*tamed_)(int));
tamed inline fine(int (*n)(int));
