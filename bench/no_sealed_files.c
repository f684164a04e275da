/* no_sealed_files.c - stands for the file server where there is no OpenSSL. */
#include "bench.h"

int bench_sealed_files(void)
{
	static const struct bench_plan plan = { .name = "sealed-files", .work = "nothing" };

	bench_begin(&plan);
	bench_add_missing("1 worker, serial", "weft", "OpenSSL was not there to build with");
	return bench_end();
}
