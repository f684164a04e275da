/* handlers.c - which handlers there are: this is the place to add yours. */
#include "demo.h"
#include "status.h"

const struct handler *const handlers[] = { &status_handler, NULL };

const struct handler *const demo_handlers[] = {
	&home_handler, &slow_handler, &echo_handler, &status_handler, NULL,
};
