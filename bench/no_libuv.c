/* no_libuv.c - stands in for libuv.c where libuv is not installed. */
#include "peer.h"

const struct peer peer_libuv = {
	.name = "libuv",
	.missing = "libuv was not found when weft-bench was built (Debian: libuv1-dev)",
};
