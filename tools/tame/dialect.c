/* dialect.c - what gcc's headers and macros say and clang does not understand. */
#include <string.h>

#include "tool.h"

/* Words of the same types, for libclang; it only reads, and nothing of this is compiled. */
static const char of_gcc[] =
	"#define _Float32 float\n"
	"#define _Float64 double\n"
	"#define _Float32x double\n"
	"#define _Float64x long double\n"
	"#ifdef __SIZEOF_FLOAT128__\n"
	"#define _Float128 __float128\n"
	"#else\n"
	"#define _Float128 long double\n"
	"#endif\n"
	"#define __malloc__(...) __malloc__\n"
	"#define __builtin_va_arg_pack() 0\n"
	"#define __builtin_va_arg_pack_len() 0\n"
	"#define __atomic_load_n(p, o) ((void)(o), *(p))\n"
	"#define __atomic_load(p, r, o) ((void)(p), (void)(r), (void)(o))\n"
	"#define __atomic_store_n(p, v, o) ((void)(p), (void)(v), (void)(o))\n"
	"#define __atomic_store(p, v, o) ((void)(p), (void)(v), (void)(o))\n"
	"#define __atomic_exchange_n(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_exchange(p, v, r, o) ((void)(p), (void)(v), (void)(r), (void)(o))\n"
	"#define __atomic_compare_exchange_n(p, e, d, w, s, f) \\\n"
	"	((_Bool)((void)(p), (void)(e), (void)(d), (void)(w), (void)(s), (void)(f), 1))\n"
	"#define __atomic_compare_exchange(p, e, d, w, s, f) \\\n"
	"	((_Bool)((void)(p), (void)(e), (void)(d), (void)(w), (void)(s), (void)(f), 1))\n"
	"#define __atomic_fetch_add(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_fetch_sub(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_fetch_and(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_fetch_or(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_fetch_xor(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_fetch_nand(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_add_fetch(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_sub_fetch(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_and_fetch(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_or_fetch(p, v, o) ((void)(v), (void)(o), *(p))\n"
	"#define __atomic_xor_fetch(p, v, o) ((void)(v), (void)(o), *(p))\n";

const char *tame_dialect(void)
{
	for (size_t i = 0; i < expanded.change_count; i++)
		if (tame_is_word(expanded.changes[i].name, expanded.changes[i].name_size,
				 "__clang__"))
			return "";
	return of_gcc;
}
