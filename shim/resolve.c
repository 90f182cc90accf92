/* resolve.c: which driver function is whose. Finds the driver library, and decides for each answer
 * of dlsym and cuGetProcAddress whether it is the address of a function we get in front of.
 *
 * The real resolver is always asked first; a name alone decides nothing. Only the first driver
 * library of the process is routed. It takes no lock and no memory from malloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "shim/hooks.h"

struct vr_shim vr_shim;

/* In libc from glibc 2.34 on; before, only in programs that use libdl. Asked for under the version
 * it has had since glibc was ported to the machine: its newest would make the library need 2.34. */
extern void *dlopen(const char *, int) __attribute__((weak));
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
#endif

/* Ours, not the first one in the process. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct entry_name {
    const char *symbol, *base;
    int since;
    bool ptds;
    void *hook;
};

static const struct entry_name entries[VR_ENTRIES] = {
#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args)                             \
    [VR_##symbol] = {#symbol, #base, since, ptds, (void *)(symbol)},
#include "shim/entries.h"
};

static const char *const needs[VR_NEEDS] = {
#define VR_NEED(symbol, params) [VR_NEED_##symbol] = #symbol,
#include "shim/entries.h"
};

/* ---- the provider ---- */

/* An object that defines a driver function or two is not the driver: a tracer, a stub of a plugin.
 */
static bool is_driver(uintptr_t base, const void *dynamic)
{
    static const char *const essential[] = {"cuInit", "cuDriverGetVersion", "cuCtxGetCurrent"};

    for (size_t i = 0; i < sizeof(essential) / sizeof(*essential); i++) {
        if (!vr_elf_symbol(base, dynamic, essential[i]))
            return false;
    }
    return true;
}

struct search {
    const char *symbol;
    const void *address; /* NULL: whatever the object defines */
    struct vr_provider *provider;
    const char *path; /* of the object found; the loader's */
};

static void fill(struct vr_provider *provider, uintptr_t base, const void *dynamic)
{
    for (int i = 0; i < VR_ENTRIES; i++)
        provider->real[i] = vr_elf_symbol(base, dynamic, entries[i].symbol);
    for (int i = 0; i < VR_NEEDS; i++)
        provider->need[i] = vr_elf_symbol(base, dynamic, needs[i]);
}

static const void *dynamic_of(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    return NULL;
}

/* Called by the loader under its own lock, so the object cannot go away; reads memory only. */
static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    const void *dynamic = dynamic_of(info), *found;

    (void)size;
    if (!dynamic || dynamic == _DYNAMIC)
        return 0;
    found = vr_elf_symbol(info->dlpi_addr, dynamic, search->symbol);
    if (!found || (search->address && found != search->address) ||
        !is_driver(info->dlpi_addr, dynamic))
        return 0;
    fill(search->provider, info->dlpi_addr, dynamic);
    search->path = info->dlpi_name;
    return 1;
}

