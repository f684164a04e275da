/* once.h - a client for --once: asks the server for its pages and shows them. */
#ifndef HTTPD_ONCE_H
#define HTTPD_ONCE_H

/* Asks the server at that port of this machine, then stops it. A thread of its own. */
int once_start(int port);

/* After weft_run: whether all came as it should. */
int once_succeeded(void);

#endif
