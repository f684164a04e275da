/* valgrind.h - what valgrind is told, if its header was there at build time. */
#ifndef WF_VALGRIND_H
#define WF_VALGRIND_H

#ifdef WEFT_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#define WF_ON_VALGRIND (RUNNING_ON_VALGRIND != 0)
#define WF_VALGRIND_STACK(low, high) VALGRIND_STACK_REGISTER(low, high)
#define WF_VALGRIND_STACK_GONE(name) VALGRIND_STACK_DEREGISTER(name)
#else
#define WF_ON_VALGRIND 0
#define WF_VALGRIND_STACK(low, high) ((void)(low), (void)(high), 0u)
#define WF_VALGRIND_STACK_GONE(name) ((void)(name))
#endif

#endif
