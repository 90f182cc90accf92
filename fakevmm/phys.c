/* phys.c: blocks of physical memory. Large ones are host pages that appear when touched, so a
 * program may allocate far more than the host has; small ones come from the heap, where
 * sanitizers see what runs over their end. It must not know where a block is mapped. */
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LARGE ((size_t)1 << 20)

static struct fv_phys *dead; /* without references, kept while a worker may hold a span */

static unsigned char *get_bytes(size_t size)
{
    void *bytes;

    if (size < LARGE)
        return calloc(1, size);
    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static void destroy(struct fv_phys *phys)
{
    if (!phys->borrowed && phys->size < LARGE)
        free(phys->bytes);
    else if (!phys->borrowed)
        munmap(phys->bytes, phys->size);
    free(phys);
}

struct fv_phys *fv_phys_new(struct fv_device *device, size_t size)
{
    struct fv_phys *phys = malloc(sizeof *phys);

    if (!phys)
        return NULL;
    *phys = (struct fv_phys){.device = device, .bytes = get_bytes(size), .size = size, .refs = 1};
    if (!phys->bytes) {
        free(phys);
        return NULL;
    }
    return phys;
}

struct fv_phys *fv_phys_borrow(struct fv_device *device, void *bytes, size_t size)
{
    struct fv_phys *phys = malloc(sizeof *phys);

    if (phys)
        *phys = (struct fv_phys){
            .device = device, .bytes = bytes, .size = size, .refs = 1, .borrowed = true};
    return phys;
}

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
        destroy(phys);
    }
}
