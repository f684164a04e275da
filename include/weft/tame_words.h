/* weft/tame_words.h - the words of weft/tame.h: as the translated file needs them, and as legal C
 * that says the same to editors and to weft-tame.
 *
 * The second is what an untranslated file sees. Each word that only weft-tame can give a meaning
 * calls a function that must not be called, so that a compiler refuses the file; editors
 * and weft-tame only read it, and see types: an event that does not fit is an error for them.
 */
#ifndef WEFT_TAME_WORDS_H
#define WEFT_TAME_WORDS_H

#pragma GCC system_header /* __VA_OPT__, in what is called C11 and C++17 */

#include <weft/tame.h>

#define event(...) WEFT_EVENT(__VA_ARGS__)
#define rendezvous(...) WEFT_RENDEZVOUS(__VA_ARGS__)
#define trigger(...) weft_trigger(__VA_ARGS__)
#define ton(...) weft_ton(__VA_ARGS__)
#define rv_cancel(r) weft_tame_rendezvous_cancel(WEFT_TAME_R(r))

#if defined(WEFT_TAME_TRANSLATED) || !defined(__clang__)
#define tamed void
#define threaded
#else
#define tamed __attribute__((annotate("weft_tamed"))) void
#define threaded __attribute__((annotate("weft_threaded")))
#endif

#if !defined(WEFT_TAME_TRANSLATED) && !defined(__cplusplus)

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
WEFT_TAME_UNTRANSLATED_ void *weft_tame_untranslated_mkevent(size_t arguments, ...);
WEFT_TAME_UNTRANSLATED_ void weft_tame_untranslated_tfork(void);

/* What an editor need not say of a file from here on: that what is behind `twait` has no effect,
 * that mkevent is not evaluated, and so that its slots get no value. */
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
#define twait WEFT_TAME_QUIET_ for (; weft_tame_untranslated_twait();)
#define trefused(err) for (int err = weft_tame_untranslated_trefused(); err != 0; err = 0)
#define tfork(e, call) (weft_tame_untranslated_tfork(), (void)(e), (void)(call))

/* The type of mkevent's value depends on what its first argument is: a rendezvous, which is an
 * array and so can be no slot, with ids or without. */
#define WEFT_TAME_PLAIN_(a) __builtin_types_compatible_p(__typeof__(a), WEFT_RENDEZVOUS())
#define WEFT_TAME_NAMED_(a) (!__builtin_types_compatible_p(__typeof__(a), __typeof__((void)0, (a))))
#define WEFT_TAME_PICK_(plain, named, slots, a, ...) \
	__typeof__(__builtin_choose_expr(WEFT_TAME_PLAIN_(a), (plain)0, \
					 __builtin_choose_expr(WEFT_TAME_NAMED_(a), (named)0, \
							       (slots)0)))
#define WEFT_TAME_T_(a) __typeof__(a)

#define WEFT_TAME_E0_(...) WEFT_EVENT()
#define WEFT_TAME_E1_(a, ...) WEFT_EVENT(WEFT_TAME_T_(a))
#define WEFT_TAME_E2_(a, b, ...) WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b))
#define WEFT_TAME_E3_(a, b, c, ...) WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c))
#define WEFT_TAME_E4_(a, b, c, d, ...) \
	WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d))
#define WEFT_TAME_E5_(a, b, c, d, e, ...) \
	WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
		   WEFT_TAME_T_(e))
#define WEFT_TAME_E6_(a, b, c, d, e, f, ...) \
	WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
		   WEFT_TAME_T_(e), WEFT_TAME_T_(f))
#define WEFT_TAME_E7_(a, b, c, d, e, f, g, ...) \
	WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
		   WEFT_TAME_T_(e), WEFT_TAME_T_(f), WEFT_TAME_T_(g))
#define WEFT_TAME_E8_(a, b, c, d, e, f, g, h, ...) \
	WEFT_EVENT(WEFT_TAME_T_(a), WEFT_TAME_T_(b), WEFT_TAME_T_(c), WEFT_TAME_T_(d), \
		   WEFT_TAME_T_(e), WEFT_TAME_T_(f), WEFT_TAME_T_(g), WEFT_TAME_T_(h))
#define WEFT_TAME_LESS1_(n, a, ...) WEFT_TAME_E##n##_(__VA_ARGS__)
#define WEFT_TAME_LESS2_(n, a, b, ...) WEFT_TAME_E##n##_(__VA_ARGS__)

#define WEFT_TAME_EVENT0_() WEFT_EVENT()
#define WEFT_TAME_EVENT1_(a) WEFT_TAME_PICK_(WEFT_EVENT(), WEFT_EVENT(), WEFT_TAME_E1_(a, ), a)
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
#define mkevent(...) \
	((WEFT_TAME_JOIN_(WEFT_TAME_EVENT, WEFT_TAME_COUNT_(__VA_ARGS__))(__VA_ARGS__)) \
		 WEFT_TAME_QUIET_ weft_tame_untranslated_mkevent( \
			 0 WEFT_TAME_JOIN_(WEFT_TAME_SIZES, \
					   WEFT_TAME_COUNT_(__VA_ARGS__))(__VA_ARGS__)))
#endif

#endif
