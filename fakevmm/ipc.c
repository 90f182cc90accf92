/* ipc.c: the legacy way to share an allocation with another process. The bytes of an exported one
 * move into a file without a name; the handle says which process has it open as what, and others
 * find it there while that process lives and has not freed it. It must not know how memory is
 * allocated. */
#include "hazard.h"
#include "mem.h"
#include "settings.h"
#include "stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the 64 bytes hold. */
struct content {
    char magic[8];
    int32_t pid, file, device, reserved;
    uint64_t inode; /* of the file: numbers of processes and files come back */
    uint64_t id;    /* of the allocation */
    uint64_t size, block;
};

static const char magic[8] = "fakevmm";

_Static_assert(sizeof(struct content) <= sizeof(CUipcMemHandle), "fits into a handle");

/* ---- exporting ---- */

/* Any address in an allocation stands for the whole of it. */
static const struct fv_mapping *exportable(CUdeviceptr address)
{
    const struct fv_mapping *mapping = fv_va_find(address);

    return mapping && mapping->kind == FV_MEM_ALLOC && !mapping->freed ? mapping : NULL;
}

CUresult fv_cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address)
{
    const struct fv_mapping *mapping = exportable(address);
    struct content content = {.pid = getpid()};
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct stat about;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !mapping)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_va_share(mapping->phys, 0))
        return CUDA_ERROR_OUT_OF_MEMORY;
    mapping = exportable(address); /* the lock was dropped */
    if (!mapping || fstat(mapping->phys->file, &about))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(content.magic, magic, sizeof magic);
    content.file = mapping->phys->file;
    content.device = mapping->phys->device->ordinal;
    content.inode = about.st_ino;
    content.id = mapping->id;
    content.size = mapping->requested;
    content.block = mapping->phys->size;
    memset(out, 0, sizeof *out);
    memcpy(out, &content, sizeof content);
    return CUDA_SUCCESS;
}

/* ---- importing ---- */

struct import {
    struct content content;
    struct fv_context *context;
    CUdeviceptr base;
    unsigned opens;
    struct import *next;
};

static struct import *imports;

static struct import *find(const struct content *content, const struct fv_context *context)
{
    struct import *it = imports;

    while (it && (it->context != context || memcmp(&it->content, content, sizeof *content) != 0))
        it = it->next;
    return it;
}

/* Handles of one device of one process may be opened by one context of each device here. */
static bool is_taken(const struct content *content, const struct fv_context *context)
{
    for (const struct import *it = imports; it; it = it->next)
        if (it->context != context && it->context->device == context->device &&
            it->content.pid == content->pid && it->content.device == content->device)
            return true;
    return false;
}

/* The exporter's file, or -1 if it is no longer there. */
static int open_file(const struct content *content)
{
    char path[64];
    struct stat about;
    int file;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)content->pid, (int)content->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &about) || about.st_ino != content->inode ||
                      (uint64_t)about.st_size < content->block)) {
        close(file);
        return -1;
    }
    return file;
}

/* Memory of another device is reached as if peer access had been enabled. */
static CUresult map(struct import *import, struct fv_phys *phys)
{
    uint32_t access = 1u << phys->device->ordinal | 1u << import->context->device->ordinal;
    size_t size = import->content.size;
    CUresult result = fv_va_take(fv_mem_space(size), fv_mem_align(size), &import->base);

    if (result != CUDA_SUCCESS)
        return CUDA_ERROR_MAP_FAILED;
    result = fv_va_map(&(struct fv_mapping){.base = import->base,
                                            .size = phys->size,
                                            .requested = size,
                                            .phys = phys,
                                            .readable = access,
                                            .writable = access,
                                            .kind = FV_MEM_IMPORTED,
                                            .context = import->context,
                                            .id = fv_mem_next_id()});
    if (result != CUDA_SUCCESS)
        fv_va_give(import->base, fv_mem_space(size));
    return result;
}

static CUresult map_file(struct import *import, int file)
{
    struct fv_device *device = fv_device(import->content.device);
    struct fv_phys *phys = fv_phys_open(device, file, import->content.block);
    CUresult result;

    if (!phys) {
        close(file);
        return CUDA_ERROR_MAP_FAILED;
    }
    result = map(import, phys);
    fv_phys_put(phys); /* the mapping holds it now */
    return result;
}

static CUresult open_new(const struct content *content, struct fv_context *context,
                         CUdeviceptr *out)
{
    struct import *import = malloc(sizeof *import);
    int file = import ? open_file(content) : -1;
    CUresult result;

    if (file < 0) {
        result = import ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_OUT_OF_MEMORY;
        free(import);
        return result;
    }
    *import = (struct import){.content = *content, .context = context, .opens = 1};
    result = map_file(import, file);
    if (result != CUDA_SUCCESS) {
        free(import);
        return result;
    }
    import->next = imports;
    imports = import;
    *out = import->base;
    return CUDA_SUCCESS;
}

static bool is_handle(const struct content *content)
{
    return memcmp(content->magic, magic, sizeof magic) == 0 && fv_device(content->device) &&
           content->size && content->size <= content->block &&
           content->block - content->size < FV_MEM_STEP;
}

CUresult fv_cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct content content;
    struct import *import;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&content, &handle, sizeof content);
    if (!is_handle(&content))
        return CUDA_ERROR_INVALID_HANDLE;
    if (content.pid == getpid() || is_taken(&content, context))
        return CUDA_ERROR_INVALID_CONTEXT;
    import = find(&content, context);
    if (!import)
        return open_new(&content, context, out);
    import->opens++;
    *out = import->base;
    return CUDA_SUCCESS;
}

CUresult fv_cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    return fv_cuIpcOpenMemHandle_v2(out, handle, flags);
}

/* ---- closing ---- */

static struct import **find_at(CUdeviceptr base)
{
    struct import **at = &imports;

    while (*at && (*at)->base != base)
        at = &(*at)->next;
    return at;
}

static void end(CUdeviceptr base)
{
    struct import **at = find_at(base), *import = *at;

    *at = import->next;
    fv_va_unmap(base);
    fv_va_give(base, fv_mem_space(import->content.size));
    free(import);
}

/* The last one ends the mapping, as cuMemFree ends an allocation. */
CUresult fv_cuIpcCloseMemHandle(CUdeviceptr address)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct import *import = *find_at(address);

    if (result != CUDA_SUCCESS)
        return result;
    if (!address || !import)
        return CUDA_ERROR_INVALID_VALUE;
    if (--import->opens)
        return CUDA_SUCCESS;
    import->opens = 1; /* until nothing uses it */
    if (!fv_settings()->free_async)
        result = fv_context_wait(import->context);
    import = *find_at(address); /* the lock was dropped */
    if (result != CUDA_SUCCESS || !import || --import->opens)
        return result;
    fv_hazard_if_used("cuIpcCloseMemHandle", address, import->content.size);
    end(address);
    return CUDA_SUCCESS;
}

static void end_mapping(struct fv_mapping *mapping)
{
    end(mapping->base);
}

void fv_ipc_drop_context(const struct fv_context *context)
{
    fv_mem_drop_kind(context, FV_MEM_IMPORTED, end_mapping);
}
