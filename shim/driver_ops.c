/* driver_ops.c: core's table, filled with the driver. Its questions are here, its memory calls in
 * driver_mem.c. Every question is a read-only query on a handle that the
 * application is using in the very call we are in. An answer we do not know is a refusal. */
#include "shim/driver_mem.h"
#include "shim/hooks.h"

static CUresult ask_param(struct vr_code code, size_t index, size_t *offset, size_t *size)
{
    CUresult (*of_function)(CUfunction, size_t, size_t *, size_t *) =
        vr_need(VR_NEED_cuFuncGetParamInfo);
    CUresult (*of_kernel)(CUkernel, size_t, size_t *, size_t *) =
        vr_need(VR_NEED_cuKernelGetParamInfo);
    CUresult result = CUDA_ERROR_NOT_FOUND;

    if (code.kind == VR_CODE_FUNCTION && of_function)
        result = of_function((CUfunction)code.handle, index, offset, size);
    else if (code.kind == VR_CODE_KERNEL && of_kernel)
        result = of_kernel((CUkernel)code.handle, index, offset, size);
    return result;
}

/* cuda.h: CUDA_ERROR_INVALID_VALUE when the index is past the last parameter. Then no further one
 * exists either, and the one before is still told; else the first answer meant something else. */
static enum vr_status param_info(struct vr_code code, size_t index, size_t *offset, size_t *size)
{
    CUresult result = ask_param(code, index, offset, size);
    size_t ignored;

    if (result == CUDA_SUCCESS)
        return VR_OK;
    if (result != CUDA_ERROR_INVALID_VALUE ||
        ask_param(code, index, &ignored, &ignored) != CUDA_ERROR_INVALID_VALUE ||
        ask_param(code, index + 1, &ignored, &ignored) != CUDA_ERROR_INVALID_VALUE ||
        (index && ask_param(code, index - 1, &ignored, &ignored) != CUDA_SUCCESS))
        return VR_REFUSED;
    return VR_NONE;
}

static enum vr_status node_updatable(vr_handle node, bool *updatable)
{
    CUresult (*get)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *) =
        vr_need(VR_NEED_cuGraphKernelNodeGetAttribute);
    CUkernelNodeAttrValue value = {0};

    if (!get || get((CUgraphNode)node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) !=
                    CUDA_SUCCESS)
        return VR_REFUSED;
    *updatable = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
    return VR_OK;
}

static enum vr_status current_context(vr_handle *context)
{
    CUresult (*get)(CUcontext *) = vr_need(VR_NEED_cuCtxGetCurrent);
    CUcontext current = NULL;

    if (!get || get(&current) != CUDA_SUCCESS)
        return VR_REFUSED;
    *context = (vr_handle)current;
    return VR_OK;
}

const struct vr_driver_ops vr_driver_ops = {
    .param_info = param_info,
    .node_updatable = node_updatable,
    .current_context = current_context,
    .device_memory = vr_mem_device,
    .free_memory = vr_mem_free_bytes,
    .reserve = vr_mem_reserve,
    .unreserve = vr_mem_unreserve,
    .create = vr_mem_create,
    .release = vr_mem_release,
    .map = vr_mem_map,
    .unmap = vr_mem_unmap,
    .set_access = vr_mem_set_access,
    .may_place = vr_mem_may_place,
    .drain = vr_mem_drain,
};
