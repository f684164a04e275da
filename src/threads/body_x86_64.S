/* body_x86_64.S - runs a body on a spare stack, and comes back (body.h).
 *
 * Who starts it is left as by wf_switch, so that anybody can switch to it when the body
 * first waits: rbx, rbp, `went_on`, and above that r15 to r12, which wf_switch leaves to
 * the compiler. While it runs rbx is the body's record, and until they part r13 and r14 are
 * who starts it, and its stack pointer. When it returns without having waited nothing
 * has to be restored but the stack pointer and these, and the return matches its call; when
 * it has waited the caller goes on by a jump (see leave.h).
 *
 * What a call costs is its stores, one a cycle: that decides what is kept where, and why
 * what is rare is out of the way.
 *
 * The worker is found by its own variable: by the thread's record it would be one more load
 * in a chain of loads, each of which waits for the last, and that is what a switch costs.
 *
 * For unwinders the caller's frame is where the record says: *(*(rbx + UNDER) + SP) + 64,
 * which is a frame with no caller once they have parted.
 */
#include "threads/offsets.h"

/* CFA by expression: breg3 WF_T_UNDER; deref; plus_uconst WF_T_SP; deref; plus_uconst
 * WF_BODY_FRAME. Numbers above 63 take two bytes. */
#define TWO(n) ((n) & 127) | 128, (n) >> 7
#define CFA_BY_RECORD \
	.cfi_escape 0x0f, 9, 0x73, TWO(WF_T_UNDER), 6, 0x23, WF_T_SP, 6, 0x23, WF_BODY_FRAME

/* An exception that would leave a body ends the program, as it does in other threads. */
	.macro	NO_THROW
	.cfi_personality 0x1b, wf_body_thrown
	.endm

	.macro	SAVED
	.cfi_offset %rbx, -64
	.cfi_offset %r12, -16
	.cfi_offset %r13, -24
	.cfi_offset %r14, -32
	.endm

	.text

/* rdi is the body's function, r8 where the running thread is kept, r9 that thread, which
 * starts the body, r10 its worker, r11 the body's record. */
/* wf_spares. No conditional move: who starts it, and with that where the stores go, would
 * have to be known first. */
	.macro	SPARE nested
	movq	wf_self_worker@gottpoff(%rip), %r10
	movq	%fs:(%r10), %r10
	leaq	wf_nobody(%rip), %rax
	movq	WF_W_SPARE(%r10), %r11
	cmpq	%rax, WF_T_UNDER(%r9)
	jne	\nested
\nested\()_done:
	.endm

	.macro	NESTED name
\name:
	movq	WF_T_NEXT(%r9), %r11
	jmp	\name\()_done
	.endm

	.macro	BEGIN slow, cxx, nested
	movq	wf_thread_current@gottpoff(%rip), %r8
	movq	%fs:(%r8), %r9
	testq	%rdi, %rdi
	je	\slow
	testq	%r9, %r9
	je	\slow
	SPARE	\nested
	testq	%r11, %r11
	je	\slow
	/* What C++ has in hand would stay with who starts the body. But there is hardly ever
	 * anything, and a body that returns leaves nothing: so nothing is what its record has
	 * kept of it while it runs (wf_exceptions_exchange), and has for when they part. */
	movq	WF_W_EXCEPTIONS(%r10), %rax
	testq	%rax, %rax
	jne	\cxx
\cxx\()_none:
	.endm

	.macro	CXX name, slow
\name:
	cmpq	$0, (%rax)
	jne	\slow
	cmpl	$0, 8(%rax)
	jne	\slow
	jmp	\name\()_none
	.endm

/* Leaves a stack as wf_switch does, with r12 to r15 above that. */
	.macro	SAVE go_on
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	leaq	\go_on(%rip), %rax
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.endm

	.macro	LEAVE
	SAVE	went_on
	SAVED
	movq	%rsp, WF_T_SP(%r9)
	movq	%r9, WF_T_UNDER(%r11)
	movq	%r9, %r13
	movq	%rsp, %r14
	movq	WF_T_SCOPE(%r9), %rax
	movq	%rax, WF_T_SCOPE(%r11)
	movq	WF_T_COLOR(%r9), %rax
	movq	%rax, WF_T_COLOR(%r11)
	movq	%r11, %fs:(%r8)
	movq	%r11, %rbx
	CFA_BY_RECORD
	.endm

