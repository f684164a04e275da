/* weft/sugar.h - the words of weft/scope.h without their prefix.
 *
 *	finish (q) {
 *		async { ... };
 *	}
 *
 * To be included last, and only in a .c file: these are macros, and other headers may use
 * the same words. weft/unsugar.h takes them back.
 */
#ifdef __cplusplus
#error "weft/sugar.h is for C only: std::async could not be said any more"
#endif

#include <weft/scope.h>

#define async weft_async
#define async_own(...) weft_async_own (__VA_ARGS__)
#define finish(...) weft_finish (__VA_ARGS__)
#define shield weft_shield
#define cancel(...) weft_cancel(__VA_ARGS__)
#define cancelled() weft_cancelled()
#define fail(...) weft_fail(__VA_ARGS__)
#define deadline(...) weft_deadline(__VA_ARGS__)
