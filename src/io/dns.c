/* dns.c - names to addresses, without a thread and without a lock.
 *
 * Everything happens in one color: a lookup is posted there as an event, and so
 * is its cancellation; answers and timeouts come up there. The user's struct is
 * answered exactly once, by whoever moves its state out of ASKED (state.h).
 *
 * c-ares cannot take back a single query. So each lookup has a request record
 * of ours: when the user is answered early (cancelled, or out of time), the
 * record stays behind until c-ares lets go of it. When nobody waits for any
 * answer, all queries are ended at once.
 */
#ifdef WEFT_HAVE_CARES

#include <ares.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>

#include <weft/io.h>

#include "base/capacity.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/memory.h"
#include "io/dns.h"
#include "io/parts.h"
#include "io/state.h"
#include "scheduler/scheduler.h"

/* Names that are asked for at one time; more wait. c-ares looks for a free one
 * among 65,536 query numbers, two for each name, and would look for ever. */
#ifdef WEFT_TINY
#define ASKED_MAX 2
#else
#define ASKED_MAX 4096
#endif

#define NAME_MAX_LENGTH 255

struct request {
	struct wf_link link; /* in dns.all */
	struct wf_link turn; /* in dns.waiting, if `waiting` */
	weft_event event;    /* brings it to our color */
	weft_timer timer;
	weft_lookup *lookup; /* NULL: it has been answered */
	bool waiting;
	bool asked; /* c-ares has it */
	uint16_t port;
	int family, timeout_ms;
	char name[];
};

static struct {
	struct wf_lock lock; /* of `all`, and of starting and cancelling */
	struct wf_link all;
	bool on, closing;
	weft_color color;
	char *servers;
	/* Touched in our color only: */
	struct wf_hosts hosts;
	bool open;        /* there is a channel */
	unsigned asked;   /* requests that c-ares has */
	unsigned awaited; /* of these, not answered yet */
	struct wf_link waiting;
	weft_event more; /* there is room for those that wait */
	bool more_posted;
} dns;

/* What weft_lookup_servers said. */
static struct {
	pthread_mutex_t lock;
	char *servers, *hosts_file;
} config = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void release(struct request *r)
{
	wf_lock_take(&dns.lock);
	wf_list_remove(&r->link);
	wf_lock_give(&dns.lock);
	free(r);
}

static void leave_queue(struct request *r)
{
	if (r->waiting)
		wf_list_remove(&r->turn);
	r->waiting = false;
}

/* Answers the user. The caller has the right to: it decided. */
static void tell(struct request *r, int result)
{
	weft_lookup *l = r->lookup;

	leave_queue(r);
	(void)weft_timer_cancel(&r->timer);
	r->lookup = NULL;
	l->result = result;
	wf_state_set(&l->state_, WF_TOLD);
	wf_event_deliver(NULL, &l->event);
	wf_live_op_add(-1);
	if (r->asked)
		dns.awaited--;
	else
		release(r);
}

/* The user has been answered before c-ares was done. */
static void give_up(struct request *r, int result)
{
	tell(r, result);
	if (dns.awaited == 0 && dns.asked > 0)
		wf_channel_cancel();
}

static void set_port(struct sockaddr_storage *addr, uint16_t port)
{
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
}

/* Answers with addresses, which it takes. */
static void tell_addresses(struct request *r, struct sockaddr_storage *addrs, int count)
{
	for (int i = 0; i < count; i++)
		set_port(&addrs[i], r->port);
	r->lookup->addrs = addrs;
	r->lookup->count = count;
	tell(r, 0);
}

static int error_of(int status)
{
	switch (status) {
	case ARES_ENODATA:
	case ARES_ENOTFOUND:
	case ARES_EBADNAME:
		return -ENOENT;
	case ARES_ETIMEOUT:
		return -ETIMEDOUT;
	case ARES_ENOMEM:
		return -ENOMEM;
	default:
		return -EAGAIN;
	}
}

static int copy_addresses(const struct ares_addrinfo *found, struct sockaddr_storage **addrs)
{
	const struct ares_addrinfo_node *node;
	int count = 0;

	for (node = found->nodes; node != NULL; node = node->ai_next)
		count++;
	if (count == 0)
		return -ENOENT;
	*addrs = wf_new_array((size_t)count, sizeof **addrs);
	if (*addrs == NULL)
		return -ENOMEM;
	count = 0;
	for (node = found->nodes; node != NULL; node = node->ai_next)
		memcpy(&(*addrs)[count++], node->ai_addr, node->ai_addrlen);
	return count;
}

