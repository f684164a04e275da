/* Homes: an object is its first color's, with plain loads and stores, until another
 * comes; then it is everybody's, and nothing is lost on the way.
 */
#include "threads/sync.h"

#include "platform/membarrier.h"

static struct wf_home home;
static long plain; /* guarded by home */

static void touch(void)
{
	enum wf_home_how how = wf_home_enter(&home);

	plain++;
	wf_home_leave(&home, how);
}

static int touch_thread(void *unused)
{
	(void)unused;
	touch();
	return 0;
}

static int use_at_home(void *unused)
{
	(void)unused;
	touch();
	CHECK_EQ(join(start(touch_thread, NULL)), 0);
	CHECK_EQ(wf_home_enter(&home), WF_HOME_OWN);
	CHECK_EQ(home.inside, 1);
	wf_home_leave(&home, WF_HOME_OWN);
	CHECK_EQ(home.inside, 0);
	CHECK_EQ(home.lock, 0);
	CHECK(home.color == wf_home_name(WEFT_MAIN));
	return 0;
}

TEST(an_object_is_at_home_in_the_color_that_first_uses_it)
{
	CHECK(wf_membarrier_works);
	run_with(2, use_at_home);
	CHECK_EQ(plain, 2);
}

static int use_elsewhere(void *unused)
{
	(void)unused;
	touch();
	many_colors = true;
	CHECK_EQ(join(start(touch_thread, NULL)), 0);
	CHECK(home.color == WF_HOME_SHARED);
	CHECK_EQ(wf_home_enter(&home), WF_HOME_LOCKED);
	CHECK_EQ(home.lock, 1);
	wf_home_leave(&home, WF_HOME_LOCKED);
	CHECK_EQ(home.lock, 0);
	return 0;
}

TEST(a_second_color_makes_it_everybodys)
{
	run_with(2, use_elsewhere);
	CHECK_EQ(plain, 2);
}

static int use_once(void *unused)
{
	(void)unused;
	touch();
	return 0;
}

TEST(without_a_runtime_a_home_of_an_earlier_run_ends)
{
	run_with(2, use_once);
	touch();
	CHECK(home.color == WF_HOME_SHARED);
	CHECK_EQ(plain, 2);
}

TEST(where_the_kernel_offers_no_barrier_nothing_has_a_home)
{
	wf_membarrier_works = false;
	run_with(2, use_once);
	CHECK(home.color == WF_HOME_SHARED);
}

static void touch_in_handler(void *unused)
{
	(void)unused;
	CHECK(weft_self() == NULL);
	touch();
}

static int post_touch(void *unused)
{
	(void)unused;
	touch();
	CHECK_EQ(weft_post(WEFT_MAIN, touch_in_handler, NULL), 0);
	CHECK_EQ(weft_post_shared(WEFT_MAIN, touch_in_handler, NULL), 0);
	CHECK_EQ(weft_post_shared(WEFT_MAIN, touch_in_handler, NULL), 0);
	return 0;
}

TEST(a_plain_handler_never_counts_as_being_at_home)
{
	run_with(2, post_touch);
	CHECK(home.color == WF_HOME_SHARED);
	CHECK_EQ(plain, 4);
}

/* New objects, over and over, that are at home in one color while others come. */
enum { STRANGERS = 3, OBJECTS = 64 };
static struct {
	struct wf_home home;
	long plain;
} objects[OBJECTS];
static atomic_long round_now;
static atomic_int done;
static atomic_int next; /* where a stranger is going */
static long rounds;

/* Now and then long enough for another CPU to come in between, if it could. */
static void increment(int i, int pauses)
{
	enum wf_home_how how = wf_home_enter(&objects[i].home);
	long was = *(volatile long *)&objects[i].plain;

	while (pauses-- > 0)
		wf_relax();
	*(volatile long *)&objects[i].plain = was + 1;
	wf_home_leave(&objects[i].home, how);
}

static void stranger(void)
{
	for (long r = 1; r <= rounds; r++) {
		YIELD_UNTIL(atomic_load(&round_now) >= r);
		for (int i = 0; i < OBJECTS; i++) {
			atomic_store(&next, i);
			increment(i, i % 2 ? 0 : 20);
		}
		atomic_fetch_add(&done, 1);
	}
}

static int strange_thread(void *unused)
{
	(void)unused;
	stranger();
	return 0;
}

static void strange_kernel_thread(void *unused)
{
	(void)unused;
	stranger();
}

static int race_for_homes(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign foreign;

	(void)unused;
	rounds = races() / 40;
	for (int i = 0; i < STRANGERS - 1; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), strange_thread, NULL), 0);
	foreign_start(&foreign, strange_kernel_thread, NULL);
	for (long r = 1; r <= rounds; r++) {
		long mine = (long)random_below(&seed, 10000), total = 0;

		for (int i = 0; i < OBJECTS; i++) {
			objects[i].home = (struct wf_home){ wf_home_name(WEFT_MAIN), 0, 0 };
			objects[i].plain = 0;
		}
		atomic_store(&done, 0);
		atomic_store(&round_now, r);
		for (long i = 0; i < mine; i++)
			increment(atomic_load(&next), r % 2 ? 0 : 50);
		YIELD_UNTIL(atomic_load(&done) == STRANGERS);
		for (int i = 0; i < OBJECTS; i++)
			total += objects[i].plain;
		CHECK_EQ(total, mine + OBJECTS * STRANGERS);
	}
	foreign_join(&foreign);
	return 0;
}

TEST(nothing_is_lost_while_a_home_ends)
{
	run_with(2, race_for_homes);
}

static struct wf_home homes[20000];

static int visit_all(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < WF_COUNT(homes); i++)
		wf_home_leave(&homes[i], wf_home_enter(&homes[i]));
	return 0;
}

/* Each is made in one color and used in another. */
static int make_and_pass_on(void *unused)
{
	size_t shared_at_once = 0;

	(void)unused;
	for (size_t i = 0; i < WF_COUNT(homes); i += 2) {
		wf_home_leave(&homes[i], wf_home_enter(&homes[i]));
		shared_at_once += homes[i].color == WF_HOME_SHARED;
		CHECK_EQ(weft_hop(1 + i), 0);
		wf_home_leave(&homes[i], wf_home_enter(&homes[i]));
		CHECK(homes[i].color == WF_HOME_SHARED);
	}
	CHECK(shared_at_once > WF_COUNT(homes) / 4);
	CHECK_EQ(visit_all(NULL), 0);
	return 0;
}

TEST(where_homes_always_end_few_are_made)
{
	run_with(1, make_and_pass_on);
}

TEST_MAIN
