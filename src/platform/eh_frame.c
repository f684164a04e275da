/* eh_frame.c - reads .eh_frame.
 *
 * It is trusted, as the compiler's library does that every exception goes through.
 */
#include "platform/eh_frame.h"

/* Of the compiler's library: the entry of the table for a function. */
struct bases {
	void *text, *data, *function;
};
extern const void *_Unwind_Find_FDE(void *pc, struct bases *bases);

/* What is said about a function. */
struct table {
	const uint8_t *common, *common_end; /* instructions of all of its kind */
	const uint8_t *at, *end;            /* its own */
	uintptr_t function;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	bool signal;
};

enum { REMEMBERED = 4 };

/* An entry's length, and where it ends. */
static const uint8_t *entry_end(const uint8_t **at)
{
	uint64_t length = wf_eh_fixed(at, 4);

	if (length == 0xffffffff)
		length = wf_eh_fixed(at, 8);
	return *at + length;
}

static unsigned pointer_size(uint8_t encoding)
{
	switch (encoding & 7) {
	case 2:
		return 2;
	case 3:
		return 4;
	default:
		return 8;
	}
}

/* The common part. *encoding: how the function's own part writes addresses; *sized:
 * whether that has a part to be skipped. False: it is of a kind that we do not know. */
static bool read_common(const uint8_t *at, struct table *t, uint8_t *encoding, bool *sized)
{
	const char *kind;
	uint8_t version;
	uint64_t length;

	t->common_end = entry_end(&at);
	at += 4; /* a mark: this is a common part */
	version = *at++;
	kind = (const char *)at;
	at += strlen(kind) + 1;
	t->code_align = wf_eh_number(&at);
	t->data_align = wf_eh_signed(&at);
	t->return_column = version == 1 ? wf_eh_fixed(&at, 1) : wf_eh_number(&at);
	*encoding = 0;
	*sized = *kind == 'z';
	t->common = at;
	if (!*sized)
		return *kind == '\0';
	length = wf_eh_number(&at);
	t->common = at + length;
	for (kind++; *kind != '\0'; kind++) {
		if (*kind == 'R')
			*encoding = *at++;
		else if (*kind == 'L')
			at++;
		else if (*kind == 'P')
			at += 1 + pointer_size(*at);
		else if (*kind == 'S')
			t->signal = true;
		else if (*kind != 'B' && *kind != 'G')
			return false;
	}
	return true;
}

static enum wf_eh_found find_table(uintptr_t pc, struct table *t)
{
	const uint8_t *at, *mark;
	struct bases bases;
	uint8_t encoding;
	bool sized;

	memset(t, 0, sizeof *t);
	at = _Unwind_Find_FDE((void *)pc, &bases);
	if (at == NULL)
		return WF_EH_NOTHING;
	t->function = (uintptr_t)bases.function;
	t->end = entry_end(&at);
	mark = at;
	if (!read_common(mark - (int32_t)wf_eh_fixed(&at, 4), t, &encoding, &sized))
		return WF_EH_STRANGE;
	at += (size_t)2 * pointer_size(encoding); /* its first address, its length */
	if (sized) {
		uint64_t length = wf_eh_number(&at);

		at += length;
	}
	t->at = at;
	return t->return_column < WF_UNWIND_REGS ? WF_EH_FOUND : WF_EH_STRANGE;
}

/* The rows of the table */

/* Sets the rule of a register; those that we do not follow are left out. */
static void set(struct wf_eh_row *row, uint64_t reg, enum wf_eh_rule rule, int64_t value)
{
	if (reg >= WF_UNWIND_REGS)
		return;
	row->regs[reg].rule = rule;
	row->regs[reg].value = value;
}

static void set_expression(struct wf_eh_row *row, uint64_t reg, enum wf_eh_rule rule,
			   const uint8_t **at)
{
	uint64_t length;

	if (reg < WF_UNWIND_REGS) {
		row->regs[reg].rule = rule;
		row->regs[reg].expression = *at;
	}
	length = wf_eh_number(at);
	*at += length;
}

static void set_cfa(struct wf_eh_row *row, uint64_t reg, int64_t offset)
{
	row->cfa_reg = reg < WF_UNWIND_REGS ? (unsigned)reg : WF_UNWIND_SP;
	row->cfa_offset = offset;
	row->cfa_expression = NULL;
}

struct reading {
	const struct table *table;
	const struct wf_eh_row *first; /* after the common part, to restore from */
	struct wf_eh_row row, kept[REMEMBERED];
	unsigned depth;
	uintptr_t pc; /* where the row begins */
};

