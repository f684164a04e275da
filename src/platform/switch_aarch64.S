/* switch_aarch64.S - leaves one stack and goes on, on another.
 *
 * A flow that does not run has, from its stack pointer upward: d8 to d15, x19 to
 * x28, x29, x30 (the address to go on at): 160 bytes.
 */
	.text

/* void wf_switch(void **save, void *to) */
	.globl	wf_switch
	.hidden	wf_switch
	.type	wf_switch, %function
	.p2align 4
wf_switch:
	.cfi_startproc
	hint	#34 /* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x27, x28, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x27, 0
	.cfi_rel_offset x28, 8
	stp	x25, x26, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x25, 0
	.cfi_rel_offset x26, 8
	stp	x23, x24, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x23, 0
	.cfi_rel_offset x24, 8
	stp	x21, x22, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x21, 0
	.cfi_rel_offset x22, 8
	stp	x19, x20, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x19, 0
	.cfi_rel_offset x20, 8
	stp	d14, d15, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	stp	d12, d13, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	stp	d10, d11, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	stp	d8, d9, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	mov	x10, sp
	str	x10, [x0]
	mov	sp, x1
	ldp	d8, d9, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	d10, d11, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	d12, d13, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	d14, d15, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	x19, x20, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	x21, x22, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	x23, x24, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	x25, x26, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	x27, x28, [sp], #16
	.cfi_adjust_cfa_offset -16
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	ret
	.cfi_endproc
	.size	wf_switch, . - wf_switch

/* Where a new flow begins: x19 is its function, x20 the argument. Unwinders stop
 * here: nobody called it. */
	.globl	wf_switch_root
	.hidden	wf_switch_root
	.type	wf_switch_root, %function
	.p2align 4
wf_switch_root:
	.cfi_startproc
	.cfi_undefined x30
	hint	#36 /* bti j */
	mov	x0, x20
	mov	x29, xzr
	mov	x30, xzr
	blr	x19
	brk	#1
	.cfi_endproc
	.size	wf_switch_root, . - wf_switch_root

	.section .note.GNU-stack, "", %progbits
