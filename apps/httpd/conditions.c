/* conditions.c - what a request makes its answer depend on. */
#include "conditions.h"

#include "date.h"

/* Is the tag in a list of them? A weak one is the same as a strong one, unless `strong`. */
static bool has_tag(struct text list, struct text tag, bool strong)
{
	struct text item;

	if (text_is(list, TEXT("*")))
		return true;
	while (text_next_item(&list, &item)) {
		if (!strong && item.size > 2 && memcmp(item.at, "W/", 2) == 0) {
			item.at += 2;
			item.size -= 2;
		}
		if (text_is(item, tag))
			return true;
	}
	return false;
}

/* Dates that cannot be read count as if they were not there. */
static bool is_newer(const struct file *f, struct text date, bool unknown)
{
	time_t when;

	return date_read(date, &when) ? f->modified > when : unknown;
}

int conditions_check(const struct request *r, const struct file *f)
{
	if (r->if_match.at != NULL) {
		if (!has_tag(r->if_match, f->etag, true))
			return 412;
	} else if (r->if_unmodified_since.at != NULL) {
		if (is_newer(f, r->if_unmodified_since, false))
			return 412;
	}
	if (r->if_none_match.at != NULL) {
		if (has_tag(r->if_none_match, f->etag, false))
			return 304;
	} else if (r->if_modified_since.at != NULL) {
		if (!is_newer(f, r->if_modified_since, true))
			return 304;
	}
	return 0;
}

bool conditions_allow_range(const struct request *r, const struct file *f)
{
	time_t when;

	if (r->range.at == NULL || r->method != METHOD_GET)
		return false;
	if (r->if_range.at == NULL)
		return true;
	if (r->if_range.size > 0 && r->if_range.at[0] == '"')
		return text_is(r->if_range, f->etag);
	return date_read(r->if_range, &when) && when == f->modified;
}
