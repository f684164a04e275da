/* shm_fault.c - the nth call to the outside world fails, for every n: opening and using a
 * channel between processes tells an error or works, and leaves nothing over.
 */
/* backends: both */
#include "processes.h"

#include <dirent.h>

#include "base/fault.h"

/* Whatever fails, the other side must not wait for ever. Without faults it may. */
static uint64_t patience;
#define SOON (patience != 0 ? weft_now() + patience : WEFT_FOREVER)

static void expected_at(int rc, int line)
{
	static const int fine[] = { ENOMEM, EMFILE,     EAGAIN, EBADF, ENOBUFS, ETIMEDOUT,
				    EPIPE,  ECONNRESET, EPROTO, EIO,   ENODATA };

	for (size_t i = 0; rc < 0 && i < sizeof fine / sizeof *fine; i++)
		if (rc == -fine[i])
			return;
	if (rc < 0)
		test_fail(__FILE__, line, "%d after a fault in %s", rc, wf_fault_site());
}
#define expected(rc) expected_at(rc, __LINE__)

static int use(weft_channel *ch, bool first)
{
	int value = 0, rc = 0;

	for (int i = 0; i < 6 && rc == 0; i++) {
		rc = i % 2 == first ? weft_channel_receive_until(ch, &value, SOON)
				    : weft_channel_send_until(ch, &value, SOON);
		if (i == 3)
			(void)weft_sleep(100 * WEFT_US); /* the other waits, and sleeps */
	}
	expected(rc);
	return rc;
}

static int other(void *unused)
{
	weft_channel *ch;
	int rc = weft_channel_open_until(&ch, shm_name, sizeof(int), NULL, SOON);

	(void)unused;
	expected(rc);
	if (rc == 0)
		(void)use(ch, true);
	expected(weft_channel_free(ch));
	return 0;
}

static int worked;

static int program(void *unused)
{
	weft_channel *ch;
	weft_thread *t = NULL;
	int rc;

	(void)unused;
	rc = weft_thread_start(&t, NULL, other, NULL);
	expected(rc);
	if (rc == 0) {
		rc = weft_channel_open_until(&ch, shm_name, sizeof(int), NULL, SOON);
		expected(rc);
		worked += rc == 0 && use(ch, false) == 0;
		expected(weft_channel_free(ch));
		(void)weft_join(t, NULL);
	}
	return 0;
}

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static long once(long nth)
{
	weft_options opt = { .workers = 1 };
	long count;

	fresh_name();
	wf_fault_arm(nth);
	expected(weft_run(program, NULL, &opt));
	count = wf_fault_count();
	wf_fault_arm(0);
	return count;
}

TEST(every_fault_is_told_and_leaves_nothing_over)
{
	long last = once(0);
	unsigned before = descriptors();

	CHECK_EQ(worked, 1);
	patience = 15 * WEFT_MS;
	for (long n = 1; n <= last + 10; n++)
		(void)once(n);
	CHECK_EQ(descriptors(), before);
	patience = worked = 0;
	(void)once(0);
	CHECK_EQ(worked, 1);
}

TEST_MAIN