/* int weft_async_call(weft_thread_fn *fn, void *arg) */
	.globl	weft_async_call
	.type	weft_async_call, @function
	.p2align 6
weft_async_call:
	.cfi_startproc
	endbr64
	BEGIN	.Lcall_slow, .Lcall_cxx, .Lcall_nested
	LEAVE
	movl	$-1, %r12d
	movq	%r11, %rsp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	.cfi_endproc
	.size	weft_async_call, . - weft_async_call

/* Calls rax; r12 is what remains of the result. Debuggers take a caller's frame that lies
 * below its callee's for a mistake, but not if the code between has this name. */
	.type	__morestack, @function
__morestack:
	.cfi_startproc
	NO_THROW
	CFA_BY_RECORD
	SAVED
.Lcall:
	call	*%rax
.Lreturned:
	movq	WF_T_SCOPE(%rbx), %rdx
	andl	%r12d, %eax
	js	.Luntidy
	cmpw	$0, WF_T_BODY(%rbx)
	jne	.Luntidy
	cmpq	WF_T_SCOPE(%r13), %rdx
	jne	.Luntidy
	movq	wf_thread_current@gottpoff(%rip), %r8
	movq	%r13, %fs:(%r8)
	leaq	wf_nobody(%rip), %rax
	movq	%r14, %rsp
	.cfi_def_cfa %rsp, 64
	movq	%rax, WF_T_UNDER(%rbx)
	xorl	%eax, %eax
	movq	48(%rsp), %r12
	.cfi_restore %r12
	movq	40(%rsp), %r13
	.cfi_restore %r13
	movq	32(%rsp), %r14
	.cfi_restore %r14
	movq	(%rsp), %rbx
	.cfi_restore %rbx
	addq	$56, %rsp
	.cfi_adjust_cfa_offset -56
	ret
	.cfi_endproc

/* Something is to be done for it, on its own stack, and then it does not come back. */
	.cfi_startproc
	NO_THROW
	CFA_BY_RECORD
	SAVED
.Luntidy:
	movq	%rbx, %rdi
	movl	%eax, %esi
.Lends:
	/* As a call, but one that the processor does not expect to return: see leave.h. */
	leaq	1f(%rip), %rax
	pushq	%rax
	jmp	wf_thread_end
1:	ud2
	.cfi_endproc
	.size	__morestack, . - __morestack

	.cfi_startproc
	CXX	.Lcall_cxx, .Lcall_slow
	NESTED	.Lcall_nested
.Lcall_slow:
	xorl	%edx, %edx
	xorl	%ecx, %ecx
	jmp	wf_body_slow
	.cfi_endproc

/* int wf_body_leave(void **save, void *to) */
	.globl	wf_body_leave
	.hidden	wf_body_leave
	.type	wf_body_leave, @function
	.p2align 4
wf_body_leave:
	.cfi_startproc
	endbr64
	SAVE	came_back
	movq	%rsp, (%rdi)
	.cfi_undefined %rip
	movq	%rsi, %rsp
	popq	%rbx
	popq	%rbp
	popq	%rax
	jmp	*%rax
	.cfi_endproc
	.size	wf_body_leave, . - wf_body_leave

/* Where one goes on that was left by SAVE; by wf_switch, which has restored rbx and rbp. rcx
 * is then where its caller is. Debuggers look at the byte before the address to go on at:
 * that is the nop. */
	.macro	GO_ON name
	.p2align 4
	.type	\name, @function
	.cfi_startproc
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -16
	.cfi_offset %r13, -24
	.cfi_offset %r14, -32
	.cfi_offset %r15, -40
	nop
\name:
	endbr64
	popq	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	movq	wf_self_worker@gottpoff(%rip), %r10
	movq	%fs:(%r10), %r10
	testq	%r10, %r10
	je	2f
	cmpq	$0, WF_W_LEFT(%r10)
	je	1f
2:	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	wf_body_went_on
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
1:	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rcx
	.endm

/* The caller of a body goes on, because that waits. */
	GO_ON	went_on
	xorl	%eax, %eax
	notrack jmp *%rcx
	.cfi_endproc
	.size	went_on, . - went_on

