/* market.h - what the stock is worth. */
#ifndef QUOTES_MARKET_H
#define QUOTES_MARKET_H

#include <stdint.h>

enum { QUOTE_SIZE = 64 };

/* A line of text. */
struct quote {
	char text[QUOTE_SIZE];
};

/* The last quote that was made, and when it is too old. */
struct market {
	struct quote quote;
	uint64_t until;
};

/* The quote at that time. */
const struct quote *market_quote(struct market *m, uint64_t now);

#endif