/* Its addresses are kept for good, so the object must stay: programs do close and reopen it. */
static void pin(const char *path)
{
    if (dlopen && path && *path)
        dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The provider; made from the driver that defines `symbol` (at `address`, unless that is NULL) if
 * there is none yet. NULL when no object does or memory is out. */
static struct vr_provider *find_provider(const char *symbol, const void *address)
{
    struct vr_provider *known = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
    struct vr_provider *fresh;
    struct search search = {.symbol = symbol, .address = address};

    if (known)
        return known;
    fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    search.provider = fresh;
    if (dl_iterate_phdr(look_into, &search) &&
        atomic_compare_exchange_strong(&vr_shim.provider, &known, fresh)) {
        pin(search.path);
        return fresh;
    }
    munmap(fresh, sizeof(*fresh));
    return known;
}

/* ---- where code lies ---- */

struct place {
    uintptr_t address;
    bool ours_seen, after; /* after: the object that holds `address` comes after ours */
    bool driver;           /* that object is a driver */
};

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD &&
            address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

static int look_for_place(struct dl_phdr_info *info, size_t size, void *context)
{
    struct place *place = context;
    const void *dynamic = dynamic_of(info);

    (void)size;
    if (dynamic == _DYNAMIC)
        place->ours_seen = true;
    if (!holds(info, place->address))
        return 0;
    place->after = place->ours_seen;
    place->driver = dynamic && dynamic != _DYNAMIC && is_driver(info->dlpi_addr, dynamic);
    return 1;
}

static struct place place_of(const void *address)
{
    struct place place = {.address = (uintptr_t)address};

    dl_iterate_phdr(look_for_place, &place);
    return place;
}

/* ---- the door of linked symbols ---- */

typedef void *(*dlsym_t)(void *, const char *);
typedef void *(*dlvsym_t)(void *, const char *, const char *);

static dlsym_t next_dlsym(void)
{
    dlsym_t next = __atomic_load_n(&vr_shim.dlsym, __ATOMIC_ACQUIRE);

    return next ? next : (dlsym_t)vr_find_dlsym();
}

void *vr_first_call(enum vr_entry entry)
{
    struct vr_provider *provider = find_provider(entries[entry].symbol, NULL);
    dlsym_t next = next_dlsym();
    void *real = next ? next(RTLD_NEXT, entries[entry].symbol) : NULL;

    if (!real && provider)
        real = provider->real[entry];
    if (real && !atomic_exchange(&vr_shim.call[entry], real) && provider &&
        !atomic_load(&provider->handed[entry]))
        atomic_fetch_add(&provider->doors_elf, 1);
    return real;
}

struct vr_doors vr_doors(void)
{
    struct vr_provider *provider = atomic_load(&vr_shim.provider);
    struct vr_doors doors = {0};

    if (!provider)
        return doors;
    doors.elf = atomic_load(&provider->doors_elf);
    doors.dlsym = atomic_load(&provider->doors_dlsym);
    doors.procaddress = atomic_load(&provider->doors_procaddress);
    doors.cuda_driver = atomic_load(&provider->version);
    return doors;
}

void vr_note_driver_version(void)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
    CUresult (*ask)(int *) = provider ? provider->need[VR_NEED_cuDriverGetVersion] : NULL;
    int version;

    if (ask && !atomic_load_explicit(&provider->version, memory_order_relaxed) &&
        ask(&version) == CUDA_SUCCESS)
        atomic_store_explicit(&provider->version, version, memory_order_relaxed);
}

/* ---- the dlsym door ---- */

static int entry_of_symbol(const char *symbol)
{
    for (int i = 0; i < VR_ENTRIES; i++) {
        if (vr_same_name(entries[i].symbol, symbol))
            return i;
    }
    return -1;
}

static void *hand_out(struct vr_provider *provider, int entry, atomic_ullong *door)
{
    atomic_store(&provider->handed[entry], true);
    atomic_fetch_add_explicit(door, 1, memory_order_relaxed);
    return entries[entry].hook;
}

/* From an object before ours, "next" is us. */
void vr_next_looked_up(const char *name, const void *caller)
{
    struct vr_state *state;

    if (entry_of_symbol(name) < 0 || !(state = vr_active()))
        return;
    if (place_of(caller).after)
        vr_trouble_seen(state, VR_TROUBLE_BYPASSED);
}

/* What linked programs reach by this name, past us; asked only while there is no provider. Before
 * the application's own look-up, whose dlerror state must be the last. */
static void *linked_symbol(int entry, dlsym_t next)
{
    return entry >= 0 && !atomic_load(&vr_shim.provider) ? next(RTLD_NEXT, entries[entry].symbol)
                                                         : NULL;
}

/* The answer to give for `found`, the real one. A driver that looks functions up, its own or those
 * of another driver that it stands before, gets what it asks for: a hook would lead back into it.
 * If the program is linked with a driver, no other becomes the provider, since a hook cannot tell
 * who calls it. */
static void *route_symbol(int entry, void *found, const void *linked, const void *caller)
{
    struct vr_provider *provider;

    if (entry < 0 || !found || !vr_active() || place_of(caller).driver)
        return found;
    provider =
        find_provider(entries[entry].symbol, linked && place_of(linked).driver ? linked : found);
    if (!provider || provider->real[entry] != found)
        return found;
    return hand_out(provider, entry, &provider->doors_dlsym);
}

void *vr_dlsym_driver(void *handle, const char *name, const void *caller)
{
    int entry = entry_of_symbol(name);
    dlsym_t next = next_dlsym();
    void *linked;

    if (!next)
        return NULL;
    linked = linked_symbol(entry, next);
    return route_symbol(entry, next(handle, name), linked, caller);
}

