/* entries.h: every driver function that libvaremap gets in front of, one row each; the only list of
 * them. The exported symbols, the wrappers, the routing table and the export map expand from it.
 *
 *   VR_ENTRY(class, symbol, base, since, ptds, (parameters), (arguments))
 *
 *   class   what the wrapper does with the call:
 *           OWN     vr_hook_<symbol>() decides (hooks_graph.c, hooks_mem.c, hooks_query.c,
 *                   capture.c, resolve.c)
 *           RETRY   the real call; once more if it finds no memory and we kept some
 *           the others make the real call, then tell core what it may have changed:
 *           UPDATE  a whole exec, the first argument, from the graph that is the second
 *           NODE    nodes of the exec that is the first argument
 *           COPY    the same, by parameters that may name copied or filled memory
 *           GRAPH   the graph that is the first argument ends
 *           CODE    handles may mean something else: nodes, functions, kernels
 *           CONTEXT the same, and the context that is the first argument ends
 *           PRIMARY the same, for the primary context of the device that is the first argument
 *   symbol  the exported ELF name; base and since: what cuGetProcAddress is asked for to get this
 *           very ABI (cudaTypedefs.h); ptds 1: the per-thread-default-stream twin
 *   parameters are checked against cuda.h by the compiler: wrappers.c includes both.
 *
 *   VR_NEED(symbol, (parameters))
 *
 *   a driver function that we call ourselves and do not get in front of.
 *
 * Include with one or both macros defined; both are undefined at the end. */

#ifndef VR_ENTRY
#define VR_ENTRY(class, symbol, base, since, ptds, params, args)
#endif
#ifndef VR_NEED
#define VR_NEED(symbol, params)
#endif

/* clang-format off */

/* Bodies of their own (hooks_graph.c, resolve.c). */
VR_ENTRY(OWN, cuGetProcAddress, cuGetProcAddress, 11030, 0,
         (const char *a, void **b, int c, cuuint64_t d), (a, b, c, d))
VR_ENTRY(OWN, cuGetProcAddress_v2,
         cuGetProcAddress, 12000, 0,
         (const char *a, void **b, int c, cuuint64_t d, CUdriverProcAddressQueryResult *e),
         (a, b, c, d, e))
VR_ENTRY(OWN, cuGraphInstantiate, cuGraphInstantiate, 10000, 0,
         (CUgraphExec *a, CUgraph b, CUgraphNode *c, char *d, size_t e), (a, b, c, d, e))
VR_ENTRY(OWN, cuGraphInstantiate_v2, cuGraphInstantiate, 11000, 0,
         (CUgraphExec *a, CUgraph b, CUgraphNode *c, char *d, size_t e), (a, b, c, d, e))
VR_ENTRY(OWN, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, 0,
         (CUgraphExec *a, CUgraph b, unsigned long long c), (a, b, c))
VR_ENTRY(OWN, cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, 0,
         (CUgraphExec *a, CUgraph b, CUDA_GRAPH_INSTANTIATE_PARAMS *c), (a, b, c))
VR_ENTRY(OWN, cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams, 12000, 1,
         (CUgraphExec *a, CUgraph b, CUDA_GRAPH_INSTANTIATE_PARAMS *c), (a, b, c))