/* A body goes on that left by wf_body_leave. Next its function returns, mostly, and that
 * is foreseen by the last call, which was made by somebody else on another stack, whose own
 * return is then foreseen wrongly too: 50 cycles for both. So the call of the function is
 * made once more, but for the processor only. If leaving was the last thing that the
 * function did there is nothing to foresee. */
	GO_ON	came_back
	movq	wf_thread_current@gottpoff(%rip), %rdi
	movq	%fs:(%rdi), %rdi
	leaq	.Lreturned(%rip), %rax
	cmpq	%rax, %rcx
	je	2f
	movq	%rbx, %rdx
	.cfi_register %rbx, %rdx
	movq	%rdi, %rbx
	leaq	.Lforeseen(%rip), %rax
	jmp	.Lcall
.Lforeseen:
	.cfi_adjust_cfa_offset 8
	endbr64
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	movq	%rdx, %rbx
	.cfi_restore %rbx
	xorl	%eax, %eax
	notrack jmp *%rcx
2:	xorl	%esi, %esi
	jmp	.Lends
	.cfi_endproc
	.size	came_back, . - came_back

/* int weft_async_copy(weft_thread_fn *fn, const void *args, size_t room)
 * int wf_body_block(the same): rcx is what remains of the result. */
	.globl	wf_body_block
	.hidden	wf_body_block
	.type	wf_body_block, @function
	.p2align 6
wf_body_block:
	.cfi_startproc
	endbr64
	xorl	%ecx, %ecx
.Lcopy:
	BEGIN	.Lcopy_slow, .Lcopy_cxx, .Lcopy_nested
	cmpq	$WF_BODY_ROOM, %rdx
	ja	.Lcopy_slow
	LEAVE
	leaq	15(%rdx), %rax
	andq	$-16, %rax
	movq	%r11, %rsp
	subq	%rax, %rsp
	movl	%ecx, %r12d
	movq	%rdi, %rax
	movq	%rsp, %rdi
	xorl	%r8d, %r8d
	subq	$8, %rdx
	jb	2f
1:	movq	(%rsi,%r8), %r9
	movq	%r9, (%rdi,%r8)
	addq	$8, %r8
	cmpq	%rdx, %r8
	jbe	1b
2:	addq	$8, %rdx
	cmpq	%rdx, %r8
	je	__morestack
3:	movb	(%rsi,%r8), %r9b
	movb	%r9b, (%rdi,%r8)
	incq	%r8
	cmpq	%rdx, %r8
	jb	3b
	jmp	__morestack
	.cfi_endproc
	.cfi_startproc
	CXX	.Lcopy_cxx, .Lcopy_slow
	NESTED	.Lcopy_nested
.Lcopy_slow:
	/* 1, WF_BODY_COPY, or 2, WF_BODY_BLOCK. */
	addl	$2, %ecx
	jmp	wf_body_slow
	.cfi_endproc
	.size	wf_body_block, . - wf_body_block

	.globl	weft_async_copy
	.type	weft_async_copy, @function
	.p2align 4
weft_async_copy:
	.cfi_startproc
	endbr64
	movl	$-1, %ecx
	jmp	.Lcopy
	.cfi_endproc
	.size	weft_async_copy, . - weft_async_copy

/* int wf_body_task(int (*fn)(int, void *), void *task) */
	.globl	wf_body_task
	.hidden	wf_body_task
	.type	wf_body_task, @function
	.p2align 4
wf_body_task:
	.cfi_startproc
	endbr64
	movq	wf_thread_current@gottpoff(%rip), %r8
	movq	%fs:(%r8), %r9
	SPARE	.Ltask_nested
	LEAVE
	xorl	%r12d, %r12d
	movq	%rsi, %rsp
	movq	%rdi, %rax
	xorl	%edi, %edi
	jmp	__morestack
	.cfi_endproc
	.cfi_startproc
	NESTED	.Ltask_nested
	.cfi_endproc
	.size	wf_body_task, . - wf_body_task

	.section .note.GNU-stack, "", @progbits

/* Indirect branch tracking is supported, shadow stacks are not. */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4
	.long	16
	.long	5
	.asciz	"GNU"
	.long	0xc0000002
	.long	4
	.long	1
	.long	0
