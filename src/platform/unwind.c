/* unwind.c - from frame to frame. The tables are trusted, the stack is not. */
#include "platform/unwind.h"

#include <string.h>
#include <ucontext.h>

#include "platform/eh_frame.h"

void wf_switch_root(void);

#if defined(__x86_64__)
enum { SP = WF_UNWIND_SP, FP = 6, RETURN = 16 };
#else
enum { SP = WF_UNWIND_SP, FP = 29, RETURN = 30 };
#endif

enum { EXPRESSION_STACK = 16 };

/* Reading the stack */

__attribute__((no_sanitize("address", "thread", "undefined"))) static bool read_word(
	const struct wf_unwind *u, uintptr_t at, uintptr_t *value)
{
	if (at == 0 || at < u->low || at >= u->high || u->high - at < sizeof *value ||
	    at % sizeof *value != 0)
		return false;
	*value = *(const volatile uintptr_t *)at;
	return true;
}

/* Expressions: a stack machine. Functions that align their stack have them, and
 * signal trampolines. */

static bool operate(uint8_t code, uintptr_t a, uintptr_t *b)
{
	switch (code) {
	case 0x1a: /* and */
		*b &= a;
		return true;
	case 0x1c: /* minus */
		*b -= a;
		return true;
	case 0x1e: /* mul */
		*b *= a;
		return true;
	case 0x21: /* or */
		*b |= a;
		return true;
	case 0x22: /* plus */
		*b += a;
		return true;
	case 0x24: /* shl */
		*b = a < 64 ? *b << a : 0;
		return true;
	case 0x2a: /* ge */
		*b = (intptr_t)*b >= (intptr_t)a;
		return true;
	default:
		return false;
	}
}

/* One that pushes a value. */
static bool operand(const struct wf_unwind *u, uint8_t code, const uint8_t **at, uintptr_t *value)
{
	if (code >= 0x30 && code <= 0x4f) /* lit0 to lit31 */
		*value = code - 0x30u;
	else if (code >= 0x70 && code <= 0x8f && code - 0x70 < WF_UNWIND_REGS) /* breg0 ... */
		*value = u->regs[code - 0x70] + (uintptr_t)wf_eh_signed(at);
	else if (code == 0x08 || code == 0x0a || code == 0x0c || code == 0x0e) /* const1u ... */
		*value = wf_eh_fixed(at, 1u << ((code - 0x08) / 2));
	else if (code == 0x10) /* constu */
		*value = wf_eh_number(at);
	else if (code == 0x11) /* consts */
		*value = (uintptr_t)wf_eh_signed(at);
	else
		return false;
	return true;
}

static bool evaluate(const struct wf_unwind *u, const uint8_t *at, uintptr_t cfa, uintptr_t *value)
{
	uintptr_t stack[EXPRESSION_STACK] = { cfa };
	uint64_t length = wf_eh_number(&at);
	const uint8_t *end = at + length;
	unsigned n = 1;

	while (at < end) {
		uint8_t code = *at++;

		if (code == 0x06) { /* deref */
			if (!read_word(u, stack[n - 1], &stack[n - 1]))
				return false;
		} else if (code == 0x23) { /* plus_uconst */
			stack[n - 1] += wf_eh_number(&at);
		} else if (n < EXPRESSION_STACK && operand(u, code, &at, &stack[n])) {
			n++;
		} else if (n >= 2 && operate(code, stack[n - 1], &stack[n - 2])) {
			n--;
		} else {
			return false;
		}
	}
	*value = stack[n - 1];
	return true;
}

/* Stepping */

static bool restore(const struct wf_unwind *u, const struct wf_eh_row *row, unsigned reg,
		    uintptr_t cfa, uintptr_t *value)
{
	int64_t by = row->regs[reg].value;

	switch (row->regs[reg].rule) {
	case WF_EH_SAVED:
		return read_word(u, cfa + (uintptr_t)by, value);
	case WF_EH_OFFSET:
		*value = cfa + (uintptr_t)by;
		return true;
	case WF_EH_REGISTER:
		if (by >= WF_UNWIND_REGS)
			return false;
		*value = u->regs[by];
		return true;
	case WF_EH_SAVED_EXPRESSION:
		return evaluate(u, row->regs[reg].expression, cfa, value) &&
		       read_word(u, *value, value);
	case WF_EH_EXPRESSION:
		return evaluate(u, row->regs[reg].expression, cfa, value);
	default:
		*value = u->regs[reg];
		return true;
	}
}

/* A return address may carry a signature in its high bits. */
static uintptr_t strip(uintptr_t pc)
{
#if defined(__aarch64__)
	register uintptr_t x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30)); /* xpaclri */
	return x30;
