/* list.h - a doubly linked list whose links live in the things listed. */
#ifndef WF_LIST_H
#define WF_LIST_H

#include "base/compiler.h"

/* A head and a member look the same; an empty head points at itself. */
struct wf_link {
	struct wf_link *next, *prev;
};

static inline void wf_list_init(struct wf_link *head)
{
	head->next = head->prev = head;
}

static inline bool wf_list_empty(const struct wf_link *head)
{
	return head->next == head;
}

static inline void wf_list_append(struct wf_link *head, struct wf_link *link)
{
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

static inline void wf_list_remove(struct wf_link *link)
{
	link->next->prev = link->prev;
	link->prev->next = link->next;
}

#endif