void *vr_dlvsym_driver(void *handle, const char *name, const char *version, const void *caller)
{
    int entry = entry_of_symbol(name);
    dlsym_t plain = next_dlsym();
    dlvsym_t next = __atomic_load_n(&vr_shim.dlvsym, __ATOMIC_ACQUIRE);
    void *linked;

    if (!next)
        next = (dlvsym_t)vr_find_dlvsym();
    if (!next)
        return NULL;
    linked = plain ? linked_symbol(entry, plain) : NULL;
    return route_symbol(entry, next(handle, name, version), linked, caller);
}

/* ---- the cuGetProcAddress door ---- */

static int entry_of_address(struct vr_provider *provider, const void *address)
{
    for (int i = 0; i < VR_ENTRIES; i++) {
        if (provider->real[i] == address)
            return i;
    }
    if (!atomic_load_explicit(&provider->procaddress_known, memory_order_acquire))
        return -1;
    for (int i = 0; i < VR_ENTRIES; i++) {
        for (int flag = 0; flag < 3; flag++) {
            if (atomic_load_explicit(&provider->procaddress[i][flag], memory_order_relaxed) ==
                address)
                return i;
        }
    }
    return -1;
}

static bool has_twin(int entry)
{
    for (int i = 0; i < VR_ENTRIES; i++) {
        if (entries[i].ptds && vr_same_name(entries[i].base, entries[entry].base))
            return true;
    }
    return false;
}

/* Asks the driver's own resolver for one ABI; NULL when it has none. */
static void *ask_procaddress(struct vr_provider *provider, int entry, cuuint64_t flag)
{
    CUresult (*v2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        provider->real[VR_cuGetProcAddress_v2];
    CUresult (*v1)(const char *, void **, int, cuuint64_t) = provider->real[VR_cuGetProcAddress];
    void *answer = NULL;
    CUresult result = CUDA_ERROR_NOT_FOUND;

    if (v2)
        result = v2(entries[entry].base, &answer, entries[entry].since, flag, NULL);
    else if (v1)
        result = v1(entries[entry].base, &answer, entries[entry].since, flag);
    return result == CUDA_SUCCESS ? answer : NULL;
}

/* A driver whose cuGetProcAddress answers other addresses than its symbol table: learns them, by
 * asking for each ABI at the version that introduced it. Threads that race here write the same
 * values. */
static void learn_procaddress(struct vr_provider *provider)
{
    for (int i = 0; i < VR_ENTRIES; i++) {
        cuuint64_t first = entries[i].ptds ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                           : CU_GET_PROC_ADDRESS_DEFAULT;
        cuuint64_t last = !entries[i].ptds && has_twin(i)
                              ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
                              : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

        for (cuuint64_t flag = first; provider->real[i] && flag <= last; flag++) {
            void *answer = ask_procaddress(provider, i, flag);

            if (answer && entry_of_address(provider, answer) < 0)
                atomic_store_explicit(&provider->procaddress[i][flag], answer,
                                      memory_order_relaxed);
        }
    }
    atomic_store_explicit(&provider->procaddress_known, true, memory_order_release);
}

static bool is_our_base(const char *base)
{
    for (int i = 0; i < VR_ENTRIES; i++) {
        if (vr_same_name(entries[i].base, base))
            return true;
    }
    return false;
}

/* Replaces an answer that is the address of a function we get in front of. */
static void route(struct vr_state *state, const char *base, void **answer)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
    int entry;

    if (!provider || !base || !answer || !*answer)
        return;
    entry = entry_of_address(provider, *answer);
    if (entry < 0 && is_our_base(base)) {
        learn_procaddress(provider);
        entry = entry_of_address(provider, *answer);
        if (entry < 0)
            vr_trouble_seen(state, VR_TROUBLE_BYPASSED);
    }
    if (entry >= 0)
        *answer = hand_out(provider, entry, &provider->doors_procaddress);
}

CUresult vr_hook_cuGetProcAddress(struct vr_state *state,
                                  CUresult (*real)(const char *, void **, int, cuuint64_t),
                                  const char *a, void **b, int c, cuuint64_t d)
{
    CUresult result = real(a, b, c, d);

    if (result == CUDA_SUCCESS)
        route(state, a, b);
    return result;
}

CUresult vr_hook_cuGetProcAddress_v2(struct vr_state *state,
                                     CUresult (*real)(const char *, void **, int, cuuint64_t,
                                                      CUdriverProcAddressQueryResult *),
                                     const char *a, void **b, int c, cuuint64_t d,
                                     CUdriverProcAddressQueryResult *e)
{
    CUresult result = real(a, b, c, d, e);

    if (result == CUDA_SUCCESS)
        route(state, a, b);
    return result;
}