/* There is room with c-ares. This runs inside a call of c-ares, so the next are
 * asked for later. */
static void post_more(void)
{
	if (dns.more_posted || wf_list_empty(&dns.waiting))
		return;
	dns.more_posted = true;
	wf_event_deliver(NULL, &dns.more);
}

/* c-ares is done with a request. */
static void answer(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
	struct request *r = arg;
	struct sockaddr_storage *addrs;
	int n = status == ARES_SUCCESS ? 0 : error_of(status);

	(void)timeouts;
	dns.asked--;
	r->asked = false;
	if (dns.closing) {
		/* wf_dns_stop frees all requests; nobody is called any more */
	} else if (r->lookup == NULL) {
		release(r);
	} else {
		dns.awaited--;
		/* If it fails to decide, the cancel that did is on its way to us. */
		if (wf_state_decide(&r->lookup->state_, WF_BEGUN)) {
			if (n == 0)
				n = copy_addresses(found, &addrs);
			if (n > 0)
				tell_addresses(r, addrs, n);
			else
				tell(r, n);
		}
	}
	if (found != NULL)
		ares_freeaddrinfo(found);
	if (!dns.closing)
		post_more();
}

static void ask_waiting(void)
{
	while (dns.asked < ASKED_MAX && !wf_list_empty(&dns.waiting)) {
		struct request *r = WF_CONTAINER(dns.waiting.next, struct request, turn);

		leave_queue(r);
		r->asked = true;
		dns.asked++;
		dns.awaited++;
		wf_channel_ask(r->name, r->family, answer, r);
	}
	wf_channel_settle();
}

static void run_more(void *unused)
{
	(void)unused;
	dns.more_posted = false;
	ask_waiting();
}

static void time_out(void *arg)
{
	struct request *r = arg;

	if (wf_state_decide(&r->lookup->state_, WF_BEGUN))
		give_up(r, -ETIMEDOUT);
}

static void end_cancelled(void *arg)
{
	give_up(arg, -ECANCELED);
}

/* Puts the request in the queue for c-ares. */
static int enqueue(struct request *r)
{
	int rc = 0;

	if (!dns.open)
		rc = wf_channel_open(dns.color, dns.servers);
	if (rc < 0)
		return rc;
	dns.open = true;
	if (r->timeout_ms > 0)
		(void)weft_timer_start(&r->timer, (uint64_t)r->timeout_ms * WEFT_MS);
	r->waiting = true;
	wf_list_append(&dns.waiting, &r->turn);
	return 0;
}

/* The first that happens to a request in our color. */
static void begin(void *arg)
{
	struct request *r = arg;
	struct sockaddr_storage *addrs;
	int n;

	if (wf_state_get(&r->lookup->state_) != WF_ASKED)
		return; /* cancelled: that event is behind this one */
	n = wf_hosts_find(&dns.hosts, r->name, r->family, &addrs);
	if (n == 0)
		n = enqueue(r);
	if (n == 0)
		ask_waiting();
	else if (!wf_state_decide(&r->lookup->state_, WF_BEGUN))
		free(n > 0 ? addrs : NULL);
	else if (n > 0)
		tell_addresses(r, addrs, n);
	else
		tell(r, n);
}

static int start(weft_lookup *l, const char *host, size_t len, uint16_t port, int family,
		 int timeout_ms)
{
	struct request *r = wf_new_array(1, sizeof *r + len + 1);

	if (r == NULL)
		return -ENOMEM;
	memcpy(r->name, host, len + 1);
	r->port = port;
	r->family = family;
	r->timeout_ms = timeout_ms;
	r->lookup = l;
	weft_event_init(&r->event, dns.color, begin, r);
	weft_timer_init(&r->timer, dns.color, time_out, r);
	weft_lookup_fini(l);
	l->result = 0;
	weft_event_init(&l->inner_, dns.color, end_cancelled, r);
	wf_live_op_add(1);
	/* A cancel waits for the lock, so its event is behind this one. */
	wf_lock_take(&dns.lock);
	wf_list_append(&dns.all, &r->link);
	wf_state_set(&l->state_, WF_ASKED);
	wf_event_deliver(NULL, &r->event);
	wf_lock_give(&dns.lock);
	return 0;
}

