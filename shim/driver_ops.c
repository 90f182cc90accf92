/* driver_ops.c: core's questions, put to the driver. Every one is a read-only query on a handle that the
 * application is using in the very call we are in. An answer we do not know is a refusal. */
#include "shim/shim.h"

static void *need(enum vr_need which)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);

    return provider ? provider->need[which] : NULL;
}

static enum vr_status param_info(struct vr_code code, size_t index, size_t *offset, size_t *size)
{
    CUresult (*of_function)(CUfunction, size_t, size_t *, size_t *) =
        need(VR_NEED_cuFuncGetParamInfo);
    CUresult (*of_kernel)(CUkernel, size_t, size_t *, size_t *) = need(VR_NEED_cuKernelGetParamInfo);
    CUresult result = CUDA_ERROR_NOT_FOUND;

    if (code.kind == VR_CODE_FUNCTION && of_function)
        result = of_function((CUfunction)code.handle, index, offset, size);
    else if (code.kind == VR_CODE_KERNEL && of_kernel)
        result = of_kernel((CUkernel)code.handle, index, offset, size);
    if (result == CUDA_SUCCESS)
        return VR_OK;
    /* cuda.h: CUDA_ERROR_INVALID_VALUE when the index is past the last parameter. */
    return result == CUDA_ERROR_INVALID_VALUE ? VR_NONE : VR_REFUSED;
}

static enum vr_status node_updatable(vr_handle node, bool *updatable)
{
    CUresult (*get)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *) =
        need(VR_NEED_cuGraphKernelNodeGetAttribute);
    CUkernelNodeAttrValue value = {0};

    if (!get || get((CUgraphNode)node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) !=
                    CUDA_SUCCESS)
        return VR_REFUSED;
    *updatable = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
    return VR_OK;
}

static enum vr_status current_context(vr_handle *context)
{
    CUresult (*get)(CUcontext *) = need(VR_NEED_cuCtxGetCurrent);
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
};
