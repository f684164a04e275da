/* weft/def.h - words that every public header uses. */
#ifndef WEFT_DEF_H
#define WEFT_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

#define WEFT_API __attribute__((visibility("default")))

/* Marks functions that wait on the stack of a thread. weft-tame warns if a tamed function, which has
 * no stack, calls one. */
#if defined(WEFT_TAME_READING)
#define WEFT_WAITS WEFT_TAME_WAITS_
#elif defined(__clang__)
#define WEFT_WAITS __attribute__((annotate("weft_waits")))
#else
#define WEFT_WAITS
#endif

/* Promises not to wait, for weft-check, which reports calls that break them. A compiler sees nothing.
 *
 *	WEFT_NO_WAIT void put(struct queue *q, int item);
 *
 *	WEFT_ATOMIC {
 *		accounts[from] -= amount;
 *		accounts[to] += amount;
 *	}
 *
 * A WEFT_NO_WAIT function does not wait, nor do the functions that it calls: nothing else of its
 * color runs meanwhile. A member, variable or parameter that points to functions may be WEFT_NO_WAIT,
 * too: then no function that is stored in it may wait, so calls through it do not wait. WEFT_ATOMIC
 * stands before a block in which nothing waits; return, break, continue and goto leave it like any
 * other block. */
#ifdef WEFT_CHECKING_
#define WEFT_NO_WAIT __attribute__((annotate("weft_no_wait")))
#define WEFT_ATOMIC if ("WEFT_ATOMIC")
#else
#define WEFT_NO_WAIT
#define WEFT_ATOMIC
#endif

/* Where the caller stands: misuse reports and stall reports name this place. */
#define WEFT_HERE_(line) #line
#define WEFT_HERE__(line) WEFT_HERE_(line)
#define WEFT_HERE __FILE__ ":" WEFT_HERE__(__LINE__)

/* Casts and the null pointer, spelled for C or for C++: C++ programs may be compiled with
 * -Wold-style-cast and -Wzero-as-null-pointer-constant. */
#ifdef __cplusplus
#define WEFT_POINTER_(type, x) (reinterpret_cast<type>(x))
#define WEFT_NUMBER_(type, x) (static_cast<type>(x))
#define WEFT_NULL_ nullptr
#else
#define WEFT_POINTER_(type, x) ((type)(x))
#define WEFT_NUMBER_(type, x) ((type)(x))
#define WEFT_NULL_ NULL
#endif

/* A handler: what an event runs. It must not block its worker for long. */
typedef void weft_fn(void *arg);

#ifdef __cplusplus
#define WEFT_BEGIN_DECLS extern "C" {
#define WEFT_END_DECLS }
#else
#define WEFT_BEGIN_DECLS
#define WEFT_END_DECLS
#endif

#endif
