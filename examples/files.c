/* files.c - regular files by operations: no worker waits for the disk. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <weft/weft.h>

static const char text[] = "woven";
static char path[64], buf[16];
static weft_op op; /* used again and again: it is ours when its function is called */
static int fd;

static void step(void *arg)
{
	static const char *const names[] = { "write", "sync", "read", "close" };
	int *steps = arg;

	if (*steps > 0)
		printf("%s: %lld\n", names[*steps - 1], (long long)op.result);
	switch ((*steps)++) {
	case 0:
		fd = (int)op.result;
		if (fd < 0)
			return;
		weft_op_pwrite(&op, fd, text, sizeof text, 100);
		break;
	case 1:
		weft_op_fsync(&op, fd, false);
		break;
	case 2:
		weft_op_pread(&op, fd, buf, sizeof buf, 100);
		break;
	case 3:
		weft_op_close(&op, fd);
		break;
	default:
		printf("the file says %s\n", buf);
		unlink(path);
	}
}

static int app(void *steps)
{
	snprintf(path, sizeof path, "/tmp/weft-files-%d", (int)getpid());
	weft_op_init(&op, WEFT_MAIN, step, steps);
	return weft_op_open(&op, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

int main(void)
{
	int steps = 0;

	return weft_run(app, &steps, NULL) < 0;
}
