/* cxx.h - Weft in C++, in a program of its own: what C++ brings must not be in the way of
 * what is measured in C. */
#ifndef BENCH_CXX_H
#define BENCH_CXX_H

#include "bench.h"

/* Adds a row for a case of peers/cxx.cc, or says that it was not built. Its columns are those
 * of cycles.h. `what` must stay until bench_end. */
struct bench_row *cxx_add(const char *label, const char *who, const char *what);

#endif
