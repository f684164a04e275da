/* service.h - a server as a program: it says where it is, hears signals, and ends. */
#ifndef COMMON_SERVICE_H
#define COMMON_SERVICE_H

#include <weft/weft.h>

/* Prints "PROGRAM: ADDRESS (2 workers, uring)MORE", for people and for tests. */
void service_say(const char *program, const char *address, const char *more);

/* Has `stop` called in WEFT_MAIN on SIGINT and SIGTERM, and `other` on another signal, if that
 * is not 0. 0 or -Exxx. */
int service_signals(weft_fn *stop, int signo, weft_fn *other);

/* The end: idle users find their input shut, and others may go on for `ms`; then all is shut,
 * and the runtime stopped if even that does not help. Waits. */
void service_end(weft_waitgroup *users, uint64_t ms, void (*shut)(int how));

#endif
