/* weft/block.h - the blocks of weft/scope.h, which is their manual and includes this.
 *
 * gcc and clang make a function of a block for the tasks of OpenMP, and call a runtime with
 * that function and what it uses. Weft is that runtime, under names of its own
 * (src/async/blocks.c). Variables stay where they are, and no code is written to a stack.
 *
 * gcc. A plain task takes copies of the variables that it only reads: a block that waits
 * for a flag would wait for ever. So the block is a nested function, which sees the variables
 * themselves, and the task is a call of it; by its name, so there is no trampoline. The
 * name of the hook is set at each task, and not once for a file: -flto gives parts of one
 * file to several assemblers.
 *
 * clang. The block is the task: what it shares is shared.
 *
 * C++. The block is a lambda, moved to the stack that it runs on.
 *
 * What the compilers shall say about misuse is in the names of what is declared for it.
 */
#ifndef WEFT_BLOCK_H
#define WEFT_BLOCK_H

/* The macros' own variables, hidden by those of the next block or not used, are no concern
 * of who uses them: no warnings. */
#pragma GCC system_header

#include <weft/scope.h>

#define WEFT_CAT_(a, b) WEFT_CAT__(a, b)
#define WEFT_CAT__(a, b) a##b
/* 0 to 8, or MANY. */
#define WEFT_COUNT_(...) \
	WEFT_COUNT__(__VA_ARGS__ __VA_OPT__(, ) MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, 8, \
		     7, 6, 5, 4, 3, 2, 1, 0, )
#define WEFT_COUNT__(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...) q
/* m(a) do(b) ... */
#define WEFT_EACH_(m, ...) WEFT_CAT_(WEFT_EACH_, WEFT_COUNT_(__VA_ARGS__))(m, __VA_ARGS__)
#define WEFT_EACH_1(m, a) m(a)
#define WEFT_EACH_2(m, a, ...) m(a) WEFT_EACH_1(m, __VA_ARGS__)
#define WEFT_EACH_3(m, a, ...) m(a) WEFT_EACH_2(m, __VA_ARGS__)
#define WEFT_EACH_4(m, a, ...) m(a) WEFT_EACH_3(m, __VA_ARGS__)
#define WEFT_EACH_5(m, a, ...) m(a) WEFT_EACH_4(m, __VA_ARGS__)
#define WEFT_EACH_6(m, a, ...) m(a) WEFT_EACH_5(m, __VA_ARGS__)
#define WEFT_EACH_7(m, a, ...) m(a) WEFT_EACH_6(m, __VA_ARGS__)
#define WEFT_EACH_8(m, a, ...) m(a) WEFT_EACH_7(m, __VA_ARGS__)
#define WEFT_EACH_MANY(m, ...) m(weft_async_own_takes_at_most_8_variables_)

#define WEFT_FINISH_(...) WEFT_CAT_(WEFT_FINISH_, WEFT_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WEFT_FINISH_0(...) WEFT_SCOPE_(weft_unnamed_scope_, NULL, false)
#define WEFT_FINISH_1(name) WEFT_SCOPE_(name, NULL, false)
#define WEFT_FINISH_2(name, result) WEFT_SCOPE_(name, result, false)
#define WEFT_SHIELD_ WEFT_SCOPE_(weft_shield_scope_, NULL, true)

/* Points to the innermost scope, also inside the blocks that are started in it. The pointer is
 * declared before the scope, since blocks use it until the scope has ended. */
#define WEFT_INNERMOST_ weft_cancel_without_a_name_must_stand_in_a_weft_finish_

