/* fault.h - places where the outside world can say no.
 *
 * Every allocation and every system call that may fail asks WF_FAULT first. In
 * builds with WEFT_FAULTS a test makes the nth of them fail, for every n; in
 * other builds it is the constant 0.
 */
#ifndef WF_FAULT_H
#define WF_FAULT_H

#ifdef WEFT_FAULTS
/* Returns -error if this is the call that shall fail, else 0. */
int wf_fault(int error, const char *site);
/* The nth call from now on fails (0: none does). Counting starts again. */
void wf_fault_arm(long nth);
/* How many calls there have been since wf_fault_arm. */
long wf_fault_count(void);
/* The site that failed last, or NULL. */
const char *wf_fault_site(void);
/* Makes each fault site call `visit` first: so a test can stop a thread just before a system
 * call. */
void wf_fault_on_visit(void (*visit)(const char *site));
#define WF_FAULT(error) wf_fault((error), __FILE__)
#else
#define WF_FAULT(error) 0
#endif

#endif
