/* log.h - the access log. Writing to it never waits: if the log cannot keep up, or its disk is
 * full, lines are dropped and counted. */
#ifndef HTTPD_LOG_H
#define HTTPD_LOG_H

#include <sys/socket.h>
#include <time.h>

#include "request.h"

/* One line. Targets are cut to what fits. */
struct log_line {
	struct sockaddr_storage *peer;
	const struct request *request;
	bool h2; /* it came by HTTP/2 */
	int status;
	uint64_t bytes, ns;
};

/* Opens the log, if the settings say so, and starts the thread that writes it. */
int log_start(void);

void log_add(const struct log_line *line);

/* Opens the file anew, after it was renamed, say. */
void log_reopen(void);

/* Writes what is left, and ends the thread. */
void log_stop(void);

/* After weft_run. */
void log_free(void);

#endif
