/* log.c - weft-httpd's access log where it has no room: on a disk that is full, or in a pipe that
 * nobody reads. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

static char path[128], reports[128]; /* of the log, and of what is said on standard error */

/* Starts the server with this log, and with its standard error in a file. */
static void log_server(const char *log)
{
	int before = dup(STDERR_FILENO), fd;

	snprintf(path, sizeof path, "%s/log", site);
	snprintf(reports, sizeof reports, "%s/reports", site);
	fd = open(reports, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(before >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	SERVER("--access-log", log != NULL ? log : path);
	dup2(before, STDERR_FILENO);
	close(before);
	close(fd);
}

static int count_reports(const char *word)
{
	char line[512];
	int n = 0;
	FILE *in = fopen(reports, "r");

	CHECK(in != NULL);
	while (fgets(line, sizeof line, in) != NULL)
		n += strstr(line, word) != NULL;
	fclose(in);
	return n;
}

/* How large the server's files may become: more is as a full disk. */
static void limit_files(rlim_t size)
{
	CHECK_EQ(prlimit(server.pid, RLIMIT_FSIZE, &(struct rlimit){ size, RLIM_INFINITY }, NULL),
		 0);
}

/* Is it one line, from its beginning to its end? */
static bool is_whole(const char *line)
{
	char target[200];
	int status, n = 0;

	if (sscanf(line, "127.0.0.1 - - [%*[^]\"]] \"GET %199s HTTP/1.1\" %d %*u %*u%n", target,
		   &status, &n) != 2)
		return false;
	return n > 0 && strcmp(line + n, "\n") == 0 && target[0] == '/' &&
	       (status == 200 || status == 404);
}

static long count_whole_lines(FILE *in)
{
	char line[1024];
	long n = 0;

	CHECK(in != NULL);
	for (; fgets(line, sizeof line, in) != NULL; n++)
		if (!is_whole(line))
			test_fail(__FILE__, __LINE__, "not a line: %s", line);
	fclose(in);
	return n;
}

/* Ends the server. All requests had their lines, but for those that were counted as lost. */
static void end_and_count(long lost)
{
	long requests;

	CHECK_EQ(sscanf(server_end(), "stopped after %ld requests", &requests), 1);
	CHECK_EQ(count_whole_lines(fopen(path, "r")), requests - lost);
}

/* One round: lines are lost, and then none is any more. */
static void run_out_of_room(rlim_t room)
{
	long before = status_number("log_dropped");
	int losses = count_reports("File too large"), recoveries = count_reports("again");

	limit_files(room);
	while (status_number("log_dropped") == before)
		;
	CHECK_EQ(count_reports("File too large"), losses + 1);
	limit_files(RLIM_INFINITY);
	while (count_reports("again") == recoveries)
		CHECK_EQ(get("/none", ""), 404);
	CHECK_EQ(count_reports("File too large"), losses + 1);
}

TEST(a_full_disk_costs_whole_lines_only_and_is_reported)
{
	struct stat st;

	site_make();
	log_server(NULL);
	for (rlim_t more = 333; more < 340; more += 3) { /* within a line, somewhere */
		CHECK_EQ(stat(path, &st), 0);
		run_out_of_room((rlim_t)st.st_size + more);
	}
	end_and_count(status_number("log_dropped"));
}

TEST(a_disk_that_stays_full_stops_neither_requests_nor_the_end)
{
	site_make();
	log_server("/dev/full");
	while (status_number("log_dropped") < 100)
		CHECK_EQ(get("/a.txt", ""), 200);
	CHECK_EQ(count_reports("No space left on device"), 1);
	server_end();
	CHECK_EQ(count_reports("again"), 0);
}

TEST(a_log_that_was_cut_in_a_line_goes_on_with_a_new_one)
{
	static const char cut[] = "127.0.0.1 - - [cut";
	char line[256] = "";
	FILE *file;

	site_make();
	site_write("log", cut, sizeof cut - 1);
	snprintf(path, sizeof path, "%s/log", site);
	SERVER("--access-log", path);
	CHECK_EQ(get("/a.txt", ""), 200);
	server_end();
	file = fopen(path, "r");
	CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
	CHECK_EQ(strncmp(line, cut, sizeof cut - 1), 0);
	CHECK_STR(line + sizeof cut - 1, "\n");
	CHECK_EQ(count_whole_lines(file), 1);
}

/* More requests than log and pipe have room for, some hundred at a time. */
static void ask_much(void)
{
	enum { ROUND = 200, ROUNDS = 60 };
	static const char request[] = "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n";
	static char round[ROUND * (sizeof request - 1)];
	int fd = dial();

	for (int i = 0; i < ROUND; i++)
		memcpy(round + (size_t)i * (sizeof request - 1), request, sizeof request - 1);
	say(fd, request);
	CHECK_EQ(hear_reply(fd), 200);
	for (int i = 0; i < ROUNDS; i++) {
		size_t reply = answer_size / (i == 0 ? 1 : ROUND);

		say_bytes(fd, round, sizeof round);
		hear(fd, reply * ROUND);
	}
	close(fd);
}

static int make_pipe(void)
{
	int fd;

	site_make();
	snprintf(path, sizeof path, "%s/log", site);
	CHECK_EQ(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	return fd;
}

/* Moves what is in the pipe to a file. False: that was all, and the server has closed it. */
static bool read_pipe(int fd, FILE *out)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof block)) > 0)
		CHECK_EQ(fwrite(block, 1, (size_t)n, out), n);
	return n < 0;
}

TEST(a_pipe_without_room_costs_whole_lines_only_and_is_reported)
{
	int fd = make_pipe();
	FILE *out = tmpfile();
	long lost, requests;

	CHECK(out != NULL);
	log_server(NULL);
	while (status_number("log_dropped") == 0)
		ask_much();
	CHECK_EQ(count_reports("are lost"), 1);
	while (count_reports("again") == 0) {
		read_pipe(fd, out);
		CHECK_EQ(get("/none", ""), 404);
	}
	lost = status_number("log_dropped");
	CHECK_EQ(sscanf(server_end(), "stopped after %ld requests", &requests), 1);
	CHECK(!read_pipe(fd, out));
	rewind(out);
	CHECK_EQ(count_whole_lines(out), requests - lost);
}

TEST(the_server_ends_though_nobody_reads_its_log)
{
	int fd = make_pipe();

	log_server(NULL);
	while (status_number("log_dropped") == 0)
		ask_much();
	server_end();
	close(fd);
}

TEST_MAIN