VR_ENTRY(OWN, cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 10010, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_KERNEL_NODE_PARAMS_v1 *c), (a, b, c))
VR_ENTRY(OWN, cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams, 12000, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_KERNEL_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(OWN, cuGraphLaunch, cuGraphLaunch, 10000, 0, (CUgraphExec a, CUstream b), (a, b))
VR_ENTRY(OWN, cuGraphLaunch_ptsz, cuGraphLaunch, 10000, 1, (CUgraphExec a, CUstream b), (a, b))
VR_ENTRY(OWN, cuGraphExecDestroy, cuGraphExecDestroy, 10000, 0, (CUgraphExec a), (a))


/* Memory (hooks_mem.c, hooks_query.c). */
VR_ENTRY(OWN, cuMemAlloc_v2, cuMemAlloc, 3020, 0, (CUdeviceptr *a, size_t b), (a, b))
VR_ENTRY(OWN, cuMemFree_v2, cuMemFree, 3020, 0, (CUdeviceptr a), (a))
VR_ENTRY(OWN, cuMemFreeAsync, cuMemFreeAsync, 11020, 0, (CUdeviceptr a, CUstream b), (a, b))
VR_ENTRY(OWN, cuMemFreeAsync_ptsz, cuMemFreeAsync, 11020, 1, (CUdeviceptr a, CUstream b), (a, b))
VR_ENTRY(OWN, cuMemGetInfo_v2, cuMemGetInfo, 3020, 0, (size_t *a, size_t *b), (a, b))
VR_ENTRY(OWN, cuMemGetAddressRange_v2, cuMemGetAddressRange, 3020, 0,
         (CUdeviceptr *a, size_t *b, CUdeviceptr c), (a, b, c))
VR_ENTRY(OWN, cuMemGetAccess, cuMemGetAccess, 10020, 0,
         (unsigned long long *a, const CUmemLocation *b, CUdeviceptr c), (a, b, c))
VR_ENTRY(OWN, cuPointerGetAttribute, cuPointerGetAttribute, 4000, 0,
         (void *a, CUpointer_attribute b, CUdeviceptr c), (a, b, c))
VR_ENTRY(OWN, cuPointerGetAttributes, cuPointerGetAttributes, 7000, 0,
         (unsigned int a, CUpointer_attribute *b, void **c, CUdeviceptr d), (a, b, c, d))
VR_ENTRY(OWN, cuPointerSetAttribute, cuPointerSetAttribute, 6000, 0,
         (const void *a, CUpointer_attribute b, CUdeviceptr c), (a, b, c))
VR_ENTRY(OWN, cuIpcGetMemHandle, cuIpcGetMemHandle, 4010, 0,
         (CUipcMemHandle *a, CUdeviceptr b), (a, b))
VR_ENTRY(OWN, cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000, 0,
         (CUmemGenericAllocationHandle *a, void *b), (a, b))
VR_ENTRY(OWN, cuMemGetHandleForAddressRange,
         cuMemGetHandleForAddressRange, 11070, 0,
         (void *a, CUdeviceptr b, size_t c, CUmemRangeHandleType d, unsigned long long e),
          (a, b, c, d, e))
VR_ENTRY(OWN, cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000, 0,
         (CUcontext a, unsigned int b), (a, b))

/* Stream capture (capture.c). */
VR_ENTRY(OWN, cuStreamBeginCapture, cuStreamBeginCapture, 10000, 0, (CUstream a), (a))
VR_ENTRY(OWN, cuStreamBeginCapture_ptsz, cuStreamBeginCapture, 10000, 1, (CUstream a), (a))
VR_ENTRY(OWN, cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010, 0,
         (CUstream a, CUstreamCaptureMode b), (a, b))
VR_ENTRY(OWN, cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture, 10010, 1,
         (CUstream a, CUstreamCaptureMode b), (a, b))
VR_ENTRY(OWN, cuStreamBeginCaptureToGraph,
         cuStreamBeginCaptureToGraph, 12030, 0,
         (CUstream a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
          CUstreamCaptureMode f), (a, b, c, d, e, f))
VR_ENTRY(OWN, cuStreamBeginCaptureToGraph_ptsz,
         cuStreamBeginCaptureToGraph, 12030, 1,
         (CUstream a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
          CUstreamCaptureMode f), (a, b, c, d, e, f))
VR_ENTRY(OWN, cuStreamEndCapture, cuStreamEndCapture, 10000, 0, (CUstream a, CUgraph *b), (a, b))
VR_ENTRY(OWN, cuStreamEndCapture_ptsz, cuStreamEndCapture, 10000, 1,
         (CUstream a, CUgraph *b), (a, b))
VR_ENTRY(OWN, cuStreamDestroy, cuStreamDestroy, 2000, 0, (CUstream a), (a))
VR_ENTRY(OWN, cuStreamDestroy_v2, cuStreamDestroy, 4000, 0, (CUstream a), (a))
VR_ENTRY(OWN, cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, 0,
         (CUstreamCaptureMode *a), (a))

/* Calls that may find no memory while we keep some: tried once more after giving it back. */
VR_ENTRY(RETRY, cuMemAllocPitch_v2, cuMemAllocPitch, 3020, 0,
         (CUdeviceptr *a, size_t *b, size_t c, size_t d, unsigned int e), (a, b, c, d, e))
VR_ENTRY(RETRY, cuMemAllocManaged, cuMemAllocManaged, 6000, 0,
         (CUdeviceptr *a, size_t b, unsigned int c), (a, b, c))
VR_ENTRY(RETRY, cuMemAllocAsync, cuMemAllocAsync, 11020, 0,
         (CUdeviceptr *a, size_t b, CUstream c), (a, b, c))
VR_ENTRY(RETRY, cuMemAllocAsync_ptsz, cuMemAllocAsync, 11020, 1,
         (CUdeviceptr *a, size_t b, CUstream c), (a, b, c))
VR_ENTRY(RETRY, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020, 0,
         (CUdeviceptr *a, size_t b, CUmemoryPool c, CUstream d), (a, b, c, d))
VR_ENTRY(RETRY, cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync, 11020, 1,
         (CUdeviceptr *a, size_t b, CUmemoryPool c, CUstream d), (a, b, c, d))
VR_ENTRY(RETRY, cuMemCreate,
         cuMemCreate, 10020, 0,
         (CUmemGenericAllocationHandle *a, size_t b, const CUmemAllocationProp *c,
          unsigned long long d), (a, b, c, d))
VR_ENTRY(RETRY, cuArrayCreate_v2, cuArrayCreate, 3020, 0,
         (CUarray *a, const CUDA_ARRAY_DESCRIPTOR *b), (a, b))
VR_ENTRY(RETRY, cuArray3DCreate_v2, cuArray3DCreate, 3020, 0,
         (CUarray *a, const CUDA_ARRAY3D_DESCRIPTOR *b), (a, b))
VR_ENTRY(RETRY, cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000, 0,
         (CUmipmappedArray *a, const CUDA_ARRAY3D_DESCRIPTOR *b, unsigned int c), (a, b, c))
VR_ENTRY(RETRY, cuModuleLoad, cuModuleLoad, 2000, 0, (CUmodule *a, const char *b), (a, b))
VR_ENTRY(RETRY, cuModuleLoadData, cuModuleLoadData, 2000, 0, (CUmodule *a, const void *b), (a, b))
VR_ENTRY(RETRY, cuModuleLoadDataEx, cuModuleLoadDataEx, 2010, 0,
         (CUmodule *a, const void *b, unsigned int c, CUjit_option *d, void **e), (a, b, c, d, e))
VR_ENTRY(RETRY, cuModuleLoadFatBinary, cuModuleLoadFatBinary, 2000, 0,
         (CUmodule *a, const void *b), (a, b))
VR_ENTRY(RETRY, cuLibraryLoadData,
         cuLibraryLoadData, 12000, 0,
         (CUlibrary *a, const void *b, CUjit_option *c, void **d, unsigned int e,
          CUlibraryOption *f, void **g, unsigned int h), (a, b, c, d, e, f, g, h))
VR_ENTRY(RETRY, cuLibraryLoadFromFile,
         cuLibraryLoadFromFile, 12000, 0,
         (CUlibrary *a, const char *b, CUjit_option *c, void **d, unsigned int e,
          CUlibraryOption *f, void **g, unsigned int h), (a, b, c, d, e, f, g, h))

/* ExecUpdate: the whole exec named first may differ afterwards. */
VR_ENTRY(UPDATE, cuGraphExecUpdate, cuGraphExecUpdate, 10020, 0,
         (CUgraphExec a, CUgraph b, CUgraphNode *c, CUgraphExecUpdateResult *d), (a, b, c, d))
VR_ENTRY(UPDATE, cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000, 0,
         (CUgraphExec a, CUgraph b, CUgraphExecUpdateResultInfo *c), (a, b, c))

/* Other updates: nodes of the exec named first may differ afterwards. */
VR_ENTRY(COPY, cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020, 0,
         (CUgraphExec a, CUgraphNode b, CUgraphNodeParams *c), (a, b, c))
VR_ENTRY(COPY, cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_MEMCPY3D *c, CUcontext d), (a, b, c, d))
VR_ENTRY(COPY, cuGraphExecMemsetNodeSetParams,
         cuGraphExecMemsetNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_MEMSET_NODE_PARAMS *c, CUcontext d),
         (a, b, c, d))
