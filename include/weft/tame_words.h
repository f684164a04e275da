/* weft/tame_words.h - the words of weft/tame.h, in two versions: for translated files, and as legal C
 * for untranslated ones.
 *
 * In an untranslated file each word that only weft-tame can translate calls a function that must
 * not be called, so a compiler refuses the file. Editors only parse the file, and check types: they
 * show an event of the wrong type as an error. weft-tame runs the compiler's preprocessor with
 * WEFT_TAME_READING defined: each word then becomes a name that no program uses (WEFT_TAME_TWAIT_),
 * whatever macros the program defines. tame_untranslated.h defines these names.
 */
#ifndef WEFT_TAME_WORDS_H
#define WEFT_TAME_WORDS_H

#pragma GCC system_header /* __VA_OPT__, in what is called C11 and C++17 */

#include <weft/tame.h>

#define event(...) WEFT_EVENT(__VA_ARGS__)
#define rendezvous(...) WEFT_RENDEZVOUS(__VA_ARGS__)
#define ton(...) weft_ton(__VA_ARGS__)
#define rv_cancel(r) weft_tame_rendezvous_cancel(WEFT_TAME_R(r))
#define rv_stop(r) weft_tame_rendezvous_stop(WEFT_TAME_R(r))

#ifdef WEFT_TAME_READING
#define trigger(...) WEFT_TAME_TRIGGER_ weft_trigger(__VA_ARGS__)
#else
#define trigger(...) weft_trigger(__VA_ARGS__)
#endif

#if defined(WEFT_TAME_TRANSLATED) || (defined(__cplusplus) && !defined(__clang__))
#define tamed void
#define threaded
#else
#if !defined(WEFT_TAME_READING)
#include <weft/tame_untranslated.h>
#endif
#define tamed WEFT_TAME_TAMED_
#define threaded WEFT_TAME_THREADED_
#endif

#if !defined(WEFT_TAME_TRANSLATED) && !defined(__cplusplus)
#define twait WEFT_TAME_TWAIT_
#define trefused(err) WEFT_TAME_TREFUSED_(err)
#define tfork(e, ...) WEFT_TAME_TFORK_(e, __VA_ARGS__)
#define mkevent(...) WEFT_TAME_MKEVENT_(__VA_ARGS__)
#endif

#endif
