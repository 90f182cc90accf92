/* stream_attributes.c: what a stream can be told about cache, waiting, priority and memory domains.
 * Only the priority changes anything here. It must not know how streams run. */
#include "device.h"
#include "stream.h"

static int limit(const struct fv_stream *stream, CUdevice_attribute attribute)
{
    return fv_device_attribute(stream->context->device, attribute);
}

static bool is_property(CUaccessProperty property)
{
    return property >= CU_ACCESS_PROPERTY_NORMAL && property <= CU_ACCESS_PROPERTY_PERSISTING;
}

static CUresult set_window(struct fv_stream *stream, const CUaccessPolicyWindow *window)
{
    size_t most = (size_t)limit(stream, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);

    if (window->num_bytes > most || !(window->hitRatio >= 0 && window->hitRatio <= 1) ||
        !is_property(window->hitProp) || !is_property(window->missProp) ||
        window->missProp == CU_ACCESS_PROPERTY_PERSISTING)
        return CUDA_ERROR_INVALID_VALUE;
    stream->window = *window;
    return CUDA_SUCCESS;
}

static CUresult set_sync_policy(struct fv_stream *stream, CUsynchronizationPolicy policy)
{
    if (policy < CU_SYNC_POLICY_AUTO || policy > CU_SYNC_POLICY_BLOCKING_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    stream->sync_policy = policy;
    return CUDA_SUCCESS;
}

static CUresult set_domain_map(struct fv_stream *stream, const CUlaunchMemSyncDomainMap *map)
{
    int count = limit(stream, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);

    if (map->default_ >= count || map->remote >= count)
        return CUDA_ERROR_INVALID_VALUE;
    stream->domain_map = *map;
    return CUDA_SUCCESS;
}

static CUresult set_domain(struct fv_stream *stream, CUlaunchMemSyncDomain domain)
{
    if (domain != CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT && domain != CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
        return CUDA_ERROR_INVALID_VALUE;
    stream->domain = domain;
    return CUDA_SUCCESS;
}

CUresult fv_cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                                 const CUstreamAttrValue *value)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_window(stream, &value->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return set_sync_policy(stream, value->syncPolicy);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = fv_stream_clamp_priority(value->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return set_domain_map(stream, &value->memSyncDomainMap);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return set_domain(stream, value->memSyncDomain);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult fv_cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *out)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: out->accessPolicyWindow = stream->window; break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: out->syncPolicy = stream->sync_policy; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: out->priority = stream->priority; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: out->memSyncDomainMap = stream->domain_map; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: out->memSyncDomain = stream->domain; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuStreamCopyAttributes(CUstream to_handle, CUstream from_handle)
{
    struct fv_stream *to, *from;
    CUresult result = fv_stream_of(to_handle, &to);

    if (result == CUDA_SUCCESS)
        result = fv_stream_of(from_handle, &from);
    if (result != CUDA_SUCCESS)
        return result;
    if (to->context != from->context)
        return CUDA_ERROR_INVALID_VALUE;
    to->window = from->window;
    to->sync_policy = from->sync_policy;
    to->priority = from->priority;
    to->domain_map = from->domain_map;
    to->domain = from->domain;
    return CUDA_SUCCESS;
}