VR_ENTRY(NODE, cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_HOST_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, 11010, 0,
         (CUgraphExec a, CUgraphNode b, CUgraph c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, 11010, 0,
         (CUgraphExec a, CUgraphNode b, CUevent c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, 11010, 0,
         (CUgraphExec a, CUgraphNode b, CUevent c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecExternalSemaphoresSignalNodeSetParams,
         cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecExternalSemaphoresWaitNodeSetParams,
         cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams, 11070, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_BATCH_MEM_OP_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(NODE, cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060, 0,
         (CUgraphExec a, CUgraphNode b, unsigned int c), (a, b, c))

/* The graph named first ends, and its nodes with it. */
VR_ENTRY(GRAPH, cuGraphDestroy, cuGraphDestroy, 10000, 0, (CUgraph a), (a))

/* Handles end or change their meaning: nodes, functions, kernels, contexts. */
VR_ENTRY(CODE, cuGraphDestroyNode, cuGraphDestroyNode, 10000, 0, (CUgraphNode a), (a))
VR_ENTRY(CODE, cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_KERNEL_NODE_PARAMS_v1 *b), (a, b))
VR_ENTRY(CODE, cuGraphKernelNodeSetParams_v2, cuGraphKernelNodeSetParams, 12000, 0,
         (CUgraphNode a, const CUDA_KERNEL_NODE_PARAMS *b), (a, b))
VR_ENTRY(CODE, cuGraphNodeSetParams, cuGraphNodeSetParams, 12020, 0,
         (CUgraphNode a, CUgraphNodeParams *b), (a, b))
VR_ENTRY(CODE, cuGraphMemcpyNodeSetParams, cuGraphMemcpyNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_MEMCPY3D *b), (a, b))
VR_ENTRY(CODE, cuGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_MEMSET_NODE_PARAMS *b), (a, b))
VR_ENTRY(CODE, cuGraphHostNodeSetParams, cuGraphHostNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_HOST_NODE_PARAMS *b), (a, b))
VR_ENTRY(CODE, cuGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, 11010, 0,
         (CUgraphNode a, CUevent b), (a, b))
