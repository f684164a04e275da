// fiber.cc - the work of the thread benchmarks with Boost.Fiber; weft-bench runs it as
// a child.
//
// usage: weft-bench-fiber WHAT THREADS ROUNDS CORES DEPTH
// Prints the figures that bench/threads.h describes, on one line. With one core all
// fibers are of one kernel thread; with two, each of two kernel threads has half.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>

namespace fibers = boost::fibers;
using body = std::function<void(int)>;

static int threads, cores, depth;
static long rounds;

// Nanoseconds; for one core, of CPU time.
static double now()
{
	struct timespec ts;

	clock_gettime(cores == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static fibers::fiber start(int i, const body &run)
{
	return fibers::fiber(std::allocator_arg, fibers::fixedsize_stack(64 * 1024),
			     [i, &run] { run(i); });
}

// All wait at a gate, so that starting them is not part of what they do.
struct gate {
	fibers::mutex mutex;
	fibers::condition_variable wait;
	int arrived = 0;
	bool open = false;

	void pass()
	{
		std::unique_lock<fibers::mutex> lock(mutex);
		arrived++;
		wait.wait(lock, [this] { return open; });
	}
	void gather(int count)
	{
		for (;;) {
			boost::this_fiber::yield();
			std::unique_lock<fibers::mutex> lock(mutex);
			if (arrived == count)
				return;
		}
	}
	void let_go()
	{
		std::unique_lock<fibers::mutex> lock(mutex);
		open = true;
		wait.notify_all();
	}
};

static void start_some(std::vector<fibers::fiber> &all, const body &run, int first, int step)
{
	for (int i = first; i < threads; i += step)
		all.push_back(start(i, run));
}

// Nanoseconds from when all may begin until all have ended.
static double run_all(const body &work)
{
	gate g;
	body run = [&](int i) {
		g.pass();
		work(i);
	};
	std::vector<fibers::fiber> all;
	std::thread other;

	start_some(all, run, 0, cores);
	if (cores == 2)
		other = std::thread([&] {
			std::vector<fibers::fiber> mine;
			start_some(mine, run, 1, 2);
			for (auto &f : mine)
				f.join();
		});
	g.gather(threads);
	double begin = now();
	g.let_go();
	for (auto &f : all)
		f.join();
	if (other.joinable())
		other.join();
	return now() - begin;
}

static void yield()
{
	double ns = run_all([](int) {
		for (long r = 0; r < rounds; r++)
			boost::this_fiber::yield();
	});
	printf("%g\n", ns / ((double)threads * (double)rounds));
}

static void spawn()
{
	// Stacks are kept for reuse, which its manual offers for programs like this.
	fibers::pooled_fixedsize_stack stacks(64 * 1024, 64);
	std::vector<fibers::fiber> all((size_t)threads);
	double begin = now();

	for (long r = 0; r < rounds; r++) {
		for (auto &f : all)
			f = fibers::fiber(std::allocator_arg, stacks, [] {});
		for (auto &f : all)
			f.join();
	}
	printf("%g\n", (now() - begin) / ((double)threads * (double)rounds));
}

static void mutex()
{
	fibers::mutex m;
	long shared = 0;
	double ns = run_all([&](int) {
		for (long r = 0; r < rounds; r++) {
			m.lock();
			shared++;
			m.unlock();
		}
	});
	if (shared != rounds * threads)
		exit(1);
	printf("%g\n", ns / ((double)threads * (double)rounds));
}

// Its buffered channel has room for one less than its size, a power of two.
static size_t channel_size()
{
	size_t size = 2;

	while (size - 1 < (size_t)depth)
		size *= 2;
	return size;
}

template <class Channel> static double to_and_fro(Channel &there, Channel &back)
{
	return run_all([&](int i) {
		long value = 0;
		for (long r = 0; r < rounds; r++) {
			if (i == 0) {
				there.push(r);
				back.pop(value);
			} else {
				there.pop(value);
				back.push(r);
			}
		}
	});
}

static void ping_pong()
{
	double ns;

	if (depth == 0) {
		fibers::unbuffered_channel<long> there, back;
		ns = to_and_fro(there, back);
	} else {
		fibers::buffered_channel<long> there(channel_size()), back(channel_size());
		ns = to_and_fro(there, back);
	}
	printf("%g\n", ns / (2 * (double)rounds));
}

static void stream()
{
	fibers::buffered_channel<long> c(channel_size());
	double ns = run_all([&](int i) {
		long value = 0;
		for (long r = 0; r < rounds; r++)
			if (i == 0)
				c.push(r);
			else
				c.pop(value);
	});
	printf("%g\n", ns / (double)rounds);
}

struct buffer {
	fibers::mutex mutex;
	fibers::condition_variable room, items;
	std::vector<long> ring = std::vector<long>((size_t)depth);
	int count = 0, head = 0;

	void send(long value)
	{
		std::unique_lock<fibers::mutex> lock(mutex);
		while (count == depth)
			room.wait(lock);
		ring[(size_t)((head + count++) % depth)] = value;
		items.notify_one();
	}
	long receive()
	{
		std::unique_lock<fibers::mutex> lock(mutex);
		while (count == 0)
			items.wait(lock);
		long value = ring[(size_t)head];
		head = (head + 1) % depth;
		count--;
		room.notify_one();
		return value;
	}
};

static void consume(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	for (uint64_t n = (uint32_t)(*seed >> 33) % 200; n > 0; n--)
		__asm__ volatile("" : "+r"(n));
}

static void produce()
{
	buffer b;
	long mine = rounds / (threads / 2);
	double ns = run_all([&](int i) {
		uint64_t seed = (uint64_t)i;
		for (long n = 0; n < mine; n++) {
			if (i % 2 == 0) {
				b.send(n);
			} else {
				b.receive();
				consume(&seed);
			}
		}
	});
	printf("%g\n", (double)rounds / ns * 1e6);
}

static double memory()
{
	FILE *f = fopen("/proc/self/status", "re");
	double sum = 0, kb;
	char line[128];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "VmRSS: %lf", &kb) == 1 || sscanf(line, "VmPTE: %lf", &kb) == 1)
			sum += kb * 1024;
	if (f != NULL)
		fclose(f);
	return sum;
}

static void parked()
{
	gate g;
	body run = [&](int) { g.pass(); };
	std::vector<fibers::fiber> all;
	double before = memory(), begin = now(), started, bytes;

	start_some(all, run, 0, 1);
	g.gather(threads);
	started = now() - begin;
	bytes = memory() - before;
	begin = now();
	g.let_go();
	for (auto &f : all)
		f.join();
	printf("%g %g %g\n", started / threads, (now() - begin) / threads, bytes / threads);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} work[] = {
		{ "yield", yield },         { "spawn", spawn },   { "mutex", mutex },
		{ "ping-pong", ping_pong }, { "stream", stream }, { "produce", produce },
		{ "parked", parked },
	};

	for (auto &w : work) {
		if (argc != 6 || strcmp(argv[1], w.name) != 0)
			continue;
		threads = atoi(argv[2]);
		rounds = atol(argv[3]);
		cores = atoi(argv[4]);
		depth = atoi(argv[5]);
		w.run();
		return 0;
	}
	fprintf(stderr, "usage: weft-bench-fiber WHAT THREADS ROUNDS CORES DEPTH\n");
	return 2;
}
