/* shm_open.c - how two processes meet, and come to share memory.
 *
 * One listens on a socket whose name is made of the user and of the channel's name; it
 * lies in no folder, and is gone with its process. The other connects and says what
 * it wants. The one that listens makes the memory, sealed so that it cannot
 * shrink under anybody, and sends its descriptor. Then the name is given up; the
 * connection stays: it carries the bells, and its end is the end of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "threads/call.h"
#include "threads/shm.h"

enum { VERSION = 1, NAME_MAX_LETTERS = 64, CAPACITY = 64 };
#define MAGIC 0x74666577u /* "weft" */

/* How long one that has connected may take to say hello; and how long to wait before
 * trying again what nothing tells of: at first, and at most. */
#define HELLO_NS (1000 * (uint64_t)WEFT_MS)
#define PAUSE_NS ((uint64_t)WEFT_MS)
#define PAUSE_MOST_NS (20 * (uint64_t)WEFT_MS)

/* From who joins. */
struct hello {
	uint32_t magic, version;
	uint64_t size;
};

/* From who made it; the descriptor of the memory comes along, if there is no error. */
struct answer {
	uint32_t magic;
	int32_t error;
	uint64_t size, capacity;
};

struct opening {
	struct sockaddr_un address;
	socklen_t address_length;
	size_t size, capacity;
	uint8_t side;
	uint64_t deadline;
	struct wf_shm *shm;
};

static uint64_t sooner(uint64_t deadline, uint64_t ns)
{
	uint64_t then = wf_now() + ns;

	return then < deadline ? then : deadline;
}

/* Sockets */

static WF_NOINLINE int new_socket(void)
{
	int fd = WF_FAULT(EMFILE);

	if (fd == 0)
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	else
		return fd;
	return fd < 0 ? -errno : fd;
}

static WF_NOINLINE int bind_and_listen(int fd, const struct opening *o)
{
	int rc = WF_FAULT(ENOMEM);

	if (rc == 0 && (bind(fd, (const struct sockaddr *)&o->address, o->address_length) < 0 ||
			listen(fd, 1) < 0))
		rc = -errno;
	return rc;
}

/* A name can be taken by anybody, and connected to. */
static WF_NOINLINE int check_user(int fd)
{
	struct ucred who;
	socklen_t len = sizeof who;
	int rc = WF_FAULT(ENOBUFS);

	if (rc < 0)
		return rc;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	return who.uid == geteuid() ? 0 : -EACCES;
}

static struct msghdr *message(struct msghdr *msg, struct iovec *iov, void *data, size_t len)
{
	*iov = (struct iovec){ data, len };
	*msg = (struct msghdr){ .msg_iov = iov, .msg_iovlen = 1 };
	return msg;
}

union rights {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_answer(int fd, struct answer *answer, int memory, uint64_t deadline)
{
	union rights rights;
	struct msghdr msg;
	struct iovec iov;
	ssize_t n;

	message(&msg, &iov, answer, sizeof *answer);
	if (memory >= 0) {
		memset(&rights, 0, sizeof rights);
		rights.header.cmsg_level = SOL_SOCKET;
		rights.header.cmsg_type = SCM_RIGHTS;
		rights.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&rights.header), &memory, sizeof memory);
		msg.msg_control = &rights;
		msg.msg_controllen = sizeof rights;
	}
	n = weft_sendmsg_until(fd, &msg, 0, deadline);
	return n < 0 ? (int)n : 0;
}