VR_ENTRY(CODE, cuGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, 11010, 0,
         (CUgraphNode a, CUevent b), (a, b))
VR_ENTRY(CODE, cuGraphExternalSemaphoresSignalNodeSetParams,
         cuGraphExternalSemaphoresSignalNodeSetParams, 11020, 0,
         (CUgraphNode a, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *b), (a, b))
VR_ENTRY(CODE, cuGraphExternalSemaphoresWaitNodeSetParams,
         cuGraphExternalSemaphoresWaitNodeSetParams, 11020, 0,
         (CUgraphNode a, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *b), (a, b))
VR_ENTRY(CODE, cuGraphBatchMemOpNodeSetParams, cuGraphBatchMemOpNodeSetParams, 11070, 0,
         (CUgraphNode a, const CUDA_BATCH_MEM_OP_NODE_PARAMS *b), (a, b))
VR_ENTRY(CODE, cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, 11000, 0,
         (CUgraphNode a, CUkernelNodeAttrID b, const CUkernelNodeAttrValue *c), (a, b, c))
VR_ENTRY(CODE, cuGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, 11000, 0,
         (CUgraphNode a, CUgraphNode b), (a, b))
VR_ENTRY(CODE, cuModuleUnload, cuModuleUnload, 2000, 0, (CUmodule a), (a))
VR_ENTRY(CODE, cuLibraryUnload, cuLibraryUnload, 12000, 0, (CUlibrary a), (a))
VR_ENTRY(CODE, cuFuncSetAttribute, cuFuncSetAttribute, 9000, 0,
         (CUfunction a, CUfunction_attribute b, int c), (a, b, c))
VR_ENTRY(CODE, cuFuncSetCacheConfig, cuFuncSetCacheConfig, 3000, 0,
         (CUfunction a, CUfunc_cache b), (a, b))
VR_ENTRY(CODE, cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, 4020, 0,
         (CUfunction a, CUsharedconfig b), (a, b))
VR_ENTRY(CODE, cuCtxSetLimit, cuCtxSetLimit, 3010, 0, (CUlimit a, size_t b), (a, b))
VR_ENTRY(CODE, cuCtxSetCacheConfig, cuCtxSetCacheConfig, 3020, 0, (CUfunc_cache a), (a))
VR_ENTRY(CODE, cuCtxSetSharedMemConfig, cuCtxSetSharedMemConfig, 4020, 0, (CUsharedconfig a), (a))
VR_ENTRY(CODE, cuKernelSetAttribute, cuKernelSetAttribute, 12000, 0,
         (CUfunction_attribute a, int b, CUkernel c, CUdevice d), (a, b, c, d))