#define WEFT_CANCEL_(...) WEFT_CAT_(WEFT_CANCEL_, WEFT_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WEFT_CANCEL_0(...) weft_scope_cancel(WEFT_INNERMOST_)
#define WEFT_CANCEL_1(name) weft_scope_cancel(&(name))
#define WEFT_FAIL_(...) WEFT_CAT_(WEFT_FAIL_, WEFT_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WEFT_FAIL_1(error) weft_scope_fail(WEFT_INNERMOST_, error)
#define WEFT_FAIL_2(name, error) weft_scope_fail(&(name), error)
#define WEFT_DEADLINE_(...) WEFT_CAT_(WEFT_DEADLINE_, WEFT_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WEFT_DEADLINE_1(ms) weft_scope_deadline(WEFT_INNERMOST_, weft_in_ms_(ms))
#define WEFT_DEADLINE_2(name, ms) weft_scope_deadline(&(name), weft_in_ms_(ms))

#define WEFT_NO_ARRAYS_ "weft_async_own copies no arrays: put it into a struct, or copy it yourself"

/* Never completed: inside a block its size is asked for. */
struct weft_async_in_weft_async_needs_its_own_weft_finish_;

static inline void weft_finish_begin_(weft_scope *s, int *result, bool shield, const char *where)
{
	if (shield)
		weft_shield_begin_at(s, where);
	else
		weft_scope_begin_at(s, where);
	s->result_ = result;
}

static inline WEFT_WAITS void weft_finish_end_(weft_scope *s)
{
	(void)weft_scope_end(s);
}

/* So many milliseconds from now, for weft_deadline; no sum is too large. */
static inline uint64_t weft_in_ms_(int64_t ms)
{
	uint64_t wanted = ms > 0 ? (uint64_t)ms : 0;

	return wanted > INT64_MAX / WEFT_MS ? WEFT_FOREVER : weft_now() + wanted * WEFT_MS;
}

#ifdef __cplusplus
#include <weft/block_cxx.h>
#else

/* What compilers call at a block, in place of the runtimes of OpenMP. */
WEFT_API void weft_gomp_task_(void (*fn)(void *), void *args, void (*copy)(void *, void *),
			      long size, long align, bool wanted, unsigned flags, void **depend,
			      int priority, void *detach);
WEFT_API int weft_kmpc_thread_num_(void *where);
WEFT_API void *weft_kmpc_task_alloc_(void *where, int thread, int flags, size_t size,
				     size_t shared_size, int (*routine)(int, void *));
WEFT_API int weft_kmpc_task_(void *where, int thread, void *task);

/* A loop that runs once. However it is left, cleanup ends the scope. */
#define WEFT_SCOPE_LOOP_(name, result, shield, mark) \
	for (weft_scope * WEFT_INNERMOST_, name __attribute__((cleanup(weft_finish_end_))), \
	     *mark = (weft_finish_begin_(&name, result, shield, WEFT_HERE), \
		      WEFT_INNERMOST_ = &name); \
	     mark; mark = NULL)

#define WEFT_PRAGMA_(...) _Pragma(#__VA_ARGS__)
/* Blocks begin with a declaration, which cannot stand without braces in an if or a loop. */
typedef int weft_put_braces_around_weft_async_;
#define WEFT_BRACES_ \
	weft_put_braces_around_weft_async_ WEFT_CAT_(weft_nothing_, __COUNTER__) \
		__attribute__((unused));
/* What may be copied. The comma makes a pointer of an array, and leaves other types alone. */
#define WEFT_OWN_CHECK_(...) \
	WEFT_BRACES_ \
	WEFT_EACH_(WEFT_OWN_CHECK__, __VA_ARGS__) \
	_Static_assert(WEFT_EACH_(WEFT_OWN_SIZE_, __VA_ARGS__) + 0 <= 512, \
		       "weft_async_own copies up to 512 bytes: share it, or use weft_async_copy");
#define WEFT_OWN_CHECK__(x) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(x), __typeof__(((void)0, (x)))), \
		       WEFT_NO_ARRAYS_); \
	_Static_assert(__alignof__(x) <= 16, "weft_async_own aligns its copies to 16 bytes only");
#define WEFT_OWN_SIZE_(x) +sizeof(x)

#if defined(WEFT_NO_BLOCKS) || !defined(_OPENMP)

