/* Attributes of streams, by the documentation of cuStreamSetAttribute, cuStreamGetAttribute and
 * cuStreamCopyAttributes, and of the attributes themselves. */
#include "tests/fake/driver_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

static CUstreamAttrValue get(CUstream stream, CUstreamAttrID attribute)
{
    CUstreamAttrValue value;

    memset(&value, 0xff, sizeof value);
    OK(cuStreamGetAttribute(stream, attribute, &value));
    return value;
}

TEST(stream_attributes, defaults)
{
    start();
    CUstream stream = new_stream(0);

    T_EQ(get(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow.num_bytes, 0);
    T_EQ(get(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy, CU_SYNC_POLICY_AUTO);
    T_EQ(get(stream, CU_STREAM_ATTRIBUTE_PRIORITY).priority, 0);
    T_EQ(get(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain,
         CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
    T_EQ(get(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap.remote, 1);
}

TEST(stream_attributes, set_get_and_copy)
{
    CUstreamAttrValue value = {0};

    start();
    CUstream stream = new_stream(0), other = new_stream(0);

    value.accessPolicyWindow = (CUaccessPolicyWindow){.base_ptr = &value,
                                                      .num_bytes = 4096,
                                                      .hitRatio = 0.5F,
                                                      .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
                                                      .missProp = CU_ACCESS_PROPERTY_STREAMING};
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    T_EQ(get(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow.num_bytes, 4096);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    value.priority = -2;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    value.memSyncDomainMap = (CUlaunchMemSyncDomainMap){2, 3};
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));

    OK(cuStreamCopyAttributes(other, stream));
    T_EQ(get(other, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow.num_bytes, 4096);
    T_EQ(get(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy, CU_SYNC_POLICY_YIELD);
    T_EQ(get(other, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain,
         CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    T_EQ(get(other, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap.default_, 2);
    int priority = 1;
    OK(cuStreamGetPriority(stream, &priority));
    T_EQ(priority, -2);
}

TEST(stream_attributes, refusals)
{
    CUstreamAttrValue value = {0};
    int domains;

    CUcontext first = start();
    CUstream stream = new_stream(0);
    OK(cuDeviceGetAttribute(&domains, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 0));

    REFUSED(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value)); /* a launch's */
    REFUSED(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    REFUSED(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, NULL));
    REFUSED(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, NULL));
    value.syncPolicy = (CUsynchronizationPolicy)9;
    REFUSED(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    value.accessPolicyWindow = (CUaccessPolicyWindow){.hitRatio = 2};
    REFUSED(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    value.accessPolicyWindow = (CUaccessPolicyWindow){.missProp = CU_ACCESS_PROPERTY_PERSISTING};
    REFUSED(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    value.memSyncDomainMap = (CUlaunchMemSyncDomainMap){0, (unsigned char)domains};
    REFUSED(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    T_EQ(cuStreamGetAttribute((CUstream)&value, CU_STREAM_ATTRIBUTE_PRIORITY, &value),
         CUDA_ERROR_INVALID_HANDLE);

    start();
    CUstream foreign = new_stream(0);
    REFUSED(cuStreamCopyAttributes(foreign, stream)); /* must have the same context */
    OK(cuCtxDestroy_v2(first));
}

TEST(stream_attributes, no_stream_belongs_to_a_green_context)
{
    CUgreenCtx green = (CUgreenCtx)&green;

    start();
    CUstream stream = new_stream(0);
    OK(cuStreamGetGreenCtx(stream, &green));
    T_NULL(green);
    REFUSED(cuStreamGetGreenCtx(stream, NULL));
}
