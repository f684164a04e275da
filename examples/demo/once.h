/* once.h - a client in the same program, for `weft-demo --once`. */
#ifndef DEMO_ONCE_H
#define DEMO_ONCE_H

/* Fetches the home page and the counters from 127.0.0.1:port over a socket, prints
 * both, then calls server_stop. In WEFT_MAIN. */
int once_start(int port);

/* After weft_run: whether all went well; tells what did not. */
int once_succeeded(void);

#endif
