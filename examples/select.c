/* select.c - takes orders, ships parcels and hears of the end, whichever comes first. */
#include <stdio.h>

#include <weft/weft.h>

enum { ORDERS = 50 };

WEFT_CHANNEL(parcels, int);

static parcels *orders, *shipped;
static weft_channel *quit; /* of no bytes: only to be closed */

static int customer(void *unused)
{
	int parcel, sum = 0;

	for (int i = 1; i <= ORDERS; i++)
		parcels_send(orders, i);
	for (int i = 1; i <= ORDERS; i++)
		if (parcels_receive(shipped, &parcel) == 0)
			sum += parcel;
	(void)unused;
	printf("the customer got parcels for %d\n", sum);
	return weft_channel_close(quit);
}

static int app(void *unused)
{
	int parcel, waiting[ORDERS], first = 0, last = 0;
	weft_case cases[3];

	orders = parcels_new(0);
	shipped = parcels_new(0);
	quit = weft_channel_new(0, 0);
	if (orders == NULL || shipped == NULL || quit == NULL)
		return -1;
	weft_go_on(weft_color_new(), customer, unused);
	cases[0] = parcels_case_receive(orders, &parcel);
	cases[2] = weft_case_receive(quit, NULL);
	for (;;) {
		/* Nothing to ship: a case without a channel never happens. */
		cases[1] = parcels_case_send(first < last ? shipped : NULL, &waiting[first]);
		switch (weft_select(cases, 3)) {
		case 0:
			waiting[last++] = parcel;
			break;
		case 1:
			first++;
			break;
		default: /* quit is closed */
			printf("%d orders, %d shipped\n", last, first);
			return 0;
		}
	}
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
