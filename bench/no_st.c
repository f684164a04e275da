/* no_st.c - stands in for st.c where State Threads is not installed. */
#include "threads.h"

const struct thread_peer peer_st = {
	.name = "State Threads",
	.missing = "State Threads was not found when weft-bench was built (Debian: libst-dev)",
};
