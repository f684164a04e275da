/* log_file.h - the file of the access log: only whole lines, even if the disk is full. */
#ifndef HTTPD_LOG_FILE_H
#define HTTPD_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

enum { LOG_LINE_MOST = 1024 };

/* Opens what the settings say. 0 or -Exxx. May block. */
int log_file_open(void);

/* Opens the file again; if that fails, keeps the old one. Waits. */
void log_file_open_again(void);

/* Writes lines, each with its end and shorter than LOG_LINE_MOST. Those for which there is no room
 * are lost. Waits. */
void log_file_write(const char *text, size_t size);

/* Waits. */
void log_file_close(void);

/* Counts lines that are lost. The first is reported, with the reason, and so is the recovery. */
void log_file_lose(uint64_t lines, const char *why);

#endif
