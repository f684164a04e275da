/* weft/run.h - starting and stopping the runtime.
 *
 * One runtime runs in a process at a time. It may be run again after it ended.
 */
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include <weft/def.h>

WEFT_BEGIN_DECLS

/* Settings of the runtime. All zeros is a good choice. Each can also be given by an
 * environment variable, named behind it, which wins over the struct.
 */
typedef struct weft_options {
	/* Kernel threads that run events. 0: one per usable CPU, which is what the
	 * affinity mask and the cgroup CPU quota leave. WEFT_WORKERS */
	int workers;
	/* "uring", "epoll", or NULL or "auto": io_uring where the kernel lets us,
	 * else epoll. WEFT_IO */
	const char *io;
	/* Events of one color that run before the next color gets its turn.
	 * 0: 10. WEFT_BATCH */
	int batch;
	/* "off", "base" (steal anything, any victim), "all" (NULL), or the
	 * heuristics wanted, joined by '+': "locality+time+penalty". WEFT_STEAL */
	const char *steal;
	/* What a steal costs, in nanoseconds. 0: measured while running.
	 * WEFT_STEAL_COST */
	uint64_t steal_cost_ns;
	/* A worker that does not come back for so long is stuck: its work goes to
	 * others and a report is made. 0: 10. Below 0: never look, which also makes
	 * io_uring a little cheaper. WEFT_STALL_MS */
	int stall_ms;
	/* Most kernel threads that the offload pool may use. 0: 64.
	 * WEFT_OFFLOAD_MAX */
	int offload_max;
	/* Bytes of stack that a thread may use. 0: 184 KiB, which with guard and record
	 * takes 256 KiB of address space. WEFT_STACK_SIZE */
	size_t stack_size;
	/* Most colors that may have work queued at one time. 0: as many as memory
	 * holds. WEFT_MAX_COLORS */
	size_t max_colors;
	/* Overload limits for events that have a drop function: events queued in
	 * one color, events queued in the machine, milliseconds spent queued.
	 * 0: no limit. WEFT_COLOR_DEPTH, WEFT_QUEUE_DEPTH, WEFT_QUEUE_DELAY_MS */
	uint32_t color_depth;
	uint32_t queue_depth;
	uint32_t queue_delay_ms;
	/* Root of the tree that tells the machine's shape. NULL: "/sys". */
	const char *sysfs;
	/* Must be zero. */
	uint64_t reserved[8];
} weft_options;

/* Runs `fn(arg)` as a thread of color WEFT_MAIN, then everything that came of it, on
 * all workers. Returns when nothing is left that could make work (no event queued,
 * no thread running, no timer, operation, watch or hold), or after weft_stop.
 * Everything is freed by then. The calling thread is the first worker.
 *
 * Borrows:  opt, until the call returns. NULL means all zeros.
 * Context:  any thread that is not a worker.
 * Misuse:   calling it from a handler (nested).
 * Returns:  what fn returned, if that is 0 or more or an error of its own
 *           -EINVAL     a setting is wrong; the report says which and why
 *           -EBUSY      a runtime is running already
 *           -EDEADLK    called from a handler; or fn waits, and so do all other threads,
 *                       and nothing is left that could wake one (the report says who)
 *           -ENOMEM, -EMFILE, -EAGAIN   memory, descriptors or threads ran out
 *           -EPERM, -EACCES, -ENOSYS    a sandbox denies a system call, from the start or
 *                       in the middle of the run; the report names the call
 *           -ENOTSUP    the program is compiled with a sanitizer, and this library without;
 *                       the report says which library to link (docs/guide/sanitizers.md)
 *           -ESHUTDOWN  in a forked child that returned from a handler: nothing was
 *                       freed, and its workers are gone; it may call weft_run anew
 */
WEFT_API int weft_run(int (*fn)(void *arg), void *arg, const weft_options *opt);
WEFT_API int weft_run_at(int (*fn)(void *arg), void *arg, const weft_options *opt,
			 const char *where);
#define weft_run(...) weft_run_at(__VA_ARGS__, WEFT_HERE)

/* Asks the runtime to end: events that run now finish, queued ones are not
 * run, and weft_run returns. Posting gives -ESHUTDOWN from now on. A thread that
 * runs goes on until it waits or ends; threads that wait are discarded where they
 * stand, without cleanups or destructors.
 *
 * Context:  any thread, and signal handlers.
 * Returns:  0
 *           -ESHUTDOWN  no runtime is running
 */
WEFT_API int weft_stop(void);

/* Keeps weft_run from ending for lack of work, until weft_drop. For programs
 * whose work comes from foreign kernel threads.
 *
 * Context:  any thread.
 * Misuse:   more drops than holds.
 * Returns:  0
 *           -EINVAL     nothing is held (weft_drop)
 *           -ESHUTDOWN  no runtime is running
 */
WEFT_API int weft_hold(void);
WEFT_API int weft_drop(void);
WEFT_API int weft_drop_at(const char *where);
#define weft_drop() weft_drop_at(WEFT_HERE)

/* Tells how many workers there are.
 *
 * Context:  any thread.
 * Returns:  their number, or 0 when no runtime is running
 */
WEFT_API int weft_workers(void);

/* Tells which worker runs the caller.
 *
 * Context:  any thread.
 * Returns:  its number, from 0, or -1 on other threads
 */
WEFT_API int weft_worker_current(void);

WEFT_END_DECLS
#endif
