/* types.c - the media type of a file, by its name. */
#include "types.h"

static const struct {
	const char *ending, *type;
} types[] = {
	{ "html", "text/html; charset=utf-8" },
	{ "htm", "text/html; charset=utf-8" },
	{ "css", "text/css; charset=utf-8" },
	{ "js", "text/javascript; charset=utf-8" },
	{ "mjs", "text/javascript; charset=utf-8" },
	{ "json", "application/json" },
	{ "txt", "text/plain; charset=utf-8" },
	{ "md", "text/plain; charset=utf-8" },
	{ "xml", "text/xml; charset=utf-8" },
	{ "svg", "image/svg+xml" },
	{ "png", "image/png" },
	{ "jpg", "image/jpeg" },
	{ "jpeg", "image/jpeg" },
	{ "gif", "image/gif" },
	{ "webp", "image/webp" },
	{ "avif", "image/avif" },
	{ "ico", "image/x-icon" },
	{ "woff", "font/woff" },
	{ "woff2", "font/woff2" },
	{ "ttf", "font/ttf" },
	{ "wasm", "application/wasm" },
	{ "pdf", "application/pdf" },
	{ "mp3", "audio/mpeg" },
	{ "ogg", "audio/ogg" },
	{ "mp4", "video/mp4" },
	{ "webm", "video/webm" },
	{ "gz", "application/gzip" },
	{ "zip", "application/zip" },
	{ "tar", "application/x-tar" },
};

struct text type_of(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name != NULL ? name : path, '.');

	for (size_t i = 0; dot != NULL && i < sizeof types / sizeof *types; i++)
		if (strcasecmp(dot + 1, types[i].ending) == 0)
			return (struct text){ types[i].type, strlen(types[i].type) };
	return TEXT("application/octet-stream");
}
