/* switch_x86_64.S - where a new flow begins: rbx is its function, rbp the argument.
 * Unwinders stop here: nobody called it.
 */
	.text
	.globl	wf_switch_root
	.hidden	wf_switch_root
	.type	wf_switch_root, @function
	.p2align 4
wf_switch_root:
	.cfi_startproc
	.cfi_undefined %rip
	endbr64
	movq	%rbp, %rdi
	xorl	%ebp, %ebp
	/* As a call, but one that the processor does not expect to return: see thread.c. */
	leaq	1f(%rip), %rax
	pushq	%rax
	jmp	*%rbx
1:	ud2
	.cfi_endproc
	.size	wf_switch_root, . - wf_switch_root

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
