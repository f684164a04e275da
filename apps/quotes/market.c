/* market.c - what the stock is worth: a function of the time, so that every worker quotes the
 * same price without asking another. */
#include "market.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/time.h>

/* How long a price stands; how many prices lie between two that chance has chosen; cents. */
enum { PRICE_TIME = 100 * WEFT_MS, CALM = 64, LEAST = 9000, RANGE = 2000 };

static uint64_t chance(uint64_t n)
{
	n = (n ^ n >> 31) * 0x9e3779b97f4a7c15;
	n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9;
	return (n ^ n >> 32) % RANGE;
}

static int price_of(uint64_t number)
{
	uint64_t from = chance(number / CALM), to = chance(number / CALM + 1), at = number % CALM;

	return LEAST + (int)((from * (CALM - at) + to * at) / CALM);
}

/* Name, price, how it has changed, and the number of the price. */
static void make(struct quote *q, uint64_t number)
{
	int price = price_of(number), change = price - price_of(number - 1);
	char text[96];
	int size = snprintf(text, sizeof text, "WEFT %d.%02d %+d #%" PRIu64, price / 100,
			    price % 100, change, number);

	memset(q->text, ' ', QUOTE_SIZE);
	memcpy(q->text, text, size < QUOTE_SIZE ? (size_t)size : QUOTE_SIZE);
	q->text[QUOTE_SIZE - 1] = '\n';
}

const struct quote *market_quote(struct market *m, uint64_t now)
{
	uint64_t number = now / PRICE_TIME;

	if (now >= m->until) {
		make(&m->quote, number);
		m->until = (number + 1) * PRICE_TIME;
	}
	return &m->quote;
}
