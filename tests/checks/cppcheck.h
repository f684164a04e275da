/* What cppcheck, which knows no __VA_OPT__, reads in place of weft/trigger.h. */
#define WEFT_TRIGGER_H

#include <weft/event.h>

typedef struct weft_tame_event {
	void (*trigger_)(void);
	const struct weft_tame_site *site_;
} weft_tame_event;
typedef void (*const *weft_any_event)(void);
#define WEFT_EVENT(...) weft_any_event
#define weft_trigger(e, ...) ((void)(e))
#define weft_event_drop(e) weft_tame_drop((weft_tame_event *)(e))