#else
	return pc;
#endif
}

/* By the row. */
static bool step_by(struct wf_unwind *u, const struct wf_eh_row *row)
{
	uintptr_t cfa, regs[WF_UNWIND_REGS];

	if (row->regs[row->return_column].rule == WF_EH_UNDEFINED)
		return false; /* nobody called it */
	if (row->cfa_expression == NULL)
		cfa = u->regs[row->cfa_reg] + (uintptr_t)row->cfa_offset;
	else if (!evaluate(u, row->cfa_expression, 0, &cfa))
		return false;
	for (unsigned i = 0; i < WF_UNWIND_REGS; i++)
		if (!restore(u, row, i, cfa, &regs[i]))
			return false;
	if (row->regs[SP].rule == WF_EH_SAME)
		regs[SP] = cfa;
	u->pc = strip(regs[row->return_column]);
	memcpy(u->regs, regs, sizeof regs);
	return true;
}

/* Where there are no tables: by the frame pointer, should there be one. Both CPUs keep
 * the caller's and the return address at it. */
static bool step_by_frame(struct wf_unwind *u)
{
	uintptr_t fp = u->regs[FP], pc;

	if (fp < u->regs[SP] || !read_word(u, fp, &u->regs[FP]) ||
	    !read_word(u, fp + sizeof fp, &pc))
		return false;
	u->pc = strip(pc);
	u->regs[SP] = fp + 2 * sizeof fp;
	return true;
}

static bool step(struct wf_unwind *u)
{
	struct wf_eh_row row;

	switch (wf_eh_find(wf_unwind_place(u), &row)) {
	case WF_EH_FOUND:
		u->exact = row.signal;
		return step_by(u, &row);
	case WF_EH_NOTHING:
		u->exact = false;
		return step_by_frame(u);
	default:
		return false;
	}
}

bool wf_unwind_step(struct wf_unwind *u)
{
	uintptr_t sp = u->regs[SP];

	if (!wf_unwind_begun(u) || !step(u))
		return false;
	/* Stacks grow down; a function that is interrupted may have no frame yet. */
	if (u->regs[SP] < sp || (u->regs[SP] == sp && u->moved) || u->regs[SP] > u->high)
		return false;
	u->moved = true;
	return u->pc != 0;
}

/* Beginning */

static void begin(struct wf_unwind *u, uintptr_t low, uintptr_t high, bool exact)
{
	memset(u, 0, sizeof *u);
	u->low = (low + sizeof low - 1) & ~(sizeof low - 1);
	u->high = high;
	u->exact = exact;
}

bool wf_unwind_begun(const struct wf_unwind *u)
{
	return u->pc != (uintptr_t)wf_switch_root;
}

#if defined(__x86_64__)
void wf_unwind_left(struct wf_unwind *u, uintptr_t sp, uintptr_t low, uintptr_t high)
{
	/* As switch_x86_64.h leaves it. It is inside of a function, whose tables know
	 * nothing of what it does with the stack. */
	begin(u, low, high, true);
	(void)read_word(u, sp, &u->regs[3]);
	(void)read_word(u, sp + 8, &u->regs[FP]);
	(void)read_word(u, sp + 16, &u->pc);
	u->regs[SP] = sp + 24 + 128;
}

void wf_unwind_signal(struct wf_unwind *u, const void *context, uintptr_t low, uintptr_t high)
{
	/* By DWARF's numbers. */
	static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	const ucontext_t *c = context;

	begin(u, low, high, true);
	for (size_t i = 0; i < sizeof order; i++)
		u->regs[i] = (uintptr_t)c->uc_mcontext.gregs[order[i]];
	u->pc = u->regs[RETURN];
}
#else
void wf_unwind_left(struct wf_unwind *u, uintptr_t sp, uintptr_t low, uintptr_t high)
{
	/* As switch_aarch64.S leaves them, after d8 to d15. */
	begin(u, low, high, false);
	sp += 64;
	for (unsigned reg = 19; reg <= 30; reg++, sp += 8)
		(void)read_word(u, sp, &u->regs[reg]);
	u->pc = strip(u->regs[RETURN]);
	u->regs[SP] = sp;
}

void wf_unwind_signal(struct wf_unwind *u, const void *context, uintptr_t low, uintptr_t high)
{
	const ucontext_t *c = context;

	begin(u, low, high, true);
	for (unsigned reg = 0; reg <= 30; reg++)
		u->regs[reg] = c->uc_mcontext.regs[reg];
	u->regs[SP] = c->uc_mcontext.sp;
	u->pc = c->uc_mcontext.pc;
}
#endif
