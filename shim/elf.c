/* elf.c: finds functions in loaded objects by reading the loader's link map and ELF tables.
 *
 * vr_find_dlsym() and vr_find_dlvsym() run inside the first such call of the process, possibly
 * before libc, a sanitizer or an allocator has started: this file calls no function of anybody's,
 * keeps no state, and is compiled without instrumentation (see the Makefile). It must not know
 * CUDA. */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/shim.h"

/* Both are the loader's. Weak: a strong reference would add the loader to NEEDED. */
extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
};

bool vr_same_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static uintptr_t distance(uintptr_t a, uintptr_t b)
{
    return a < b ? b - a : a - b;
}

/* glibc relocates these entries in place, musl and the kernel's vdso do not. The tables of an
 * object lie near its dynamic section, so the nearer reading is the right one, wherever it was
 * linked to lie. */
static const void *table_at(uintptr_t base, const void *dynamic, ElfW(Addr) address)
{
    uintptr_t here = (uintptr_t)dynamic, moved = base + address;

    return (const void *)(distance(moved, here) < distance(address, here) ? moved : address);
}

static bool read_tables(uintptr_t base, const ElfW(Dyn) * dynamic, struct tables *out)
{
    *out = (struct tables){0};
    for (const ElfW(Dyn) *row = dynamic; row && row->d_tag != DT_NULL; row++) {
        const void *at = table_at(base, dynamic, row->d_un.d_ptr);

        switch (row->d_tag) {
        case DT_SYMTAB: out->symbols = at; break;
        case DT_STRTAB: out->strings = at; break;
        case DT_GNU_HASH: out->gnu_hash = at; break;
        case DT_HASH: out->sysv_hash = at; break;
        }
    }
    return out->symbols && out->strings && (out->gnu_hash || out->sysv_hash);
}

static bool is_function(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static const ElfW(Sym) * find_gnu(const struct tables *tables, const char *name)
{
    const uint32_t *header = tables->gnu_hash;
    uint32_t buckets = header[0], first = header[1], bloom_words = header[2];
    const uint32_t *bucket = header + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381, index;

    if (!buckets)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    index = bucket[hash % buckets];
    if (index < first)
        return NULL;
    for (;; index++) {
        uint32_t value = chain[index - first];
        const ElfW(Sym) *symbol = tables->symbols + index;

        if ((value | 1) == (hash | 1) && is_function(symbol) &&
            vr_same_name(tables->strings + symbol->st_name, name))
            return symbol;
        if (value & 1)
            return NULL;
    }
}

static const ElfW(Sym) * find_sysv(const struct tables *tables, const char *name)
{
    uint32_t count = tables->sysv_hash[1];

    for (uint32_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = tables->symbols + i;

        if (is_function(symbol) && vr_same_name(tables->strings + symbol->st_name, name))
            return symbol;
    }
    return NULL;
}

void *vr_elf_symbol(uintptr_t base, const void *dynamic, const char *name)
{
    struct tables tables;
    const ElfW(Sym) * symbol;

    if (!read_tables(base, dynamic, &tables))
        return NULL;
    symbol = tables.gnu_hash ? find_gnu(&tables, name) : find_sysv(&tables, name);
    return symbol ? (void *)(base + symbol->st_value) : NULL;
}

/* Objects before ours in the list that override the same function have their own way to us; the one
 * they would reach after us is the next in the list. */
static void *find_next(const char *name)
{
    const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
    const struct link_map *start = map;
    void *found = NULL;

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    for (map = map ? map->l_next : start; map && !found; map = map->l_next)
        found = vr_elf_symbol(map->l_addr, map->l_ld, name);
    return found;
}

void *vr_find_dlsym(void)
{
    void *found = find_next("dlsym");

    __atomic_store_n((void **)&vr_shim.dlsym, found, __ATOMIC_RELEASE);
    return found;
}

void *vr_find_dlvsym(void)
{
    void *found = find_next("dlvsym");

    __atomic_store_n((void **)&vr_shim.dlvsym, found, __ATOMIC_RELEASE);
    return found;
}
