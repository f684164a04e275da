/* canary.c - whether this compiler makes blocks as Weft needs them.
 *
 * Stands in for the library: a block runs when its scope ends, so that what it sees of its
 * variables is told from what they were when it was started. Exits with 0 if all is well.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/scope.h>

enum { BLOCKS = 4, ROOM = 1024 };

static struct started {
	void (*fn)(void *args);
	_Alignas(16) char args[ROOM];
} started[BLOCKS];
static int count;

static void *start(void (*fn)(void *), size_t size)
{
	if (count == BLOCKS || size > ROOM)
		exit(2);
	started[count].fn = fn;
	return started[count++].args;
}

/* gcc's. */
void weft_gomp_task_(void (*fn)(void *), void *args, void (*copy)(void *, void *), long size,
		     long align, bool wanted, unsigned flags, void **depend, int priority,
		     void *detach)
{
	(void)align, (void)flags, (void)depend, (void)priority, (void)detach;
	if (!wanted)
		exit(3);
	if (copy != NULL)
		copy(start(fn, (size_t)size), args);
	else
		memcpy(start(fn, (size_t)size), args, (size_t)size);
}

/* clang's. */
struct task {
	void *shared;
	int (*routine)(int, void *);
};

static void run_task(void *task)
{
	((struct task *)task)->routine(0, task);
}

int weft_kmpc_thread_num_(void *where)
{
	(void)where;
	return 0;
}

void *weft_kmpc_task_alloc_(void *where, int thread, int flags, size_t size, size_t shared_size,
			    int (*routine)(int, void *))
{
	size_t shared_at = (size + 15) / 16 * 16;
	struct task *task = start(run_task, shared_at + shared_size);

	(void)where, (void)thread, (void)flags;
	task->shared = (char *)task + shared_at;
	task->routine = routine;
	return task;
}

int weft_kmpc_task_(void *where, int thread, void *task)
{
	(void)where, (void)thread, (void)task;
	return 0;
}

void weft_scope_begin_at(weft_scope *s, const char *where)
{
	s->where_ = where;
}

void weft_shield_begin_at(weft_scope *s, const char *where)
{
	s->where_ = where;
}

int weft_scope_end(weft_scope *s)
{
	for (int i = 0; i < count; i++)
		started[i].fn(started[i].args);
	count = 0;
	return s->where_ == NULL;
}

/* A flag that the block only reads, one that it only writes, and a copy. */
static int sees(int early, int late)
{
	int flag = early, seen = -1, kept = early, own = -1;
	struct {
		int a[3];
	} both = { { 0, early, 0 } };

	weft_finish(q)
	{
		weft_async
		{
			seen = flag;
		};
		weft_async_own(kept, both)
		{
			own = kept == both.a[1] ? kept : -1;
			kept = both.a[1] = -2;
		};
		flag = kept = both.a[1] = late;
		if (seen != -1 || own != -1)
			exit(4);
	}
	return seen == late && own == early && kept == late && both.a[1] == late;
}

int main(int argc, char **argv)
{
	(void)argv;
	return sees(argc, argc + 5) ? 0 : 1;
}
