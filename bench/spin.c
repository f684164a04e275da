/* spin.c - a word passed between two spinning kernel threads: as fast as the
 * machine's caches can be. */
#include "spin.h"

#include <pthread.h>
#include <stdatomic.h>

static struct {
	_Alignas(128) _Atomic long there;
	_Alignas(128) _Atomic long back;
	long rounds;
} t;

static void await(_Atomic long *word, long value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		;
}

static void *answer(void *arg)
{
	bench_pin(1);
	for (long i = 1; i <= t.rounds; i++) {
		await(&t.there, i);
		atomic_store_explicit(&t.back, i, memory_order_release);
	}
	return arg;
}

int spin_ping_pong(const void *arg, double *values)
{
	const struct thread_work *work = arg;
	pthread_t thread;
	uint64_t start;

	if (bench_cpus() < 2)
		return bench_fail("this machine has one CPU");
	t.rounds = work->rounds;
	if (pthread_create(&thread, NULL, answer, NULL) != 0)
		return bench_fail("no thread");
	bench_pin(0);
	start = bench_now();
	for (long i = 1; i <= t.rounds; i++) {
		atomic_store_explicit(&t.there, i, memory_order_release);
		await(&t.back, i);
	}
	values[0] = (double)(bench_now() - start) / (2 * (double)t.rounds);
	pthread_join(thread, NULL);
	return 0;
}
