/* no_pth.c - stands in for pth.c where GNU Pth is not installed. */
#include "threads.h"

const struct thread_peer peer_pth = {
	.name = "GNU Pth",
	.missing = "GNU Pth was not found when weft-bench was built (Debian: libpth-dev)",
};
