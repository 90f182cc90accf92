/* ipc.c: the legacy way to share an allocation with another process. A handle can be had for
 * cuMemAlloc memory; opening one of another process is not implemented, opening one's own is
 * refused as the driver refuses it. It must not know how memory is allocated. */
#include "device.h"
#include "va.h"

#include <string.h>
#include <unistd.h>

/* What the 64 bytes hold. */
struct content {
    char magic[8];
    uint64_t pid, id, base, size;
};

static const char magic[8] = "fakevmm";

_Static_assert(sizeof(struct content) <= sizeof(CUipcMemHandle), "fits into a handle");

/* Any address in an allocation stands for the whole of it. */
CUresult fv_cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address)
{
    const struct fv_mapping *mapping = fv_va_find(address);
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct content content;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !mapping || mapping->kind != FV_MEM_ALLOC)
        return CUDA_ERROR_INVALID_VALUE;
    content = (struct content){.pid = (uint64_t)getpid(),
                               .id = mapping->id,
                               .base = mapping->base,
                               .size = mapping->requested};
    memcpy(content.magic, magic, sizeof magic);
    memset(out, 0, sizeof *out);
    memcpy(out, &content, sizeof content);
    return CUDA_SUCCESS;
}

CUresult fv_cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct content content;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&content, &handle, sizeof content);
    if (memcmp(content.magic, magic, sizeof magic) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    return content.pid == (uint64_t)getpid() ? CUDA_ERROR_INVALID_CONTEXT
                                             : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fv_cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    return fv_cuIpcOpenMemHandle_v2(out, handle, flags);
}

/* No address comes from an opened handle. */
CUresult fv_cuIpcCloseMemHandle(CUdeviceptr address)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}
