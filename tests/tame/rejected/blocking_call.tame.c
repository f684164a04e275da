#include <weft/tame.h>
#include <weft/blocking.h>

WEFT_WAITS static int own(int fd)
{
	return weft_close(fd);
}
threaded int thread(int fd, void *buf)
{
	return (int)weft_read(fd, buf, 1);
}
tamed f(int fd, void *buf, event(int) e)
{
	weft_sleep(3); /* warning:2: 'weft_sleep' waits on the stack of a thread, which the tamed function 'f' does not have */
	weft_hop(5);   /* warning:2: 'weft_hop' waits on the stack */
	own(fd);       /* warning:2: 'own' waits on the stack */
	if (weft_self() == NULL && weft_now() > 3)
		trigger(e, (int)weft_read(fd, buf, 1)); /* warning:19: 'weft_read' waits */
	else
		(void)e;
}
