/* weft/tame_untranslated.h - defines the words of tame_words.h for a file that is not translated yet, as
 * legal C. Editors read it, and weft-tame puts it before a file whose macros are expanded. So it
 * includes nothing.
 */
#ifndef WEFT_TAME_UNTRANSLATED_H
#define WEFT_TAME_UNTRANSLATED_H

#pragma GCC system_header

#ifdef __clang__
#define WEFT_TAME_TAMED_ __attribute__((annotate("weft_tamed"))) void
#define WEFT_TAME_THREADED_ __attribute__((annotate("weft_threaded")))
#define WEFT_TAME_WAITS_ __attribute__((annotate("weft_waits")))
#ifndef WEFT_WAITS /* in a pragma */
#define WEFT_WAITS WEFT_TAME_WAITS_
#endif
#else
#define WEFT_TAME_TAMED_ void
#define WEFT_TAME_THREADED_
#endif
#define WEFT_TAME_TRIGGER_
#define WEFT_TAME_ASYNC_
#define WEFT_TAME_ASYNC_OWN_(...)

#ifndef __cplusplus

struct weft_tame_event;
struct weft_tame_rendezvous;
/* The same types as WEFT_EVENT and WEFT_RENDEZVOUS() have. */
#define WEFT_TAME_TYPE_(...) \
	__typeof__(void (*const *)(struct weft_tame_event * __VA_OPT__(, ) __VA_ARGS__))
#define WEFT_TAME_RENDEZVOUS_TYPE_ __typeof__(void (*[6])(struct weft_tame_rendezvous *))

#if defined(__has_attribute)
#if __has_attribute(error)
#define WEFT_TAME_UNTRANSLATED_ \
	__attribute__((error("this file has to be translated by weft-tame, then compiled")))
#endif
#endif
#ifndef WEFT_TAME_UNTRANSLATED_
#define WEFT_TAME_UNTRANSLATED_
#endif
WEFT_TAME_UNTRANSLATED_ int weft_tame_untranslated_twait(void);
WEFT_TAME_UNTRANSLATED_ int weft_tame_untranslated_trefused(void);
WEFT_TAME_UNTRANSLATED_ void *weft_tame_untranslated_mkevent(__typeof__(sizeof(0)) arguments, ...);
WEFT_TAME_UNTRANSLATED_ void weft_tame_untranslated_tfork(void);

/* Turns off warnings of editors from here on: that the code after `twait` has no effect, that mkevent
 * is not evaluated, and so that its slots get no value. */
#ifdef __clang__
#define WEFT_TAME_QUIET_ \
	_Pragma("clang diagnostic ignored \"-Wunused-value\"") \
		_Pragma("clang diagnostic ignored \"-Wuninitialized\"") _Pragma( \
			"clang diagnostic ignored \"-Wconditional-uninitialized\"") \
			_Pragma("clang diagnostic ignored \"-Wunevaluated-expression\"") \
				_Pragma("clang diagnostic ignored \"-Wsizeof-array-decay\"")
#else
#define WEFT_TAME_QUIET_
#endif
#define WEFT_TAME_TWAIT_ WEFT_TAME_QUIET_ for (; weft_tame_untranslated_twait();)
#define WEFT_TAME_TREFUSED_(err) \
	for (int err = weft_tame_untranslated_trefused(); err != 0; err = 0)
#define WEFT_TAME_TFORK_(e, ...) (weft_tame_untranslated_tfork(), (void)(e), (void)(__VA_ARGS__))

/* The type of mkevent's value depends on what its first argument is: a rendezvous, which is an
 * array and so can be no slot, with ids or without. */
#define WEFT_TAME_PLAIN_(a) __builtin_types_compatible_p(__typeof__(a), WEFT_TAME_RENDEZVOUS_TYPE_)
#define WEFT_TAME_NAMED_(a) (!__builtin_types_compatible_p(__typeof__(a), __typeof__((void)0, (a))))
#define WEFT_TAME_PICK_(plain, named, slots, a, ...) \
	__typeof__(__builtin_choose_expr(WEFT_TAME_PLAIN_(a), (plain)0, \
					 __builtin_choose_expr(WEFT_TAME_NAMED_(a), (named)0, \
							       (slots)0)))
#define WEFT_TAME_T_(a) __typeof__(a)

#define WEFT_TAME_E0_(...) WEFT_TAME_TYPE_()
#define WEFT_TAME_E1_(a, ...) WEFT_TAME_TYPE_(WEFT_TAME_T_(a))
#define WEFT_TAME_E2_(a, b, ...) WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b))
#define WEFT_TAME_E3_(a, b, c, ...) \
	WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c))
#define WEFT_TAME_E4_(a, b, c, d, ...) \
	WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d))
