/* compiler.h - what the compiler is asked for, in short words. */
#ifndef WF_COMPILER_H
#define WF_COMPILER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_LIKELY(x) __builtin_expect(!!(x), 1)
#define WF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WF_INLINE inline __attribute__((always_inline))

/* The running thread may stop in the function: for weft-check, which looks whether the library's
 * calls wait where their contracts say so only (tests/checks/weft-check). */
#ifdef WEFT_CHECKING_
#define WF_WAITS __attribute__((annotate("weft_waits")))
#else
#define WF_WAITS
#endif
#define WF_NOINLINE __attribute__((noinline))
/* What the compiler could find out about it is not known to its callers either. */
#ifdef __clang__
#define WF_OPAQUE __attribute__((noinline))
#else
#define WF_OPAQUE __attribute__((noipa))
#endif
#define WF_COLD __attribute__((cold, noinline))
/* What a worker does between two sleeps, for a wait of a thread: kept together in memory. */
#define WF_HOT __attribute__((hot))
/* Fetches the line at an address, a number: there may be nothing, and then it is no pointer to count
 * on from. */
#define WF_FETCH(at, writes) __builtin_prefetch((const void *)(uintptr_t)(at), writes)
#define WF_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Two lines: x86 prefetches lines in pairs. */
#define WF_CACHE_LINE 128
#define WF_ALIGNED __attribute__((aligned(WF_CACHE_LINE)))

#define WF_CONTAINER(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define WF_COUNT(array) (sizeof(array) / sizeof *(array))

/* Which sanitizer looks on. */
#if defined(__SANITIZE_ADDRESS__)
#define WF_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WF_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WF_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WF_TSAN 1
#endif
#endif

/* For functions that read what others may be writing, as a guess. gcc moves such reads
 * into callers that the sanitizer looks at, unless told not to. */
#if defined(WF_TSAN) && defined(__clang__)
#define WF_NO_TSAN __attribute__((no_sanitize("thread"), noinline))
#elif defined(WF_TSAN)
#define WF_NO_TSAN __attribute__((no_sanitize("thread"), noipa))
#else
#define WF_NO_TSAN
#endif

/* clang's -Wthread-safety reads these; gcc does not know them. */
#ifdef __clang__
#define WF_TS(x) __attribute__((x))
#else
#define WF_TS(x)
#endif
#define WF_CAPABILITY WF_TS(capability("lock"))
/* In C no released clang finds a lock beside the field it guards: for people. */
#define WF_GUARDED(l)
#define WF_REQUIRES(...) WF_TS(requires_capability(__VA_ARGS__))
#define WF_ACQUIRE(...) WF_TS(acquire_capability(__VA_ARGS__))
#define WF_RELEASE(...) WF_TS(release_capability(__VA_ARGS__))
#define WF_TRY_ACQUIRE(...) WF_TS(try_acquire_capability(__VA_ARGS__))
#define WF_NO_THREAD_SAFETY WF_TS(no_thread_safety_analysis)

/* Tells the core that this is a waiting loop. */
static inline void wf_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Counters that one thread writes and others read. */
#define WF_LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define WF_STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define WF_ADD_OWN(p, v) WF_STORE((p), WF_LOAD(p) + (v))

#endif
