/* Compound literals behind _Generic and __extension__. */
#include "odd.h"
#include <weft/tame.h>

static const struct odd_pair *keep_[4];
static const struct odd_pair *id(const struct odd_pair *p) { return p; }
static tamed literals_in_generic(event(int) done)
{
	int t = 0;
	for (int i = 0; i < 2; i++) {
		const struct odd_pair *p = id(&(struct odd_pair){ i, 2 * i });
		char *s = (char[]){ 'a', 'b', 0 };
		int (*m)[2] = (int[2][2]){ { i, 1 }, { 2, 3 } };
		int *v = *(int[2][2]){ { i, 1 }, { 2, 3 } };
		int n; twait { later(1, mkevent(n)); }
		t += p->a * 10 + p->b + (s[1] == 'b') * 100 + m[1][1] * 1000 + v[1] * 100000;
	}
	trigger(done, t);
}
ODD(literals_in_generic, 12 + 200 + 6000 + 200000)
