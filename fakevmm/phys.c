/* phys.c: blocks of physical memory. Large ones are host pages that appear when touched, so a
 * program may allocate far more than the host has; small ones come from the heap, where
 * sanitizers see what runs over their end; shared ones are pages of a file without a name, which
 * other processes can map. It must not know where a block is mapped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "phys.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 20)
#define PAGE  ((size_t)4096)

static struct fv_phys *dead; /* without references, kept while a worker may hold a span */

static unsigned char *map(size_t size, int flags, int file)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);

    return bytes == MAP_FAILED ? NULL : bytes;
}

static void end_bytes(const struct fv_phys *phys)
{
    if (phys->borrowed)
        return;
    if (phys->heap)
        free(phys->bytes);
    else
        munmap(phys->bytes, phys->size);
    if (phys->file >= 0)
        close(phys->file);
}

/* A block around bytes, which end if there is none. */
static struct fv_phys *wrap(struct fv_phys block)
{
    struct fv_phys *phys = block.bytes ? malloc(sizeof *phys) : NULL;

    block.refs = 1;
    if (phys)
        *phys = block;
    else if (block.bytes)
        end_bytes(&block);
    return phys;
}

struct fv_phys *fv_phys_new_pages(struct fv_device *device, size_t size)
{
    return wrap((struct fv_phys){.device = device,
                                 .bytes = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1),
                                 .size = size,
                                 .file = -1});
}

struct fv_phys *fv_phys_new(struct fv_device *device, size_t size)
{
    if (size >= LARGE)
        return fv_phys_new_pages(device, size);
    return wrap((struct fv_phys){
        .device = device, .bytes = calloc(1, size), .size = size, .heap = true, .file = -1});
}

struct fv_phys *fv_phys_adopt(struct fv_device *device, void *bytes, size_t size)
{
    return wrap(
        (struct fv_phys){.device = device, .bytes = bytes, .size = size, .heap = true, .file = -1});
}

struct fv_phys *fv_phys_borrow(struct fv_device *device, void *bytes, size_t size)
{
    return wrap((struct fv_phys){
        .device = device, .bytes = bytes, .size = size, .borrowed = true, .file = -1});
}

/* ---- bytes in files ---- */

/* -1: the host cannot. */
static int new_file(size_t size)
{
    int file = memfd_create("fakevmm", MFD_CLOEXEC);

    if (file >= 0 && ftruncate(file, (off_t)((size + PAGE - 1) / PAGE * PAGE))) {
        close(file);
        return -1;
    }
    return file;
}

struct fv_phys *fv_phys_open(struct fv_device *device, int file, size_t size)
{
    unsigned char *bytes = map(size, MAP_SHARED, file);
    struct fv_phys *phys;

    if (!bytes)
        return NULL;
    phys = malloc(sizeof *phys);
    if (phys)
        *phys = (struct fv_phys){
            .device = device, .bytes = bytes, .size = size, .refs = 1, .file = file};
    else
        munmap(bytes, size);
    return phys;
}

static struct fv_phys *new_shared(struct fv_device *device, size_t size, size_t trailer)
{
    int file = new_file(size + trailer);
    struct fv_phys *phys = file < 0 ? NULL : fv_phys_open(device, file, size);

    if (!phys && file >= 0)
        close(file);
    return phys;
}

/* Pages without anything in them are left out, so that they stay without memory. */
static void copy_pages(unsigned char *to, const unsigned char *from, size_t size)
{
    static const unsigned char nothing[PAGE];

    for (size_t at = 0; at < size; at += PAGE) {
        size_t part = size - at < PAGE ? size - at : PAGE;
        if (memcmp(from + at, nothing, part) != 0)
            memcpy(to + at, from + at, part);
    }
}

bool fv_phys_share(struct fv_phys *phys, size_t trailer)
{
    struct fv_phys *shared;

    if (phys->file >= 0)
        return true;
    if (phys->borrowed)
        return false;
    shared = new_shared(phys->device, phys->size, trailer);
    if (!shared)
        return false;
    copy_pages(shared->bytes, phys->bytes, phys->size);
    end_bytes(phys);
    phys->bytes = shared->bytes;
    phys->file = shared->file;
    phys->heap = false;
    free(shared);
    return true;
}

/* ---- life ---- */

void fv_phys_get(struct fv_phys *phys)
{
    phys->refs++;
}

void fv_phys_put(struct fv_phys *phys)
{
    if (--phys->refs)
        return;
    phys->next_dead = dead;
    dead = phys;
    if (!fv_workers_running())
        fv_phys_reap();
}

void fv_phys_reap(void)
{
    while (dead) {
        struct fv_phys *phys = dead;
        dead = phys->next_dead;
        end_bytes(phys);
        free(phys);
    }
}
