/* keys.h - what the four servers share: lines, and a table of keys. Nothing here waits.
 *
 *	GET key         "= value", or "none"
 *	SET key value   "ok"; the value is the rest of the line
 *	DEL key         "ok", or "none"
 *	WAIT key ms     "= value" as soon as the key has one, or "none" after so many milliseconds
 *	QUIT            "bye", and the connection is closed
 *
 * Anything else is answered by a line that begins with "error". The server begins, with "hello".
 * After a line that is too long, and when a client does not take its answer and send the next
 * line in time, the connection is closed. A client may send lines ahead, and close its own
 * direction after the last: it gets all answers.
 */
#ifndef KEYS_H
#define KEYS_H

#include <weft/weft.h>

enum { LINE_SIZE = 256 }; /* of a line, with its end */

/* Nanoseconds for a client to take its answer and send the next line. */
extern uint64_t keys_patience;

/* What a client has sent and nobody has looked at. */
struct input {
	size_t used;
	char bytes[LINE_SIZE];
};

struct request {
	char text[LINE_SIZE]; /* the line, without its end; then the answer, with it */
	bool too_long;        /* the line was; there is nothing in text */
	bool leaving;         /* the connection ends after this answer */
	/* If it has to wait: for so long; and what is called when the answer is there, but not
	 * after keys_give_up. */
	uint64_t ns;
	void (*wake)(struct request *r);
	struct key *key; /* that it waits for */
	struct request *next;
};

/* Makes a new connection's request, with the greeting for its first answer. */
void keys_greet(struct request *r, void (*wake)(struct request *r));

/* Moves the first line from the input to the request. Returns whether there is one. */
bool keys_take_line(struct input *in, struct request *r);

/* Does what the line says, and puts the answer in its place. Returns whether it has to wait: then
 * another's SET will give the answer, or keys_give_up. Only one may be in these two at a time. */
bool keys_run(struct request *r);
bool keys_give_up(struct request *r); /* returns false if the answer is there already */

/* Runs `app`, with the address of the listening socket, on what the command line says. */
int keys_main(int argc, char **argv, int (*app)(void *listener));

#endif
