/* Blocks: what the code calls that compilers make of weft_async. */
#include <string.h>

#include <weft/block.h>

#include "base/compiler.h"
#include "base/report.h"
#include "threads/threads.h"

typedef void block_fn(void *args);

static inline int start(block_fn *fn, void *args, size_t size)
{
	return wf_body_block((weft_thread_fn *)(uintptr_t)fn, args, size);
}

/* gcc */

static WF_NOINLINE void start_copied(block_fn *fn, void *args, void (*copy)(void *, void *),
				     size_t size)
{
	void *copied = __builtin_alloca(size);

	copy(copied, args);
	(void)start(fn, copied, size);
}

/* `args` is what the block uses, in the caller's frame; if it has structs of its own only
 * where they are, and `copy` makes args out of that. The rest is for what OpenMP can say of a
 * task and weft_async does not. */
void weft_gomp_task_(void (*fn)(void *), void *args, void (*copy)(void *, void *), long size,
		     long align, bool wanted, unsigned flags, void **depend, int priority,
		     void *detach)
{
	(void)align, (void)wanted, (void)flags, (void)depend, (void)priority, (void)detach;
	if (WF_UNLIKELY(copy != NULL))
		start_copied(fn, args, copy, (size_t)size);
	else
		(void)start(fn, args, (size_t)size);
}

/* clang
 *
 * Asks for memory for a task, puts into the task the variables that are the block's own,
 * and at `shared` where the others are; then it wants the task run. Nothing that may wait
 * or start something comes in between: so the memory is where the body will find it, on its
 * stack. Where there is none yet one place for each kernel thread is enough to make
 * tasks. They are copied from there, so what is shared comes as soon as it can: no task of
 * ours has a use for more than the two fields in front, unless it has variables of its
 * own. */

typedef int task_fn(int thread, void *task);

struct task {
	void *shared;
	task_fn *fn;
	int part;
	size_t data[2];
};

enum { SHARED_AT = offsetof(struct task, part) };

static _Thread_local struct {
	_Alignas(16) struct task task;
	char more[1016];
	size_t size;
	block_fn *run;
} bench __attribute__((tls_model("initial-exec")));

int weft_kmpc_thread_num_(void *where)
{
	(void)where;
	return 0;
}

/* There was no stack: the task is where it was made, where the next one will be. */
static WF_COLD void run_moved(block_fn *run)
{
	void *task = __builtin_alloca(bench.size);

	memcpy(task, &bench.task, bench.size);
	run(task);
}

static void run_task(void *arg)
{
	struct task *task = arg;

	if (WF_UNLIKELY(task == &bench.task)) {
		run_moved(run_task);
		return;
	}
	task->shared = (char *)task + SHARED_AT;
	(void)task->fn(0, task);
}

static void run_own_task(void *arg)
{
	struct task *task = arg;

	if (WF_UNLIKELY(task == &bench.task)) {
		run_moved(run_own_task);
		return;
	}
	task->shared = (char *)task + task->data[0];
	(void)task->fn(0, task);
}

static WF_NOINLINE void *make_on_bench(size_t size, size_t shared_size, task_fn *fn)
{
	struct task *task = &bench.task;
	size_t shared_at = SHARED_AT;

	bench.run = run_task;
	if (size > sizeof(struct task)) {
		shared_at = bench.task.data[0] = (size + 7) & ~(size_t)7;
		bench.run = run_own_task;
	}
	bench.size = (shared_at + shared_size + 7) & ~(size_t)7;
	if (WF_UNLIKELY(bench.size > offsetof(__typeof__(bench), size)))
		wf_bug("a block uses over sixty variables");
	task->shared = (char *)task + shared_at;
	task->fn = fn;
	/* Else the caller would know what comes back, and not call this last. */
	__asm__("" : "+r"(task));
	return task;
}

void *weft_kmpc_task_alloc_(void *where, int thread, int flags, size_t size, size_t shared_size,
			    int (*routine)(int, void *))
{
	size_t shared_at = (size + 7) & ~(size_t)7;
	struct task *task = wf_body_room(shared_at + shared_size);

	(void)where, (void)thread, (void)flags;
	if (WF_UNLIKELY(task == NULL))
		return make_on_bench(size, shared_size, routine);
	task->shared = (char *)task + shared_at;
	task->fn = routine;
	return task;
}

int weft_kmpc_task_(void *where, int thread, void *task)
{
	(void)where, (void)thread;
	if (WF_UNLIKELY(task == &bench.task))
		return start(bench.run, task, bench.size);
	return wf_body_task(((struct task *)task)->fn, task);
}
