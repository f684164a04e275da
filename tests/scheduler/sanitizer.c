/* A program with a sanitizer that the library does not know is told so, and not run. */
#include "common.h"

/* Stands for the sanitizer's own library. */
#ifdef __SANITIZE_THREAD__
#define SANITIZER "asan"
void __asan_init(void);
void __asan_init(void) {}
#else
#define SANITIZER "tsan"
void __tsan_init(void);
void __tsan_init(void) {}
#endif

static bool ran;

static int app(void *unused)
{
	(void)unused;
	ran = true;
	return 0;
}

TEST(a_sanitizer_that_the_library_lacks_is_named_with_the_library_to_link)
{
	catch_reports();
	CHECK_EQ(weft_run(app, NULL, NULL), -ENOTSUP);
	CHECK(!ran);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 1);
	CHECK(reported(WEFT_REPORT_MISUSE, "sanitizer.c:"));
	CHECK(reported(WEFT_REPORT_MISUSE, "link libweft-" SANITIZER));
	CHECK(reported(WEFT_REPORT_MISUSE, "pkg-config weft-" SANITIZER));
	CHECK(reported(WEFT_REPORT_MISUSE, "Weft::weft_" SANITIZER));
}

TEST_MAIN
