/* switch_x86_64.h - leaves one stack and goes on, on another.
 *
 * A flow that does not run has, from its stack pointer upward: rbx, rbp, the address
 * to go on at. The other registers that a call would keep are saved by the compiler,
 * if it has anything in them. It is no function, and jumps instead of returning,
 * because the processor foresees returns by the calls before them: a call and a
 * return that do not match cost 10 ns (measured), three times all the rest. MXCSR and
 * the x87 control word are not kept, contrary to what a call does: to read both costs
 * 7 ns, and a thread that waits with a rounding mode of its own is rare (debug builds
 * find it, see weft/thread.h).
 */
#ifndef WF_SWITCH_X86_64_H
#define WF_SWITCH_X86_64_H

#include "base/compiler.h"

#ifdef __AVX512F__
#define WF_SWITCH_WIDE \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", \
		"xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", \
		"k3", "k4", "k5", "k6", "k7"
#else
#define WF_SWITCH_WIDE
#endif

/* Who is interrupted between two stacks has no caller: unwinders would take what is on the
 * one for frames of the other. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define WF_SWITCH_NO_CALLER ".cfi_remember_state\n\t.cfi_undefined rip\n\t"
/* Debuggers look at the byte before the address to go on at: that is the nop. */
#define WF_SWITCH_CALLER "\n\t.cfi_restore_state\n\tnop\n"
#else
#define WF_SWITCH_NO_CALLER
#define WF_SWITCH_CALLER "\n"
#endif

static inline __attribute__((always_inline)) void wf_switch(void **save, void *to)
{
	/* 128: what the function may use below its stack pointer. */
	__asm__ volatile(WF_SWITCH_NO_CALLER "leaq	-128(%%rsp), %%rsp\n\t"
					     "leaq	1f(%%rip), %%rax\n\t"
					     "pushq	%%rax\n\t"
					     "pushq	%%rbp\n\t"
					     "pushq	%%rbx\n\t"
					     "movq	%%rsp, (%%rdi)\n\t"
					     "movq	%%rsi, %%rsp\n\t"
					     "popq	%%rbx\n\t"
					     "popq	%%rbp\n\t"
					     "popq	%%rax\n\t"
					     "jmp	*%%rax" WF_SWITCH_CALLER "1:\n\t"
					     "endbr64\n\t"
					     "leaq	128(%%rsp), %%rsp"
			 : "+D"(save), "+S"(to)
			 :
			 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			   "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
			   "memory", "cc" WF_SWITCH_WIDE);
}

/* The same for a flow that nobody goes on with: nothing is kept of it. */
static inline __attribute__((always_inline)) _Noreturn void wf_switch_last(void *to)
{
	__asm__ volatile(WF_SWITCH_NO_CALLER "movq	%0, %%rsp\n\t"
					     "popq	%%rbx\n\t"
					     "popq	%%rbp\n\t"
					     "popq	%%rax\n\t"
					     "jmp	*%%rax" WF_SWITCH_CALLER
			 :
			 : "S"(to)
			 : "memory");
	__builtin_unreachable();
}

/* How calculations are rounded and what traps: what a new process has, or not. */
static inline bool wf_fp_mode_is_default(void)
{
	uint32_t mxcsr;
	uint16_t x87;

	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
	return (mxcsr & ~0x3fu) == 0x1f80 && x87 == 0x37f;
}

#endif
