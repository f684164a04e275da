/* processes.h - what tests of channels between processes share: another process, which runs a
 * function as this one does, and names that nobody else has.
 */
#ifndef TESTS_THREADS_PROCESSES_H
#define TESTS_THREADS_PROCESSES_H

#include "channels.h"

#include <weft/scope.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "threads/shm.h"

/* Made before the fork, so that both have it. */
static char shm_name[64];
static int shm_workers UNUSED = 2;

static void fresh_name(void) UNUSED;
static void fresh_name(void)
{
	static int n;

	snprintf(shm_name, sizeof shm_name, "shm:test-%d-%d", (int)getpid(), n++);
}

static weft_channel *open_side(size_t size, size_t capacity, int side) UNUSED;
static weft_channel *open_side(size_t size, size_t capacity, int side)
{
	weft_channel_attr attr = { .capacity = capacity, .side = (uint8_t)side };
	weft_channel *ch;

	CHECK_EQ(weft_channel_open(&ch, shm_name, size, &attr), 0);
	return ch;
}

static weft_channel *open_ints(size_t capacity) UNUSED;
static weft_channel *open_ints(size_t capacity)
{
	return open_side(sizeof(int), capacity, WEFT_CHANNEL_EITHER);
}

/* Runs fn(arg) in another process; exit status 0 if all went well there. */
static pid_t other_process(int (*fn)(void *), void *arg) UNUSED;
static pid_t other_process(int (*fn)(void *), void *arg)
{
	weft_options opt = { .workers = shm_workers };
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(weft_run(fn, arg, &opt) == 0 ? 0 : 1);
	return pid;
}

static void other_ends_well(pid_t pid) UNUSED;
static void other_ends_well(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* Both functions, each in a process of its own. */
static void run_pair(int (*here)(void *), int (*there)(void *)) UNUSED;
static void run_pair(int (*here)(void *), int (*there)(void *))
{
	pid_t pid;

	fresh_name();
	pid = other_process(there, NULL);
	run_with(shm_workers, here, NULL);
	other_ends_well(pid);
}

#endif
