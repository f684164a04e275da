/* names.c - looking up names, as events. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <weft/io.h>

#include "base/memory.h"
#include "tame/primitive.h"
#include "threads/threads.h"

/* What is told in the end: the first address, all of them, or one of IPv4. */
enum wants { FIRST, ALL, IPV4 };

struct asking {
	struct wf_primitive p;
	weft_lookup lookup;
	enum wants wants;
};

static struct in_addr ipv4_of(const struct sockaddr_storage *a)
{
	struct sockaddr_in in;

	memcpy(&in, a, sizeof in);
	return in.sin_addr;
}

static void tell(weft_tame_event *event, enum wants wants, int result,
		 struct sockaddr_storage *addrs)
{
	struct sockaddr_storage none = { 0 };

	if (wants == FIRST)
		weft_trigger((WEFT_EVENT(int, struct sockaddr_storage))(void *)event,
			     result < 0 ? result : 0, addrs != NULL ? *addrs : none);
	else if (wants == ALL)
		weft_trigger((WEFT_EVENT(int, struct sockaddr_storage *))(void *)event, result,
			     addrs);
	else
		weft_trigger((WEFT_EVENT(struct in_addr))(void *)event,
			     ipv4_of(addrs != NULL ? addrs : &none));
}

/* The addresses go to the event's owner if there is one who wants all of them. */
static void end(struct asking *a, int result)
{
	weft_lookup lookup = a->lookup;
	enum wants wants = a->wants;
	weft_tame_event *e = wf_primitive_end(&a->p);

	if (result == 0)
		result = lookup.count > 0 ? lookup.count : -ENOENT;
	if (result < 0 || e == NULL || wants != ALL) {
		if (e != NULL)
			tell(e, wants, result, result > 0 ? lookup.addrs : NULL);
		weft_lookup_fini(&lookup);
	} else {
		tell(e, wants, result, lookup.addrs);
	}
}

static void done(void *arg)
{
	struct asking *a = arg;

	end(a, a->lookup.result);
}

static void stop(struct wf_primitive *p)
{
	(void)weft_lookup_cancel(&WF_CONTAINER(p, struct asking, p)->lookup);
}

/* An address in text form needs no lookup. */
static bool tell_numeric(const char *host, uint16_t port, int family, enum wants wants,
			 weft_tame_event *e)
{
	struct sockaddr_storage addr, *all = &addr;

	if (host == NULL || weft_tame_cancelled(e) || !wf_numeric(host, port, family, &addr))
		return false;
	if (wants == ALL) {
		all = WF_NEW(struct sockaddr_storage);
		if (all != NULL)
			*all = addr;
	}
	tell(e, wants, all != NULL ? 1 : -ENOMEM, all);
	return true;
}

static void ask(const char *host, uint16_t port, int family, int timeout_ms, enum wants wants,
		weft_tame_event *e)
{
	struct asking *a;
	int rc;

	if (tell_numeric(host, port, family, wants, e))
		return;
	a = wf_primitive_new(sizeof *a, e, &rc);
	if (a == NULL) {
		tell(e, wants, rc, NULL);
		return;
	}
	a->wants = wants;
	weft_lookup_init(&a->lookup, a->p.color, done, a);
	rc = host == NULL ? -EINVAL : weft_lookup_start(&a->lookup, host, port, family, timeout_ms);
	if (rc < 0)
		end(a, rc);
	else
		wf_primitive_begun(&a->p, stop);
}

void weft_lookup_ev(const char *host, uint16_t port, int family, int timeout_ms,
		    WEFT_EVENT(int, struct sockaddr_storage) e)
{
	ask(host, port, family, timeout_ms, FIRST, WF_EVENT_OF(e));
}

void weft_lookup_all_ev(const char *host, uint16_t port, int family, int timeout_ms,
			WEFT_EVENT(int, struct sockaddr_storage *) e)
{
	ask(host, port, family, timeout_ms, ALL, WF_EVENT_OF(e));
}

void weft_resolve_ev(const char *name, WEFT_EVENT(struct in_addr) e)
{
	ask(name, 0, AF_INET, 0, IPV4, WF_EVENT_OF(e));
}
