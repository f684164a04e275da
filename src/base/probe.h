/* probe.h - trace points (USDT): `perf probe sdt_weft:steal`, bpftrace and
 * SystemTap see them by name. A probe that nobody watches is one nop; without
 * sys/sdt.h at build time it is nothing.
 */
#ifndef WF_PROBE_H
#define WF_PROBE_H

#ifdef WEFT_HAVE_SDT
#include <sys/sdt.h>
#define WF_PROBE1(name, a) DTRACE_PROBE1(weft, name, a)
#define WF_PROBE2(name, a, b) DTRACE_PROBE2(weft, name, a, b)
#define WF_PROBE3(name, a, b, c) DTRACE_PROBE3(weft, name, a, b, c)
#else
#define WF_PROBE1(name, a) ((void)(a))
#define WF_PROBE2(name, a, b) ((void)(a), (void)(b))
#define WF_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif
