/* event_ipc.c: events shared by processes. Their records are numbered in a page that all who have
 * the event open share: how many were queued, and the highest number that was reached. The handle
 * says which process has the page open as what. It must not know what waits for events. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "event_ipc.h"
#include "device.h"
#include "event.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct page {
    _Atomic uint64_t queued, done;
};

struct fv_shared_event {
    unsigned refs;
    int file;
    struct page *page;
};

/* What the 64 bytes hold. */
struct content {
    char magic[8];
    int32_t pid, file;
    uint64_t inode; /* of the file: numbers of processes and files come back */
};

static const char magic[8] = "fvevent";

_Static_assert(sizeof(struct content) <= sizeof(CUipcEventHandle), "fits into a handle");

/* ---- the page ---- */

/* Takes over the file. */
static struct fv_shared_event *share(int file)
{
    struct fv_shared_event *shared = malloc(sizeof *shared);
    void *page = MAP_FAILED;

    if (shared && file >= 0)
        page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        if (file >= 0)
            close(file);
        free(shared);
        return NULL;
    }
    *shared = (struct fv_shared_event){.refs = 1, .file = file, .page = page};
    return shared;
}

struct fv_shared_event *fv_shared_new(void)
{
    int file = memfd_create("fakevmm-event", MFD_CLOEXEC);

    if (file >= 0 && ftruncate(file, sizeof(struct page))) {
        close(file);
        file = -1;
    }
    return share(file);
}

struct fv_shared_event *fv_shared_get(struct fv_shared_event *shared)
{
    if (shared)
        shared->refs++;
    return shared;
}

void fv_shared_put(struct fv_shared_event *shared)
{
    if (!shared || --shared->refs)
        return;
    munmap(shared->page, sizeof *shared->page);
    close(shared->file);
    free(shared);
}

uint64_t fv_shared_queue(struct fv_shared_event *shared)
{
    return atomic_fetch_add(&shared->page->queued, 1) + 1;
}

uint64_t fv_shared_latest(const struct fv_shared_event *shared)
{
    return atomic_load(&shared->page->queued);
}

void fv_shared_reach(struct fv_shared_event *shared, uint64_t number)
{
    uint64_t done = atomic_load(&shared->page->done);

    while (done < number && !atomic_compare_exchange_weak(&shared->page->done, &done, number))
        ;
}

bool fv_shared_reached(const struct fv_shared_event *shared, uint64_t number)
{
    return atomic_load(&shared->page->done) >= number;
}

/* ---- handles ---- */

CUresult fv_cuIpcGetEventHandle(CUipcEventHandle *out, CUevent handle)
{
    struct content content = {.pid = getpid()};
    struct fv_event *event;
    CUresult result = fv_event_of(handle, &event);
    const struct fv_shared_event *shared;
    struct stat about;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    shared = fv_event_shared(event);
    if (!shared) /* not made for it */
        return CUDA_ERROR_INVALID_HANDLE;
    if (fstat(shared->file, &about))
        return CUDA_ERROR_MAP_FAILED;
    memcpy(content.magic, magic, sizeof magic);
    content.file = shared->file;
    content.inode = about.st_ino;
    memset(out, 0, sizeof *out);
    memcpy(out, &content, sizeof content);
    return CUDA_SUCCESS;
}

/* The exporter's file, or -1 when it is no longer there. */
static int open_file(const struct content *content)
{
    struct stat about;
    char path[64];
    int file;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)content->pid, (int)content->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &about) || about.st_ino != content->inode ||
                      about.st_size != sizeof(struct page))) {
        close(file);
        return -1;
    }
    return file;
}

CUresult fv_cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_shared_event *shared;
    struct content content;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&content, &handle, sizeof content);
    if (memcmp(content.magic, magic, sizeof magic) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    shared = share(open_file(&content));
    if (!shared)
        return CUDA_ERROR_MAP_FAILED;
    result = fv_event_make(context, CU_EVENT_DISABLE_TIMING, shared, out);
    if (result != CUDA_SUCCESS)
        fv_shared_put(shared);
    return result;
}
