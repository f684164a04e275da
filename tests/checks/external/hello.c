/* hello.c - somebody else's program: one event, on whatever core. */
#include <stdio.h>

#include <weft/weft.h>

static void greet(void *text)
{
	puts((const char *)text);
}

static int app(void *text)
{
	return weft_post(weft_color_new(), greet, text);
}

int main(void)
{
	static char text[] = "hello from weft";

	return weft_run(app, text, NULL) < 0;
}