/* An instruction with a number of its own. False: one that we do not know. */
static bool extended(struct reading *r, uint8_t code, const uint8_t **at)
{
	struct wf_eh_row *row = &r->row;
	int64_t data = r->table->data_align;
	uint64_t reg;

	switch (code) {
	case 0x00: /* nop */
		return true;
	case 0x02:
	case 0x03:
	case 0x04: /* advance_loc1, 2, 4 */
		r->pc += wf_eh_fixed(at, 1u << (code - 2)) * r->table->code_align;
		return true;
	case 0x05: /* offset_extended */
		reg = wf_eh_number(at);
		set(row, reg, WF_EH_SAVED, (int64_t)wf_eh_number(at) * data);
		return true;
	case 0x06: /* restore_extended */
		reg = wf_eh_number(at);
		if (reg < WF_UNWIND_REGS)
			row->regs[reg] = r->first->regs[reg];
		return true;
	case 0x07: /* undefined */
		set(row, wf_eh_number(at), WF_EH_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		set(row, wf_eh_number(at), WF_EH_SAME, 0);
		return true;
	case 0x09: /* register */
		reg = wf_eh_number(at);
		set(row, reg, WF_EH_REGISTER, (int64_t)wf_eh_number(at));
		return true;
	case 0x0a: /* remember_state */
		if (r->depth == REMEMBERED)
			return false;
		r->kept[r->depth++] = *row;
		return true;
	case 0x0b: /* restore_state */
		if (r->depth == 0)
			return false;
		*row = r->kept[--r->depth];
		return true;
	case 0x0c: /* def_cfa */
		reg = wf_eh_number(at);
		set_cfa(row, reg, (int64_t)wf_eh_number(at));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(row, wf_eh_number(at), row->cfa_offset);
		return true;
	case 0x0e: /* def_cfa_offset */
		row->cfa_offset = (int64_t)wf_eh_number(at);
		return true;
	case 0x0f: /* def_cfa_expression */
		row->cfa_expression = *at;
		reg = wf_eh_number(at);
		*at += reg;
		return true;
	case 0x10: /* expression */
		reg = wf_eh_number(at);
		set_expression(row, reg, WF_EH_SAVED_EXPRESSION, at);
		return true;
	case 0x11: /* offset_extended_sf */
		reg = wf_eh_number(at);
		set(row, reg, WF_EH_SAVED, wf_eh_signed(at) * data);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = wf_eh_number(at);
		set_cfa(row, reg, wf_eh_signed(at) * data);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		row->cfa_offset = wf_eh_signed(at) * data;
		return true;
	case 0x14: /* val_offset */
		reg = wf_eh_number(at);
		set(row, reg, WF_EH_OFFSET, (int64_t)wf_eh_number(at) * data);
		return true;
	case 0x15: /* val_offset_sf */
		reg = wf_eh_number(at);
		set(row, reg, WF_EH_OFFSET, wf_eh_signed(at) * data);
		return true;
	case 0x16: /* val_expression */
		reg = wf_eh_number(at);
		set_expression(row, reg, WF_EH_EXPRESSION, at);
		return true;
	case 0x2d: /* AARCH64_negate_ra_state: we strip every address */
		return true;
	case 0x2e: /* GNU_args_size */
		(void)wf_eh_number(at);
		return true;
	default:
		return false;
	}
}

/* Runs instructions until the row that holds `pc` is complete. */
static bool run(struct reading *r, const uint8_t *at, const uint8_t *end, uintptr_t pc)
{
	while (at < end && r->pc <= pc) {
		uint8_t code = *at++, low = code & 0x3f;

		switch (code >> 6) {
		case 0:
			if (!extended(r, code, &at))
				return false;
			break;
		case 1: /* advance_loc */
			r->pc += low * r->table->code_align;
			break;
		case 2: /* offset */
			set(&r->row, low, WF_EH_SAVED,
			    (int64_t)wf_eh_number(&at) * r->table->data_align);
			break;
		default: /* restore */
			if (low < WF_UNWIND_REGS)
				r->row.regs[low] = r->first->regs[low];
		}
	}
	return true;
}

static bool find_row(const struct table *t, uintptr_t place, struct wf_eh_row *row)
{
	struct reading r = { .table = t, .pc = t->function };
	struct wf_eh_row first;

	memset(&first, 0, sizeof first);
	r.first = &first;
	if (!run(&r, t->common, t->common_end, UINTPTR_MAX))
		return false;
	first = r.row;
	r.pc = t->function;
	if (!run(&r, t->at, t->end, place))
		return false;
	*row = r.row;
	row->return_column = (unsigned)t->return_column;
	row->signal = t->signal;
	return true;
}

enum wf_eh_found wf_eh_find(uintptr_t place, struct wf_eh_row *row)
{
	struct table table;
	enum wf_eh_found found = find_table(place, &table);

	if (found == WF_EH_FOUND && !find_row(&table, place, row))
		return WF_EH_STRANGE;
	return found;
}
