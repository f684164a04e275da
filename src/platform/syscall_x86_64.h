/* syscall_x86_64.h - a system call, in line. */
#ifndef WF_SYSCALL_X86_64_H
#define WF_SYSCALL_X86_64_H

static inline long wf_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Calls that nobody returns from: the CPU will expect the next returns to go there. Each
 * goes behind the int3 that follows it. Below the red zone, as compilers do not know
 * of it. */
static inline void wf_return_stack_push(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
			 ".rept 8\n\t"
			 "call . + 6\n\t"
			 "int3\n"
			 ".endr\n\t"
			 "lea 192(%%rsp), %%rsp"
			 :
			 :
			 : "memory");
}

#endif
