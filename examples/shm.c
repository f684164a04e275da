/* shm.c - a channel between two processes: requests, replies, and a sudden death.
 *
 * The second process counts letters for the first. Both open the same name; who comes
 * first waits for the other. The last request kills the second process in the middle
 * of its work, which the first one is told.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

struct message {
	char text[24];
	size_t letters;
};
WEFT_CHANNEL(messages, struct message);

static char name[32];

static int serve(void *unused)
{
	struct message m;
	messages *c;
	int rc = messages_open(&c, name, NULL);

	(void)unused;
	while (rc == 0 && (rc = messages_receive(c, &m)) == 0) {
		if (strcmp(m.text, "die") == 0)
			raise(SIGKILL);
		m.letters = strlen(m.text);
		rc = messages_send(c, m);
	}
	return rc;
}

static int ask(void *unused)
{
	static const char *const texts[] = { "warp", "weft", "shuttle", "die" };
	struct message m = { { 0 }, 0 };
	messages *c;
	int rc = messages_open(&c, name, NULL);

	(void)unused;
	for (size_t i = 0; rc == 0 && i < sizeof texts / sizeof *texts; i++) {
		strcpy(m.text, texts[i]);
		rc = messages_send(c, m);
		if (rc == 0)
			rc = messages_receive(c, &m);
		if (rc == 0)
			printf("%s has %zu letters\n", m.text, m.letters);
	}
	if (rc == -ECONNRESET)
		puts("the other process is gone");
	return messages_free(c);
}

int main(void)
{
	pid_t pid;

	snprintf(name, sizeof name, "shm:example-%d", (int)getpid());
	pid = fork();
	if (pid == 0)
		return weft_run(serve, NULL, NULL) < 0;
	return pid < 0 || weft_run(ask, NULL, NULL) < 0 || waitpid(pid, NULL, 0) != pid;
}
