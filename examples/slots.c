/* slots.c - a slot with a destructor, and cleanups, that run however a thread ends. */
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

static weft_key request; /* each thread's own */

static void shut(void *name)
{
	printf("  cleanup: close %s\n", (const char *)name);
}

static void forget(void *value)
{
	printf("  destructor: request %d\n", *(int *)value);
	free(value);
}

static void step(const char *what)
{
	int *id = weft_key_get(request);

	printf("  %s of request %d\n", what, *id);
	if (*id == 2)
		weft_exit(-1); /* from however deep */
}

static int handle(void *number)
{
	weft_cleanup file;
	int *id = malloc(sizeof *id);

	if (id == NULL || weft_key_set(request, id) < 0)
		return -1;
	*id = (int)(intptr_t)number;
	weft_cleanup_push(&file, shut, "the file");
	step("first step");
	weft_cleanup_pop(true); /* runs it now */
	return *id;
}

static int app(void *unused)
{
	weft_thread *t;
	int result;

	(void)unused;
	weft_key_new(&request, forget);
	for (intptr_t i = 1; i <= 2; i++)
		if (weft_thread_start(&t, NULL, handle, (void *)i) == 0 &&
		    weft_join(t, &result) == 0)
			printf("request %d: %d\n", (int)i, result);
	return weft_key_free(request);
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
