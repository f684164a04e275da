/* median.c - the middle of many measurements. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, compare);
	return count > 0 ? (values[(count - 1) / 2] + values[count / 2]) / 2 : NAN;
}
