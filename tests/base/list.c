/* The doubly linked list, against a naive array. */
#include "base/list.h"

#include "harness/test.h"

enum { ITEMS = 16 };

static struct wf_link items[ITEMS];

/* The list holds exactly order[0 .. n), both ways. */
static void check_order(struct wf_link *head, const int *order, int n)
{
	struct wf_link *link = head;

	CHECK_EQ(wf_list_empty(head), n == 0);
	for (int i = 0; i < n; i++) {
		CHECK(link->next->prev == link);
		link = link->next;
		CHECK_EQ(link - items, order[i]);
	}
	CHECK(link->next == head);
	CHECK(head->prev == link);
}

TEST(a_list_keeps_the_order_in_which_things_were_appended)
{
	uint64_t seed = TEST_SEED;
	struct wf_link head;
	int order[ITEMS], n = 0;
	bool listed[ITEMS] = { false };

	wf_list_init(&head);
	for (int step = 0; step < 20000; step++) {
		int i = (int)(test_random(&seed) % ITEMS);

		if (!listed[i]) {
			wf_list_append(&head, &items[i]);
			order[n++] = i;
		} else {
			int at = 0;

			wf_list_remove(&items[i]);
			while (order[at] != i)
				at++;
			for (n--; at < n; at++)
				order[at] = order[at + 1];
		}
		listed[i] = !listed[i];
		check_order(&head, order, n);
	}
}

TEST_MAIN
