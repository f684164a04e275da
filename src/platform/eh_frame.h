/* eh_frame.h - what a program's tables say about a place in its code: where the caller's
 * registers are. The tables are made for exceptions; the DWARF standard, chapter 6.4,
 * tells how to read them.
 */
#ifndef WF_EH_FRAME_H
#define WF_EH_FRAME_H

#include <string.h>

#include "platform/unwind.h"

/* How the caller's value of a register is found. */
enum wf_eh_rule {
	WF_EH_SAME,
	WF_EH_UNDEFINED,
	WF_EH_SAVED,            /* in memory, `value` from the CFA */
	WF_EH_OFFSET,           /* it is CFA + value */
	WF_EH_REGISTER,         /* in the register `value` */
	WF_EH_SAVED_EXPRESSION, /* in memory, where the expression says */
	WF_EH_EXPRESSION        /* it is what the expression says */
};

/* All about one place. The CFA, the caller's stack pointer as a rule, is a register and
 * an offset, or an expression. */
struct wf_eh_row {
	struct {
		enum wf_eh_rule rule;
		int64_t value;
		const uint8_t *expression;
	} regs[WF_UNWIND_REGS];
	unsigned cfa_reg;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* or NULL */
	unsigned return_column;        /* the register with the return address */
	bool signal;                   /* the caller was interrupted: it made no call */
};

enum wf_eh_found {
	WF_EH_NOTHING, /* no table knows the place */
	WF_EH_STRANGE, /* one does, in a way that we do not understand */
	WF_EH_FOUND
};

enum wf_eh_found wf_eh_find(uintptr_t place, struct wf_eh_row *row);

/* Numbers as tables and expressions have them. They move *at on. */

static inline uint64_t wf_eh_number(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = *(*at)++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t wf_eh_signed(const uint8_t **at)
{
	const uint8_t *start = *at;
	uint64_t value = wf_eh_number(at);
	unsigned bits = 7 * (unsigned)(*at - start);

	if (bits < 64 && (*at)[-1] & 0x40)
		value |= ~(uint64_t)0 << bits;
	return (int64_t)value;
}

static inline uint64_t wf_eh_fixed(const uint8_t **at, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, *at, bytes); /* both CPUs are little-endian */
	*at += bytes;
	return value;
}

#endif
