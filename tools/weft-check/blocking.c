/* blocking.c - functions of libc that block the kernel thread that calls them, and so a worker. */
#include <string.h>

#include "check.h"

bool check_is_blocking(const struct function *f)
{
	static const char known[] =
		" accept accept4 clock_nanosleep cnd_wait connect epoll_wait fgets flock fread"
		" fsync getaddrinfo getchar gethostbyname getline getnameinfo mtx_lock nanosleep"
		" open openat pause poll ppoll pread pselect pthread_barrier_wait"
		" pthread_cond_timedwait pthread_cond_wait pthread_join pthread_mutex_lock"
		" pthread_rwlock_rdlock pthread_rwlock_wrlock pwrite read readv recv recvfrom"
		" recvmsg scanf select sem_wait send sendfile sendmsg sendto sleep system usleep"
		" wait waitid waitpid write writev"
		" ";
	const char *word;

	if (!options.blocking || f->body_count > 0)
		return false;
	word = tame_format(" %s ", f->name);
	return strstr(known, word) != NULL;
}
