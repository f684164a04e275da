/* body_aarch64.S - runs a body on a spare stack, and comes back (body.h).
 *
 * As body_x86_64.S: who starts it is left as by wf_switch (160 bytes), with `went_on` to
 * go on at, and above that x29 and x30 as they were. x19 is the body's record.
 */
#include "threads/offsets.h"

/* CFA by expression: breg19 WF_T_UNDER; deref; plus_uconst WF_T_SP; deref; plus_uconst
 * WF_BODY_FRAME. Numbers above 63 take two bytes. */
#define TWO(n) ((n) & 127) | 128, (n) >> 7
#define CFA_BY_RECORD \
	.cfi_escape 0x0f, 10, 0x83, TWO(WF_T_UNDER), 6, 0x23, WF_T_SP, 6, 0x23, TWO(WF_BODY_FRAME)

/* An exception that would leave a body ends the program, as it does in other threads. */
	.macro	NO_THROW
	.cfi_personality 0x1b, wf_body_thrown
	.endm

	.macro	SAVED
	.cfi_offset x19, -112
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	.endm

	.text

/* x0 is the body's function, x8 where the running thread is kept, x9 that thread, which
 * starts the body, x10 its worker, x11 the body's record. */
	.macro	CURRENT
	mrs	x8, tpidr_el0
	adrp	x12, :gottprel:wf_thread_current
	ldr	x12, [x12, :gottprel_lo12:wf_thread_current]
	add	x8, x8, x12
	.endm

	.macro	BEGIN slow
	CURRENT
	ldr	x9, [x8]
	cbz	x0, \slow
	cbz	x9, \slow
	ldr	x10, [x9, WF_T_WORKER]
	/* wf_spares. */
	ldr	x12, [x9, WF_T_UNDER]
	adrp	x13, wf_nobody
	add	x13, x13, :lo12:wf_nobody
	add	x11, x10, WF_W_SPARE
	add	x14, x9, WF_T_NEXT
	cmp	x12, x13
	csel	x11, x11, x14, eq
	ldr	x11, [x11]
	cbz	x11, \slow
	.endm

	.macro	LEAVE
	sub	sp, sp, #176
	.cfi_adjust_cfa_offset 176
	stp	x29, x30, [sp, #160]
	adr	x12, went_on
	stp	d8, d9, [sp]
	stp	d10, d11, [sp, #16]
	stp	d12, d13, [sp, #32]
	stp	d14, d15, [sp, #48]
	stp	x19, x20, [sp, #64]
	stp	x21, x22, [sp, #80]
	stp	x23, x24, [sp, #96]
	stp	x25, x26, [sp, #112]
	stp	x27, x28, [sp, #128]
	stp	x29, x12, [sp, #144]
	SAVED
	mov	x12, sp
	str	x12, [x9, WF_T_SP]
	str	x9, [x11, WF_T_UNDER]
	ldr	x12, [x9, WF_T_SCOPE]
	str	x12, [x11, WF_T_SCOPE]
	ldr	x12, [x9, WF_T_COLOR]
	str	x12, [x11, WF_T_COLOR]
	str	x11, [x8]
	ldr	x12, [x10, WF_W_EXCEPTIONS]
	cbz	x12, 5f
	/* What C++ has in hand stays with who starts the body. */
	ldr	x13, [x12]
	str	x13, [x9, WF_T_CAUGHT]
	ldr	w13, [x12, #8]
	str	w13, [x9, WF_T_CAUGHT + 8]
	str	xzr, [x12]
	str	wzr, [x12, #8]
5:	mov	x19, x11
	CFA_BY_RECORD
	.endm

/* int weft_async_call(weft_thread_fn *fn, void *arg) */
	.globl	weft_async_call
	.type	weft_async_call, %function
	.p2align 4
weft_async_call:
	.cfi_startproc
	NO_THROW
	hint	#34 /* bti c */
	BEGIN	.Lcall_slow
	LEAVE
	mov	sp, x11
	mov	x12, x0
	mov	x0, x1
	blr	x12
.Lreturned:
	ldr	x9, [x19, WF_T_UNDER]
	ldr	x10, [x19, WF_T_SCOPE]
	tbnz	w0, #31, .Luntidy
	ldrh	w12, [x19, WF_T_BODY]
	cbnz	w12, .Luntidy
	ldr	x12, [x9, WF_T_SCOPE]
	cmp	x10, x12
	b.ne	.Luntidy
	CURRENT
	str	x9, [x8]
	ldr	x10, [x9, WF_T_WORKER]
	ldr	x12, [x10, WF_W_EXCEPTIONS]
	cbz	x12, 1f
	ldr	x13, [x9, WF_T_CAUGHT]
	str	x13, [x12]
	ldr	w13, [x9, WF_T_CAUGHT + 8]
	str	w13, [x12, #8]
1:	adrp	x12, wf_nobody
	add	x12, x12, :lo12:wf_nobody
	ldr	x9, [x9, WF_T_SP]
	mov	sp, x9
	.cfi_def_cfa sp, 176
	str	x12, [x19, WF_T_UNDER]
	ldr	x19, [sp, #64]
	.cfi_restore x19
	ldp	x29, x30, [sp, #160]
	.cfi_restore x29
	.cfi_restore x30
	add	sp, sp, #176
	.cfi_adjust_cfa_offset -176
	mov	w0, wzr
	ret
	.cfi_endproc

/* Something is to be done for it, on its own stack, and then it does not come back. */
	.cfi_startproc
	NO_THROW
	CFA_BY_RECORD
	SAVED
.Luntidy:
	mov	w1, w0
	mov	x0, x19
	bl	wf_thread_end
	brk	#1
	.cfi_endproc

	.cfi_startproc
.Lcall_slow:
	mov	x2, xzr
	mov	w3, wzr
	b	wf_body_slow
	.cfi_endproc
	.size	weft_async_call, . - weft_async_call

/* The caller goes on because the body waits: by wf_switch. */
	.p2align 4
	.type	went_on, %function
went_on:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	hint	#36 /* bti j */
	CURRENT
	ldr	x9, [x8]
	ldr	x10, [x9, WF_T_WORKER]
	ldr	x12, [x10, WF_W_LEFT]
	cbz	x12, 1f
	bl	wf_body_went_on
1:	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	mov	w0, wzr
	ret
	.cfi_endproc
	.size	went_on, . - went_on

/* int weft_async_copy(weft_thread_fn *fn, const void *args, size_t room)
 * int wf_body_block(the same): w3 is what remains of the result. */
	.globl	wf_body_block
	.hidden	wf_body_block
	.type	wf_body_block, %function
	.p2align 4
wf_body_block:
	.cfi_startproc
	hint	#34 /* bti c */
	mov	w3, wzr
	b	.Lcopy
	.cfi_endproc
	.size	wf_body_block, . - wf_body_block

	.globl	weft_async_copy
	.type	weft_async_copy, %function
	.p2align 4
weft_async_copy:
	.cfi_startproc
	NO_THROW
	hint	#34 /* bti c */
	mov	w3, #-1
.Lcopy:
	BEGIN	.Lcopy_slow
	cmp	x2, #WF_BODY_ROOM
	b.hi	.Lcopy_slow
	LEAVE
	add	x12, x2, #15
	and	x12, x12, #-16
	sub	x12, x11, x12
	mov	sp, x12
	mov	x13, xzr
	and	x14, x2, #-8
	b	2f
1:	ldr	x15, [x1, x13]
	str	x15, [x12, x13]
	add	x13, x13, #8
2:	cmp	x13, x14
	b.lo	1b
	b	4f
3:	ldrb	w15, [x1, x13]
	strb	w15, [x12, x13]
	add	x13, x13, #1
4:	cmp	x13, x2
	b.lo	3b
	mov	x13, x0
	mov	x0, x12
	str	x3, [sp, #-16]!
	blr	x13
	ldr	w3, [sp]
	and	w0, w0, w3
	b	.Lreturned
	.cfi_endproc
	.cfi_startproc
.Lcopy_slow:
	/* 1, WF_BODY_COPY, or 2, WF_BODY_BLOCK. */
	add	w3, w3, #2
	b	wf_body_slow
	.cfi_endproc
	.size	weft_async_copy, . - weft_async_copy

/* int wf_body_task(int (*fn)(int, void *), void *task) */
	.globl	wf_body_task
	.hidden	wf_body_task
	.type	wf_body_task, %function
	.p2align 4
wf_body_task:
	.cfi_startproc
	NO_THROW
	hint	#34 /* bti c */
	BEGIN	.Ltask_lost
	LEAVE
	mov	sp, x1
	mov	x12, x0
	mov	w0, wzr
	blr	x12
	mov	w0, wzr
	b	.Lreturned
	.cfi_endproc
	.cfi_startproc
.Ltask_lost:
	brk	#1
	.cfi_endproc
	.size	wf_body_task, . - wf_body_task

	.section .note.GNU-stack, "", %progbits
