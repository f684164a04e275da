/* letters.c - the table of letters. */
#include "letters.h"

#define SEEN (LETTER_TARGET | LETTER_VALUE)
#define IN_HOST (SEEN | LETTER_HOST)
#define TOKEN (SEEN | LETTER_TOKEN)
#define ALL (SEEN | LETTER_TOKEN | LETTER_HOST)

/* clang-format off */
const uint8_t letter_kinds[256] = {
	['\t'] = LETTER_VALUE, [' '] = LETTER_VALUE,
	['!'] = TOKEN, ['"'] = SEEN, ['#'] = LETTER_VALUE | LETTER_TOKEN, ['$'] = TOKEN,
	['%'] = ALL, ['&'] = TOKEN, ['\''] = TOKEN, ['('] = SEEN, [')'] = SEEN, ['*'] = TOKEN,
	['+'] = TOKEN, [','] = SEEN, ['-'] = ALL, ['.'] = ALL, ['/'] = SEEN,
	['0' ... '9'] = ALL, [':'] = IN_HOST, [';'] = SEEN, ['<'] = SEEN, ['='] = SEEN,
	['>'] = SEEN, ['?'] = SEEN, ['@'] = SEEN, ['A' ... 'Z'] = ALL, ['['] = IN_HOST,
	['\\'] = SEEN, [']'] = IN_HOST, ['^'] = TOKEN, ['_'] = ALL, ['`'] = TOKEN,
	['a' ... 'z'] = ALL, ['{'] = SEEN, ['|'] = TOKEN, ['}'] = SEEN, ['~'] = ALL,
	[0x80 ... 0xff] = LETTER_VALUE,
};
/* clang-format on */
