/* no_disk_uring.c - stands in for disk_uring.c where liburing is not installed. */
#include "disk.h"

const char *const disk_uring_missing =
	"liburing was not found when weft-bench was built (Debian: liburing-dev)";

int disk_uring(const void *work, double *values)
{
	(void)work;
	(void)values;
	return bench_fail("%s", disk_uring_missing);
}
