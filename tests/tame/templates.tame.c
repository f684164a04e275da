/* Templates: tamed functions whose types are those of who includes them. */
#include "tame/common.h"

struct point {
	int x, y;
};

#define TAME_T struct point
#define TAME_NAME(x) x##_point
#include "first.tame.h"
#undef TAME_T
#undef TAME_NAME

#define TAME_T double
#define TAME_NAME(x) x##_double
#include "tame/first.tame.h"
#undef TAME_T
#undef TAME_NAME
#define LINE __LINE__

#define first(a, b, e) \
	_Generic((e), event(int, struct point): first_point, event(int, double): first_double)(a, b, e)

static tamed both(event(int) done)
{
	event(struct point) a, b;
	event(double) c, d;
	struct point p;
	double x;
	int i, k;

	twait {
		first(&a, &b, mkevent(i, p));
		first(&c, &d, mkevent(k, x));
		trigger(b, (struct point){ 1, 2 });
		trigger(c, 5.0);
		trigger(a, (struct point){ 3, 4 });
	}
	weft_event_drop(d);
	trigger(done, i + p.y * 10 + k * 100 + (int)x * 1000);
}

static threaded int run(void *unused)
{
	int result = 0;

	(void)unused;
	twait {
		both(mkevent(result));
	}
	return result;
}

TEST(a_template_is_translated_for_each_type)
{
	CHECK_EQ(weft_run(run, NULL, NULL), 1 + 20 + 0 + 5000);
}

TEST(lines_go_on_behind_a_template)
{
	CHECK_EQ(LINE, 61);
	CHECK(strstr(__FILE__, "templates.tame.c") != NULL);
}

TEST_MAIN
