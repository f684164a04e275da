/* chunked.c - a body in chunks, letter by letter but for its data. */
#include "chunked.h"

#include "letters.h"

/* Bytes of extensions and trailers in one body, all of which mean nothing to us. */
enum { EXTRA_MAX = 4096, DIGITS_MAX = 15 };

enum { SIZE, EXTENSION, SIZE_FEED, DATA, DATA_CR, DATA_FEED, LINE, NAME, VALUE, VALUE_FEED, LAST };

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_size(struct chunked *c, char letter)
{
	int value = digit(letter);

	if (value >= 0) {
		c->left = c->left << 4 | (unsigned)value;
		return ++c->digits <= DIGITS_MAX;
	}
	if (c->digits == 0)
		return false;
	if (letter == '\r')
		c->state = SIZE_FEED;
	else if (letter == ';')
		c->state = EXTENSION;
	else
		return false;
	return true;
}

/* Text that means nothing, of letters of one kind, up to the letter that ends it. */
static bool read_extra(struct chunked *c, char letter, int kind, char end, uint8_t next)
{
	if (letter == end) {
		c->state = next;
		return true;
	}
	return letter_is(letter, kind) && ++c->extra <= EXTRA_MAX;
}

static bool expect(struct chunked *c, char letter, char wanted, uint8_t next)
{
	c->state = next;
	return letter == wanted;
}

/* One letter that is no data. */
static bool step(struct chunked *c, char letter)
{
	switch (c->state) {
	case SIZE:
		return read_size(c, letter);
	case EXTENSION:
		return read_extra(c, letter, LETTER_VALUE, '\r', SIZE_FEED);
	case SIZE_FEED:
		c->digits = 0;
		return expect(c, letter, '\n', c->left > 0 ? DATA : LINE);
	case DATA_CR:
		return expect(c, letter, '\r', DATA_FEED);
	case DATA_FEED:
		return expect(c, letter, '\n', SIZE);
	case LINE:
		if (letter == '\r')
			return expect(c, letter, '\r', LAST);
		c->state = NAME;
		return letter_is(letter, LETTER_TOKEN) && ++c->extra <= EXTRA_MAX;
	case NAME:
		return read_extra(c, letter, LETTER_TOKEN, ':', VALUE);
	case VALUE:
		return read_extra(c, letter, LETTER_VALUE, '\r', VALUE_FEED);
	default: /* VALUE_FEED */
		return expect(c, letter, '\n', LINE);
	}
}

enum chunked_step chunked_next(struct chunked *c, const char *in, size_t have, size_t *used,
			       struct text *data)
{
	size_t i = 0;

	while (i < have) {
		if (c->state == DATA) {
			size_t size = c->left < have - i ? (size_t)c->left : have - i;

			*data = (struct text){ in + i, size };
			*used = i + size;
			c->left -= size;
			if (c->left == 0)
				c->state = DATA_CR;
			return CHUNKED_DATA;
		}
		if (c->state == LAST) {
			*used = i + 1;
			return in[i] == '\n' ? CHUNKED_END : CHUNKED_BAD;
		}
		if (!step(c, in[i++])) {
			*used = i;
			return CHUNKED_BAD;
		}
	}
	*used = i;
	return CHUNKED_MORE;
}
