/* pages.h - what the demo shows. */
#ifndef DEMO_PAGES_H
#define DEMO_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* What the server counts, in WEFT_MAIN. */
struct totals {
	uint64_t requests;    /* read and about to be answered */
	uint64_t connections; /* ever */
	uint64_t refused;     /* for lack of room */
	unsigned open;        /* connections now */
};

/* The answer to /slow, and how it came about. */
struct slow {
	uint64_t next;   /* the number to go on with */
	uint64_t steps;  /* the answer so far */
	uint64_t slices; /* events that it took */
	uint64_t moves;  /* times that one ran on another worker than the last */
	int worker;      /* that ran the last one */
	uint64_t began;
};

/* Each makes a text in memory, to be freed, or NULL if there is no memory. */
char *page_home(const struct totals *totals, size_t *size);
char *page_stats(const struct totals *totals, size_t *size);
char *page_slow(const struct slow *slow, size_t *size);
char *page_status(int status, size_t *size);

#endif