#ifdef WEFT_NO_BLOCKS
#define WEFT_ADVICE_ "no blocks with this compiler: use weft_async_call"
#else
#define WEFT_ADVICE_ "weft_async needs -fopenmp when compiling: pkg-config --cflags weft-async"
#endif
#define WEFT_SCOPE_(name, result, shield) WEFT_SCOPE_LOOP_(name, result, shield, weft_in_finish_)
#define WEFT_ASYNC_ \
	_Static_assert(0, WEFT_ADVICE_); \
	if (1)
#define WEFT_ASYNC_OWN_(...) WEFT_ASYNC_

#elif defined(__clang__)

/* A variable of this type cannot be used in a block that it is not declared in. */
struct weft_mark_ {
	int once;
	char nothing[];
};
#define WEFT_SCOPE_(name, result, shield) \
	WEFT_SCOPE_LOOP_(name, result, shield, weft_in_finish_) \
	for (struct weft_mark_ weft_async_must_stand_directly_in_a_weft_finish_ = { 1 }; \
	     weft_async_must_stand_directly_in_a_weft_finish_.once; \
	     weft_async_must_stand_directly_in_a_weft_finish_.once = 0)

__asm__(".set __kmpc_global_thread_num, weft_kmpc_thread_num_");
__asm__(".set __kmpc_omp_task_alloc, weft_kmpc_task_alloc_");
__asm__(".set __kmpc_omp_task, weft_kmpc_task_");

#define WEFT_ASYNC_ WEFT_TASK_(omp task default(shared))
#define WEFT_ASYNC_OWN_(...) \
	WEFT_OWN_CHECK_(__VA_ARGS__) \
	WEFT_TASK_(omp task default(shared) firstprivate(__VA_ARGS__))
#define WEFT_TASK_(...) \
	WEFT_BRACES_(void) & weft_async_must_stand_directly_in_a_weft_finish_; \
	WEFT_PRAGMA_(__VA_ARGS__)

#else

#define WEFT_SCOPE_(name, result, shield) \
	WEFT_SCOPE_LOOP_(name, result, shield, weft_async_must_stand_in_a_weft_finish_)
#define WEFT_INSIDE_ \
	struct weft_async_in_weft_async_needs_its_own_weft_finish_ \
		*weft_async_must_stand_in_a_weft_finish_

#define WEFT_ASYNC_ WEFT_BODY_(__COUNTER__, , (WEFT_INSIDE_), (NULL))
/* clang-format off */
/* -Wshadow: the copies hide the variables. There is no place behind the block to set it back. */
#define WEFT_ASYNC_OWN_(...) \
	WEFT_OWN_CHECK_(__VA_ARGS__) \
	_Pragma("GCC diagnostic ignored \"-Wshadow\"") \
	WEFT_BODY_(__COUNTER__, firstprivate(__VA_ARGS__), \
		   (WEFT_INSIDE_ WEFT_EACH_(WEFT_PARAMETER_, __VA_ARGS__)), (NULL, __VA_ARGS__))
/* clang-format on */
#define WEFT_PARAMETER_(x) , __typeof__(x) x
#define WEFT_BODY_(n, own, parameters, arguments) WEFT_BODY__(n, own, parameters, arguments)
#define WEFT_BODY__(n, own, parameters, arguments) \
	WEFT_BRACES_ \
	_Static_assert(sizeof(*weft_async_must_stand_in_a_weft_finish_) != 0, ""); \
	__extension__ auto void weft_body_##n##_ parameters; \
	__asm__ volatile(".set GOMP_task, weft_gomp_task_" ::); \
	WEFT_PRAGMA_(omp task default(shared) own) weft_body_##n##_ arguments; \
	void weft_body_##n##_ parameters

#endif

#ifdef WEFT_TAME_READING /* weft-tame puts the words back; the compiler gives them their meaning */
#undef WEFT_ASYNC_
#undef WEFT_ASYNC_OWN_
#define WEFT_ASYNC_ WEFT_TAME_ASYNC_
#define WEFT_ASYNC_OWN_(...) WEFT_TAME_ASYNC_OWN_(__VA_ARGS__)
#endif

#endif /* C */

#endif