/* Returns the descriptor that came with it; -1: none did. */
static int receive_answer(int fd, struct answer *answer, int *memory, uint64_t deadline)
{
	union rights rights;
	struct msghdr msg;
	struct iovec iov;
	ssize_t n;

	*memory = -1;
	message(&msg, &iov, answer, sizeof *answer);
	msg.msg_control = &rights;
	msg.msg_controllen = sizeof rights;
	n = weft_recvmsg_until(fd, &msg, MSG_CMSG_CLOEXEC, deadline);
	if (n < 0)
		return (int)n;
	if (msg.msg_controllen >= CMSG_LEN(sizeof(int)) && rights.header.cmsg_level == SOL_SOCKET &&
	    rights.header.cmsg_type == SCM_RIGHTS &&
	    rights.header.cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(memory, CMSG_DATA(&rights.header), sizeof *memory);
	if (n == 0)
		return -ECONNRESET;
	return n == sizeof *answer && answer->magic == MAGIC ? 0 : -EPROTO;
}

/* Memory */

static WF_NOINLINE int map(struct wf_shm *shm, int memory)
{
	void *p = WF_FAULT(ENOMEM)
			  ? MAP_FAILED
			  : mmap(NULL, shm->length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	shm->memory = p;
	return 0;
}

/* All of it is there from the beginning: to find none when it is touched would be a
 * signal, not an error. */
static WF_NOINLINE int fill(int memory, size_t length)
{
	int rc = WF_FAULT(ENOMEM);

	if (rc == 0 && ftruncate(memory, (off_t)length) < 0)
		rc = -errno;
	if (rc == 0)
		rc = WF_FAULT(ENOMEM);
	if (rc == 0)
		rc = -posix_fallocate(memory, 0, (off_t)length);
	if (rc == 0)
		rc = WF_FAULT(EPERM);
	if (rc == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		rc = -errno;
	return rc == -ENOSPC || rc == -EPERM ? -ENOMEM : rc;
}

static WF_NOINLINE int new_memory(size_t length)
{
	int rc, fd = WF_FAULT(EMFILE);

	if (fd < 0)
		return fd;
	fd = memfd_create("weft-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	rc = fill(fd, length);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* What the other side sent may be any file. */
static WF_NOINLINE int check_memory(int memory, size_t length)
{
	struct stat st;
	int rc = WF_FAULT(EBADF), seals;

	if (rc < 0)
		return rc;
	seals = fcntl(memory, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory, &st) < 0 || st.st_size < 0 ||
	    (uint64_t)st.st_size != length)
		return -EPROTO;
	return 0;
}

/* The one who makes it */

static int welcome(struct opening *o, int fd)
{
	struct answer answer = { MAGIC, 0, o->size, o->capacity };
	struct wf_shm *shm = o->shm;
	int rc, memory;

	shm->capacity = o->capacity;
	shm->length = wf_shm_length_of(o->size, o->capacity);
	memory = new_memory(shm->length);
	if (memory < 0)
		return memory;
	rc = map(shm, memory);
	if (rc == 0)
		rc = send_answer(fd, &answer, memory, o->deadline);
	close(memory);
	if (rc < 0 && shm->memory != NULL) {
		munmap(shm->memory, shm->length);
		shm->memory = NULL;
	}
	return rc;
}

/* Whether a failure is the other side's alone: there may be another. */
static bool not_ours(int rc)
{
	return rc == -EACCES || rc == -EPIPE || rc == -ECONNRESET || rc == -EPROTO;
}

static int greet(struct opening *o, int fd)
{
	uint64_t deadline = sooner(o->deadline, HELLO_NS);
	struct answer answer = { .magic = MAGIC };
	struct hello hello;
	ssize_t n;
	int rc = check_user(fd);

	if (rc < 0)
		return rc;
	n = weft_recv_until(fd, &hello, sizeof hello, 0, deadline);
	if (n < 0)
		return n == -ETIMEDOUT && !wf_past(o->deadline) ? -EPROTO : (int)n;
	if (n != sizeof hello || hello.magic != MAGIC)
		return -EPROTO;
	if (hello.version != VERSION)
		answer.error = -EPROTO;
	else if (hello.size != o->size)
		answer.error = -EMSGSIZE;
	if (answer.error == 0)
		return welcome(o, fd);
	(void)send_answer(fd, &answer, -1, deadline);
	return answer.error;
}

/* Waits until one has joined. Returns the connection. */
static int wait_for_one(struct opening *o, int listener)
{
	for (;;) {
		int rc, fd = weft_accept_until(listener, NULL, o->deadline);

		if (fd < 0)
			return fd;
		rc = greet(o, fd);
		if (rc == 0)
			return fd;
		(void)weft_fd_close(fd);
		if (!not_ours(rc))
			return rc;
	}
}

static int make(struct opening *o)
{
	int rc, listener = new_socket();

	if (listener < 0)
		return listener;
	rc = bind_and_listen(listener, o);
	if (rc == 0)
		rc = wait_for_one(o, listener);
	(void)weft_fd_close(listener);
	return rc;
}

/* The one who joins */

static int take_memory(struct opening *o, const struct answer *answer, int memory)
{
	struct wf_shm *shm = o->shm;
	int rc;

	if (answer->error < 0)
		return answer->error == -EMSGSIZE ? -EMSGSIZE : -EPROTO;
	if (memory < 0 || answer->size != o->size || answer->capacity > SIZE_MAX)
		return -EPROTO;
	shm->capacity = (size_t)answer->capacity;
	shm->length = wf_shm_length_of(o->size, shm->capacity);
	if (shm->length == 0)
		return -EPROTO;
	rc = check_memory(memory, shm->length);
	return rc < 0 ? rc : map(shm, memory);
}

static int say_hello(struct opening *o, int fd)
{
	struct hello hello = { MAGIC, VERSION, o->size };
	struct answer answer;
	ssize_t n;
	int rc = check_user(fd), memory;

	if (rc < 0)
		return rc;
	n = weft_send_until(fd, &hello, sizeof hello, 0, o->deadline);
	if (n < 0)
		return (int)n;
	rc = receive_answer(fd, &answer, &memory, o->deadline);
	if (rc == 0)
		rc = take_memory(o, &answer, memory);
	if (memory >= 0)
		close(memory);
	return rc;
}

static int join(struct opening *o)
{
	int rc, fd = new_socket();

	if (fd < 0)
		return fd;
	rc = weft_connect_until(fd, (const struct sockaddr *)&o->address, o->address_length,
				o->deadline);
	if (rc == 0)
		rc = say_hello(o, fd);
	if (rc < 0)
		(void)weft_fd_close(fd);
	return rc < 0 ? rc : fd;
}

/* Nobody is there, or one who met another at this moment. */
static bool nobody(int rc)
{
	return rc == -ECONNREFUSED || rc == -EAGAIN || rc == -EPIPE || rc == -ECONNRESET;
}

/* Returns the connection. Of two who come at the same time one finds the name taken by
 * the other who does not listen yet: it tries again. */
static int meet(struct opening *o, bool *maker)
{
	uint64_t pause = PAUSE_NS;

	for (;;) {
		int rc = -ECONNREFUSED;

		*maker = false;
		if (o->side != WEFT_CHANNEL_MAKE)
			rc = join(o);
		if (nobody(rc) && o->side != WEFT_CHANNEL_JOIN) {
			*maker = true;
			rc = make(o);
		}
		if (rc != -EADDRINUSE && !nobody(rc))
			return rc;
		if (wf_past(o->deadline))
			return -ETIMEDOUT;
		rc = weft_sleep_until(sooner(o->deadline, pause));
		if (rc < 0)
			return rc;
		pause = 2 * pause < PAUSE_MOST_NS ? 2 * pause : PAUSE_MOST_NS;
	}
}

/* The call */

static int read_name(struct opening *o, const char *name)
{
	char *path = o->address.sun_path;
	size_t letters;
	int n;

	if (name == NULL || strncmp(name, "shm:", 4) != 0)
		return -EINVAL;
	name += 4;
	letters = strlen(name);
	if (letters == 0 || letters > NAME_MAX_LETTERS)
		return -EINVAL;
	o->address.sun_family = AF_UNIX;
	n = snprintf(path + 1, sizeof o->address.sun_path - 1, "weft-channel/%u/%s",
		     (unsigned)geteuid(), name);
	o->address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return 0;
}

static int read_attributes(struct opening *o, const weft_channel_attr *attr)
{
	o->capacity = attr != NULL && attr->capacity != 0 ? attr->capacity : CAPACITY;
	o->side = attr != NULL ? attr->side : WEFT_CHANNEL_EITHER;
	if (o->side > WEFT_CHANNEL_JOIN || wf_shm_length_of(o->size, o->capacity) == 0)
		return -EINVAL;
	return 0;
}

static int open_channel(struct opening *o, weft_channel *ch)
{
	struct wf_shm *shm = o->shm;
	bool maker;
	int fd = meet(o, &maker);

	if (fd < 0)
		return fd;
	shm->ch = ch;
	shm->size = o->size;
	shm->fd = fd;
	wf_shm_begin(shm, maker);
	ch->shm = shm;
	ch->capacity = shm->capacity;
	ch->state = WF_CHANNEL_SHM;
	return 0;
}

int weft_channel_open_until(weft_channel **ch, const char *name, size_t size,
			    const weft_channel_attr *attr, uint64_t deadline)
{
	struct opening o = { .size = size, .deadline = deadline };
	int rc = wf_call_allowed(-1, "weft_channel_open", WF_CALLER);

	*ch = NULL;
	if (rc == 0)
		rc = read_name(&o, name);
	if (rc == 0)
		rc = read_attributes(&o, attr);
	if (rc < 0)
		return rc;
	*ch = weft_channel_new(size, 0);
	o.shm = wf_new_aligned(sizeof *o.shm);
	rc = *ch != NULL && o.shm != NULL ? open_channel(&o, *ch) : -ENOMEM;
	if (rc < 0) {
		free(o.shm);
		(void)weft_channel_free(*ch);
		*ch = NULL;
	}
	return rc;
}