#define WEFT_TAME_E5_(a, b, c, d, e, ...) \
	WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
			WEFT_TAME_T_(e))
#define WEFT_TAME_E6_(a, b, c, d, e, f, ...) \
	WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
			WEFT_TAME_T_(e), WEFT_TAME_T_(f))
#define WEFT_TAME_E7_(a, b, c, d, e, f, g, ...) \
	WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
			WEFT_TAME_T_(e), WEFT_TAME_T_(f), WEFT_TAME_T_(g))
#define WEFT_TAME_E8_(a, b, c, d, e, f, g, h, ...) \
	WEFT_TAME_TYPE_(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
			WEFT_TAME_T_(e), WEFT_TAME_T_(f), WEFT_TAME_T_(g), WEFT_TAME_T_(h))
#define WEFT_TAME_LESS1_(n, a, ...) WEFT_TAME_E##n##_(__VA_ARGS__)
#define WEFT_TAME_LESS2_(n, a, b, ...) WEFT_TAME_E##n##_(__VA_ARGS__)

#define WEFT_TAME_EVENT0_() WEFT_TAME_TYPE_()
#define WEFT_TAME_EVENT1_(a) \
	WEFT_TAME_PICK_(WEFT_TAME_TYPE_(), WEFT_TAME_TYPE_(), WEFT_TAME_E1_(a, ), a)
#define WEFT_TAME_EVENT_(n, less1, less2, ...) \
	WEFT_TAME_PICK_(WEFT_TAME_LESS1_(less1, __VA_ARGS__, ), \
			WEFT_TAME_LESS2_(less2, __VA_ARGS__, ), WEFT_TAME_E##n##_(__VA_ARGS__, ), \
			__VA_ARGS__)
#define WEFT_TAME_EVENT2_(...) WEFT_TAME_EVENT_(2, 1, 0, __VA_ARGS__)
#define WEFT_TAME_EVENT3_(...) WEFT_TAME_EVENT_(3, 2, 1, __VA_ARGS__)
#define WEFT_TAME_EVENT4_(...) WEFT_TAME_EVENT_(4, 3, 2, __VA_ARGS__)
#define WEFT_TAME_EVENT5_(...) WEFT_TAME_EVENT_(5, 4, 3, __VA_ARGS__)
#define WEFT_TAME_EVENT6_(...) WEFT_TAME_EVENT_(6, 5, 4, __VA_ARGS__)
#define WEFT_TAME_EVENT7_(...) WEFT_TAME_EVENT_(7, 6, 5, __VA_ARGS__)
#define WEFT_TAME_EVENT8_(...) WEFT_TAME_EVENT_(8, 7, 6, __VA_ARGS__)

#define WEFT_TAME_SIZES0_()
#define WEFT_TAME_SIZES1_(a) , sizeof(a)
#define WEFT_TAME_SIZES2_(a, ...) , sizeof(a) WEFT_TAME_SIZES1_(__VA_ARGS__)
#define WEFT_TAME_SIZES3_(a, ...) , sizeof(a) WEFT_TAME_SIZES2_(__VA_ARGS__)
#define WEFT_TAME_SIZES4_(a, ...) , sizeof(a) WEFT_TAME_SIZES3_(__VA_ARGS__)
#define WEFT_TAME_SIZES5_(a, ...) , sizeof(a) WEFT_TAME_SIZES4_(__VA_ARGS__)
#define WEFT_TAME_SIZES6_(a, ...) , sizeof(a) WEFT_TAME_SIZES5_(__VA_ARGS__)
#define WEFT_TAME_SIZES7_(a, ...) , sizeof(a) WEFT_TAME_SIZES6_(__VA_ARGS__)
#define WEFT_TAME_SIZES8_(a, ...) , sizeof(a) WEFT_TAME_SIZES7_(__VA_ARGS__)

#define WEFT_TAME_COUNT_(...) \
	WEFT_TAME_NINTH_(__VA_ARGS__ __VA_OPT__(, ) 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define WEFT_TAME_NINTH_(a, b, c, d, e, f, g, h, n, ...) n
#define WEFT_TAME_JOIN_(a, n) WEFT_TAME_JOIN2_(a, n)
#define WEFT_TAME_JOIN2_(a, n) a##n##_
#define WEFT_TAME_MKEVENT_(...) \
	((WEFT_TAME_JOIN_(WEFT_TAME_EVENT, WEFT_TAME_COUNT_(__VA_ARGS__))(__VA_ARGS__)) \
		 WEFT_TAME_QUIET_ weft_tame_untranslated_mkevent( \
			 0 WEFT_TAME_JOIN_(WEFT_TAME_SIZES, \
					   WEFT_TAME_COUNT_(__VA_ARGS__))(__VA_ARGS__)))
#endif

#endif
