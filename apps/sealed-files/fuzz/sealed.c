/* sealed.c - what comes before it is opened: greetings and sealed messages.
 * With: apps/sealed-files/handshake.c apps/sealed-files/seal.c -lcrypto
 */
#include "handshake.h"
#include "harness/fuzz.h"

static void check_message(uint8_t *in, size_t size)
{
	static const uint8_t key[SEAL_KEY];
	struct seal s;

	MUST(seal_init(&s, key, false) == 0);
	MUST(seal_open(&s, in, size) < 0);
	seal_fini(&s);
	if (size >= SEAL_HEAD)
		MUST(seal_size(in) <= SEAL_MAX);
}

FUZZ(text, size)
{
	uint8_t *in = (uint8_t *)(uintptr_t)text;

	if (size >= HANDSHAKE_HELLO && handshake_name(in) != NULL)
		MUST(handshake_name_is_good(handshake_name(in)));
	check_message(in, size);
}
