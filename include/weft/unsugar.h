/* weft/unsugar.h - takes back the short words of weft/sugar.h. */
#ifdef __cplusplus
#error "weft/unsugar.h is for C only, as weft/sugar.h is"
#endif

#undef async
#undef async_own
#undef finish
#undef shield
#undef cancel
#undef cancelled
#undef fail
#undef deadline