VR_ENTRY(CODE, cuKernelSetCacheConfig, cuKernelSetCacheConfig, 12000, 0,
         (CUkernel a, CUfunc_cache b, CUdevice c), (a, b, c))
VR_ENTRY(CONTEXT, cuCtxDestroy, cuCtxDestroy, 2000, 0, (CUcontext a), (a))
VR_ENTRY(CONTEXT, cuCtxDestroy_v2, cuCtxDestroy, 4000, 0, (CUcontext a), (a))
VR_ENTRY(CODE, cuCtxDetach, cuCtxDetach, 2000, 0, (CUcontext a), (a))
VR_ENTRY(CODE, cuGreenCtxDestroy, cuGreenCtxDestroy, 12040, 0, (CUgreenCtx a), (a))
VR_ENTRY(PRIMARY, cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000, 0, (CUdevice a), (a))
VR_ENTRY(PRIMARY, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000, 0, (CUdevice a), (a))
VR_ENTRY(PRIMARY, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 7000, 0, (CUdevice a), (a))
VR_ENTRY(PRIMARY, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000, 0,
         (CUdevice a), (a))

/* Asked. */
VR_NEED(cuDriverGetVersion, (int *a))
VR_NEED(cuDeviceGetCount, (int *a))
VR_NEED(cuDeviceGetAttribute, (int *a, CUdevice_attribute b, CUdevice c))
VR_NEED(cuDeviceTotalMem_v2, (size_t *a, CUdevice b))
VR_NEED(cuDeviceCanAccessPeer, (int *a, CUdevice b, CUdevice c))
VR_NEED(cuDevicePrimaryCtxGetState, (CUdevice a, unsigned int *b, int *c))
VR_NEED(cuCtxGetCurrent, (CUcontext *a))
VR_NEED(cuCtxGetDevice, (CUdevice *a))
VR_NEED(cuStreamIsCapturing, (CUstream a, CUstreamCaptureStatus *b))
VR_NEED(cuFuncGetParamInfo, (CUfunction a, size_t b, size_t *c, size_t *d))
VR_NEED(cuKernelGetParamInfo, (CUkernel a, size_t b, size_t *c, size_t *d))
VR_NEED(cuGraphKernelNodeGetAttribute,
        (CUgraphNode a, CUkernelNodeAttrID b, CUkernelNodeAttrValue *c))
VR_NEED(cuGraphGetNodes, (CUgraph a, CUgraphNode *b, size_t *c))
VR_NEED(cuGraphNodeGetType, (CUgraphNode a, CUgraphNodeType *b))
VR_NEED(cuGraphMemcpyNodeGetParams, (CUgraphNode a, CUDA_MEMCPY3D *b))
VR_NEED(cuGraphMemsetNodeGetParams, (CUgraphNode a, CUDA_MEMSET_NODE_PARAMS_v1 *b))
VR_NEED(cuGraphChildGraphNodeGetGraph, (CUgraphNode a, CUgraph *b))
VR_NEED(cuMemGetAllocationGranularity,
        (size_t *a, const CUmemAllocationProp *b, CUmemAllocationGranularity_flags c))

/* Done, when memory of ours is made, mapped, waited for, or given back. */
VR_NEED(cuDevicePrimaryCtxRetain, (CUcontext *a, CUdevice b))
VR_NEED(cuCtxPushCurrent_v2, (CUcontext a))
VR_NEED(cuCtxPopCurrent_v2, (CUcontext *a))
VR_NEED(cuCtxSynchronize, (void))
VR_NEED(cuMemAddressReserve,
        (CUdeviceptr *a, size_t b, size_t c, CUdeviceptr d, unsigned long long e))
VR_NEED(cuMemAddressFree, (CUdeviceptr a, size_t b))
VR_NEED(cuMemRelease, (CUmemGenericAllocationHandle a))
VR_NEED(cuMemMap,
        (CUdeviceptr a, size_t b, size_t c, CUmemGenericAllocationHandle d, unsigned long long e))
VR_NEED(cuMemUnmap, (CUdeviceptr a, size_t b))
VR_NEED(cuMemSetAccess, (CUdeviceptr a, size_t b, const CUmemAccessDesc *c, size_t d))

#undef VR_ENTRY
#undef VR_NEED
