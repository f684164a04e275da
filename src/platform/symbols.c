/* symbols.c - looks a code address up in its module's symbol table.
 *
 * dladdr knows exported functions only, and handlers are mostly static; so the
 * table for debuggers is read from the file, which costs a few system calls, in
 * reports only. The file is checked like any input: it may have been replaced.
 */
#include "platform/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const uint8_t *at;
	size_t size;
};

static bool map_file(const char *path, struct image *image)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(ElfW(Ehdr)))
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	*image = (struct image){ at, (size_t)st.st_size };
	return true;
}

/* `count` things of `size` bytes at `offset` of the file; NULL: not all in it. */
static const void *part(const struct image *image, uint64_t offset, uint64_t count, size_t size)
{
	if (offset % _Alignof(ElfW(Sym)) != 0 || offset > image->size ||
	    count > (image->size - offset) / size)
		return NULL;
	return image->at + offset;
}

/* The sections' headers; *count is 0 if there are none to be had. */
static const ElfW(Shdr) * sections(const struct image *image, size_t *count)
{
	const ElfW(Ehdr) *head = (const void *)image->at;
	const ElfW(Shdr) * all;

	*count = 0;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)))
		return NULL;
	all = part(image, head->e_shoff, head->e_shnum, sizeof *all);
	if (all != NULL)
		*count = head->e_shnum;
	return all;
}

/* The function in one symbol table that holds `address`. */
static const ElfW(Sym) *
	find_in(const struct image *image, const ElfW(Shdr) * table, uintptr_t address)
{
	size_t count = table->sh_size / sizeof(ElfW(Sym));
	const ElfW(Sym) *symbols = part(image, table->sh_offset, count, sizeof *symbols);

	for (size_t i = 0; symbols != NULL && i < count; i++) {
		const ElfW(Sym) *s = &symbols[i];

		if ((s->st_info & 0xf) == STT_FUNC && address >= s->st_value &&
		    address - s->st_value < s->st_size)
			return s;
	}
	return NULL;
}

static bool copy_name(const struct image *image, const ElfW(Shdr) * strings, uint32_t at,
		      char *text, size_t size)
{
	const char *name = (const char *)image->at + strings->sh_offset + at;
	size_t room;

	if (strings->sh_offset > image->size || at >= image->size - strings->sh_offset)
		return false;
	room = image->size - strings->sh_offset - at;
	snprintf(text, size, "%.*s", (int)strnlen(name, room < size ? room : size), name);
	return true;
}

/* The name of the function at `address`, as the file counts addresses. */
static bool find_name(const struct image *image, uintptr_t address, char *text, size_t size,
		      uintptr_t *into)
{
	size_t count;
	const ElfW(Shdr) *all = sections(image, &count);

	for (size_t i = 0; i < count; i++) {
		const ElfW(Sym) * s;

		if (all[i].sh_type != SHT_SYMTAB || all[i].sh_link >= count)
			continue;
		s = find_in(image, &all[i], address);
		if (s == NULL)
			continue;
		*into = address - s->st_value;
		return copy_name(image, &all[all[i].sh_link], s->st_name, text, size);
	}
	return false;
}

static bool name_from_file(const Dl_info *info, uintptr_t address, char *text, size_t size,
			   uintptr_t *into)
{
	struct image image;
	bool found;

	if (!map_file(info->dli_fname, &image) && !map_file("/proc/self/exe", &image))
		return false;
	found = find_name(&image, address, text, size, into);
	munmap((void *)image.at, image.size);
	return found;
}

void wf_symbol_print(uintptr_t pc, char *text, size_t size)
{
	struct link_map *map = NULL;
	const char *module, *slash;
	char name[128];
	uintptr_t into = 0, address;
	Dl_info info;

	if (dladdr1((void *)pc, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
	    info.dli_fname == NULL || map == NULL) {
		snprintf(text, size, "%#lx", (unsigned long)pc);
		return;
	}
	slash = strrchr(info.dli_fname, '/');
	module = slash ? slash + 1 : info.dli_fname;
	address = pc - map->l_addr;
	if (name_from_file(&info, address, name, sizeof name, &into))
		snprintf(text, size, "%s+%#lx (%s+%#lx)", name, (unsigned long)into, module,
			 (unsigned long)address);
	else if (info.dli_sname != NULL)
		snprintf(text, size, "%s+%#lx (%s+%#lx)", info.dli_sname,
			 (unsigned long)(pc - (uintptr_t)info.dli_saddr), module,
			 (unsigned long)address);
	else
		snprintf(text, size, "(%s+%#lx)", module, (unsigned long)address);
}