int weft_lookup_start(weft_lookup *l, const char *host, uint16_t port, int family, int timeout_ms)
{
	size_t len = host != NULL ? strnlen(host, NAME_MAX_LENGTH + 1) : 0;
	int rc;

	if (l == NULL || len == 0 || len > NAME_MAX_LENGTH || timeout_ms < 0 ||
	    (family != AF_UNSPEC && family != AF_INET && family != AF_INET6) ||
	    wf_event_check(&l->event) < 0)
		return -EINVAL;
	rc = wf_enter();
	if (rc < 0)
		return rc;
	if (wf_stopping())
		rc = -ESHUTDOWN;
	else if (wf_state_busy(&l->state_, &l->event))
		rc = -EALREADY;
	else
		rc = start(l, host, len, port, family, timeout_ms);
	wf_leave();
	return rc;
}

static bool cancel(weft_lookup *l)
{
	bool ours;

	if (wf_state_get(&l->state_) != WF_ASKED)
		return false;
	wf_lock_take(&dns.lock);
	ours = wf_state_decide(&l->state_, WF_CANCELLED);
	if (ours)
		wf_event_deliver(NULL, &l->inner_);
	wf_lock_give(&dns.lock);
	return ours;
}

int weft_lookup_cancel(weft_lookup *l)
{
	int rc;

	if (l == NULL)
		return -EINVAL;
	rc = wf_enter();
	if (rc < 0)
		return rc;
	if (!cancel(l))
		rc = wf_state_get(&l->state_) == WF_FRESH ? -ENOENT : -EALREADY;
	wf_leave();
	return rc;
}

void weft_lookup_fini(weft_lookup *l)
{
	free(l->addrs);
	l->addrs = NULL;
	l->count = 0;
}

/* A copy of `text` in *copy, NULL for NULL. */
static int duplicate(const char *text, char **copy)
{
	size_t len = text != NULL ? strlen(text) + 1 : 0;

	*copy = NULL;
	if (text == NULL)
		return 0;
	*copy = wf_new_array(1, len);
	if (*copy == NULL)
		return -ENOMEM;
	memcpy(*copy, text, len);
	return 0;
}

int weft_lookup_servers(const char *servers, const char *hosts_file)
{
	char *new_servers = NULL, *new_hosts = NULL;
	int rc = servers != NULL ? wf_channel_check(servers) : 0;

	if (rc == 0)
		rc = duplicate(servers, &new_servers);
	if (rc == 0)
		rc = duplicate(hosts_file, &new_hosts);
	if (rc < 0) {
		free(new_servers);
		return rc;
	}
	pthread_mutex_lock(&config.lock);
	free(config.servers);
	free(config.hosts_file);
	config.servers = new_servers;
	config.hosts_file = new_hosts;
	pthread_mutex_unlock(&config.lock);
	return 0;
}

int wf_dns_start(void)
{
	char *hosts = NULL;
	int rc;

	pthread_mutex_lock(&config.lock);
	rc = duplicate(config.servers, &dns.servers);
	if (rc == 0)
		rc = duplicate(config.hosts_file != NULL ? config.hosts_file : "/etc/hosts",
			       &hosts);
	pthread_mutex_unlock(&config.lock);
	if (rc < 0) {
		free(dns.servers);
		dns.servers = NULL;
		return rc;
	}
	wf_hosts_init(&dns.hosts, hosts);
	wf_lock_init(&dns.lock, WF_RANK_RESOLVER);
	wf_list_init(&dns.all);
	wf_list_init(&dns.waiting);
	dns.color = weft_color_new();
	weft_event_init(&dns.more, dns.color, run_more, NULL);
	dns.asked = dns.awaited = 0;
	dns.open = dns.closing = dns.more_posted = false;
	dns.on = true;
	return 0;
}

/* A lookup without an answer counts as not started: its owner may use it again. */
static void forget(struct request *r)
{
	weft_lookup *l = r->lookup;

	if (l != NULL) {
		l->result = -ECANCELED;
		wf_state_set(&l->state_, WF_FRESH);
	}
	release(r);
}

void wf_dns_stop(void)
{
	if (!dns.on)
		return;
	dns.on = false;
	dns.closing = true;
	if (dns.open)
		wf_channel_close();
	while (!wf_list_empty(&dns.all))
		forget(WF_CONTAINER(dns.all.next, struct request, link));
	wf_hosts_fini(&dns.hosts);
	free(dns.servers);
	dns.servers = NULL;
}

#else

typedef int wf_without_c_ares;

#endif
