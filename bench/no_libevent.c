/* no_libevent.c - stands in for libevent.c where libevent is not installed. */
#include "peer.h"

const struct peer peer_libevent = {
	.name = "libevent",
	.missing = "libevent was not found when weft-bench was built (Debian: libevent-dev)",
};
