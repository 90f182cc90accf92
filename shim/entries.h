/* entries.h: every driver function that libvaremap gets in front of, one row each; the only list of
 * them. The exported symbols, the wrappers, the routing table and the export map expand from it.
 *
 *   VR_ENTRY(body, class, symbol, base, since, ptds, (parameters), (arguments))
 *
 *   body    what the wrapper does with the call:
 *           HOOK    vr_hook_<symbol>() decides (hooks_graph.c, hooks_setters.c, hooks_mem.c,
 *                   hooks_query.c, capture.c, resolve.c)
 *           RETRY   the real call; once more if it finds no memory and we kept some
 *           SEE     the real call, whose error is taken note of
 *           AROUND  the real call, between what its class says is to be done before and after
 *   class   what the call means for core's books: a row of effects.h
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
#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args)
#endif
#ifndef VR_NEED
#define VR_NEED(symbol, params)
#endif

/* clang-format off */

/* Bodies of their own (hooks_graph.c, resolve.c). */
VR_ENTRY(HOOK, RESOLVE, cuGetProcAddress, cuGetProcAddress, 11030, 0,
         (const char *a, void **b, int c, cuuint64_t d), (a, b, c, d))
VR_ENTRY(HOOK, RESOLVE, cuGetProcAddress_v2,
         cuGetProcAddress, 12000, 0,
         (const char *a, void **b, int c, cuuint64_t d, CUdriverProcAddressQueryResult *e),
         (a, b, c, d, e))
VR_ENTRY(HOOK, BIRTH, cuGraphInstantiate, cuGraphInstantiate, 10000, 0,
         (CUgraphExec *a, CUgraph b, CUgraphNode *c, char *d, size_t e), (a, b, c, d, e))
VR_ENTRY(HOOK, BIRTH, cuGraphInstantiate_v2, cuGraphInstantiate, 11000, 0,
         (CUgraphExec *a, CUgraph b, CUgraphNode *c, char *d, size_t e), (a, b, c, d, e))
VR_ENTRY(HOOK, BIRTH, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, 0,
         (CUgraphExec *a, CUgraph b, unsigned long long c), (a, b, c))
VR_ENTRY(HOOK, BIRTH, cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, 0,
         (CUgraphExec *a, CUgraph b, CUDA_GRAPH_INSTANTIATE_PARAMS *c), (a, b, c))
VR_ENTRY(HOOK, BIRTH, cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams, 12000, 1,
         (CUgraphExec *a, CUgraph b, CUDA_GRAPH_INSTANTIATE_PARAMS *c), (a, b, c))
VR_ENTRY(HOOK, SETTER, cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 10010, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_KERNEL_NODE_PARAMS_v1 *c), (a, b, c))
VR_ENTRY(HOOK, SETTER, cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams, 12000, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_KERNEL_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(HOOK, ADD, cuGraphAddNode, cuGraphAddNode, 12020, 0,
         (CUgraphNode *a, CUgraph b, const CUgraphNode *c, size_t d, CUgraphNodeParams *e), (a, b, c, d, e))
VR_ENTRY(HOOK, ADD, cuGraphAddNode_v2,
         cuGraphAddNode, 12030, 0,
         (CUgraphNode *a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
          CUgraphNodeParams *f), (a, b, c, d, e, f))
VR_ENTRY(HOOK, LAUNCH, cuGraphLaunch, cuGraphLaunch, 10000, 0, (CUgraphExec a, CUstream b), (a, b))
VR_ENTRY(HOOK, LAUNCH, cuGraphLaunch_ptsz, cuGraphLaunch, 10000, 1, (CUgraphExec a, CUstream b), (a, b))
VR_ENTRY(HOOK, DEATH, cuGraphExecDestroy, cuGraphExecDestroy, 10000, 0, (CUgraphExec a), (a))


/* Memory (hooks_mem.c, hooks_query.c). */
VR_ENTRY(HOOK, ALLOC, cuMemAlloc_v2, cuMemAlloc, 3020, 0, (CUdeviceptr *a, size_t b), (a, b))
VR_ENTRY(HOOK, FREE, cuMemFree_v2, cuMemFree, 3020, 0, (CUdeviceptr a), (a))
VR_ENTRY(HOOK, FREE, cuMemFreeAsync, cuMemFreeAsync, 11020, 0, (CUdeviceptr a, CUstream b), (a, b))
VR_ENTRY(HOOK, FREE, cuMemFreeAsync_ptsz, cuMemFreeAsync, 11020, 1, (CUdeviceptr a, CUstream b), (a, b))
VR_ENTRY(HOOK, QUERY, cuMemGetInfo_v2, cuMemGetInfo, 3020, 0, (size_t *a, size_t *b), (a, b))
VR_ENTRY(HOOK, QUERY, cuMemGetAddressRange_v2, cuMemGetAddressRange, 3020, 0,
         (CUdeviceptr *a, size_t *b, CUdeviceptr c), (a, b, c))
VR_ENTRY(HOOK, QUERY, cuMemGetAccess, cuMemGetAccess, 10020, 0,
         (unsigned long long *a, const CUmemLocation *b, CUdeviceptr c), (a, b, c))
VR_ENTRY(HOOK, QUERY, cuPointerGetAttribute, cuPointerGetAttribute, 4000, 0,
         (void *a, CUpointer_attribute b, CUdeviceptr c), (a, b, c))
VR_ENTRY(HOOK, QUERY, cuPointerGetAttributes, cuPointerGetAttributes, 7000, 0,
         (unsigned int a, CUpointer_attribute *b, void **c, CUdeviceptr d), (a, b, c, d))
VR_ENTRY(HOOK, PIN, cuPointerSetAttribute, cuPointerSetAttribute, 6000, 0,
         (const void *a, CUpointer_attribute b, CUdeviceptr c), (a, b, c))
VR_ENTRY(HOOK, PIN, cuIpcGetMemHandle, cuIpcGetMemHandle, 4010, 0,
         (CUipcMemHandle *a, CUdeviceptr b), (a, b))
VR_ENTRY(HOOK, PIN, cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000, 0,
         (CUmemGenericAllocationHandle *a, void *b), (a, b))
VR_ENTRY(HOOK, PIN, cuMemGetHandleForAddressRange,
         cuMemGetHandleForAddressRange, 11070, 0,
         (void *a, CUdeviceptr b, size_t c, CUmemRangeHandleType d, unsigned long long e),
          (a, b, c, d, e))
VR_ENTRY(HOOK, PEER, cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000, 0,
         (CUcontext a, unsigned int b), (a, b))

/* Stream capture (capture.c). */
VR_ENTRY(HOOK, CAPTURE, cuStreamBeginCapture, cuStreamBeginCapture, 10000, 0, (CUstream a), (a))
VR_ENTRY(HOOK, CAPTURE, cuStreamBeginCapture_ptsz, cuStreamBeginCapture, 10000, 1, (CUstream a), (a))
VR_ENTRY(HOOK, CAPTURE, cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010, 0,
         (CUstream a, CUstreamCaptureMode b), (a, b))
VR_ENTRY(HOOK, CAPTURE, cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture, 10010, 1,
         (CUstream a, CUstreamCaptureMode b), (a, b))
VR_ENTRY(HOOK, CAPTURE, cuStreamBeginCaptureToGraph,
         cuStreamBeginCaptureToGraph, 12030, 0,
         (CUstream a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
          CUstreamCaptureMode f), (a, b, c, d, e, f))
VR_ENTRY(HOOK, CAPTURE, cuStreamBeginCaptureToGraph_ptsz,
         cuStreamBeginCaptureToGraph, 12030, 1,
         (CUstream a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
          CUstreamCaptureMode f), (a, b, c, d, e, f))
VR_ENTRY(HOOK, CAPTURE, cuStreamEndCapture, cuStreamEndCapture, 10000, 0, (CUstream a, CUgraph *b), (a, b))
VR_ENTRY(HOOK, CAPTURE, cuStreamEndCapture_ptsz, cuStreamEndCapture, 10000, 1,
         (CUstream a, CUgraph *b), (a, b))
VR_ENTRY(HOOK, CAPTURE, cuStreamDestroy, cuStreamDestroy, 2000, 0, (CUstream a), (a))
VR_ENTRY(HOOK, CAPTURE, cuStreamDestroy_v2, cuStreamDestroy, 4000, 0, (CUstream a), (a))
VR_ENTRY(HOOK, CAPTURE, cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, 0,
         (CUstreamCaptureMode *a), (a))

/* Calls that may find no memory while we keep some: tried once more after giving it back. */
VR_ENTRY(RETRY, RETRY, cuMemAllocPitch_v2, cuMemAllocPitch, 3020, 0,
         (CUdeviceptr *a, size_t *b, size_t c, size_t d, unsigned int e), (a, b, c, d, e))
VR_ENTRY(RETRY, RETRY, cuMemAllocManaged, cuMemAllocManaged, 6000, 0,
         (CUdeviceptr *a, size_t b, unsigned int c), (a, b, c))
VR_ENTRY(RETRY, RETRY, cuMemAllocAsync, cuMemAllocAsync, 11020, 0,
         (CUdeviceptr *a, size_t b, CUstream c), (a, b, c))
VR_ENTRY(RETRY, RETRY, cuMemAllocAsync_ptsz, cuMemAllocAsync, 11020, 1,
         (CUdeviceptr *a, size_t b, CUstream c), (a, b, c))
VR_ENTRY(RETRY, RETRY, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020, 0,
         (CUdeviceptr *a, size_t b, CUmemoryPool c, CUstream d), (a, b, c, d))
VR_ENTRY(RETRY, RETRY, cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync, 11020, 1,
         (CUdeviceptr *a, size_t b, CUmemoryPool c, CUstream d), (a, b, c, d))
VR_ENTRY(RETRY, RETRY, cuMemCreate,
         cuMemCreate, 10020, 0,
         (CUmemGenericAllocationHandle *a, size_t b, const CUmemAllocationProp *c,
          unsigned long long d), (a, b, c, d))
VR_ENTRY(RETRY, RETRY, cuArrayCreate_v2, cuArrayCreate, 3020, 0,
         (CUarray *a, const CUDA_ARRAY_DESCRIPTOR *b), (a, b))
VR_ENTRY(RETRY, RETRY, cuArray3DCreate_v2, cuArray3DCreate, 3020, 0,
         (CUarray *a, const CUDA_ARRAY3D_DESCRIPTOR *b), (a, b))
VR_ENTRY(RETRY, RETRY, cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000, 0,
         (CUmipmappedArray *a, const CUDA_ARRAY3D_DESCRIPTOR *b, unsigned int c), (a, b, c))
VR_ENTRY(RETRY, RETRY, cuModuleLoad, cuModuleLoad, 2000, 0, (CUmodule *a, const char *b), (a, b))
VR_ENTRY(RETRY, RETRY, cuModuleLoadData, cuModuleLoadData, 2000, 0, (CUmodule *a, const void *b), (a, b))
VR_ENTRY(RETRY, RETRY, cuModuleLoadDataEx, cuModuleLoadDataEx, 2010, 0,
         (CUmodule *a, const void *b, unsigned int c, CUjit_option *d, void **e), (a, b, c, d, e))
VR_ENTRY(RETRY, RETRY, cuModuleLoadFatBinary, cuModuleLoadFatBinary, 2000, 0,
         (CUmodule *a, const void *b), (a, b))
VR_ENTRY(RETRY, RETRY, cuLibraryLoadData,
         cuLibraryLoadData, 12000, 0,
         (CUlibrary *a, const void *b, CUjit_option *c, void **d, unsigned int e,
          CUlibraryOption *f, void **g, unsigned int h), (a, b, c, d, e, f, g, h))
VR_ENTRY(RETRY, RETRY, cuLibraryLoadFromFile,
         cuLibraryLoadFromFile, 12000, 0,
         (CUlibrary *a, const char *b, CUjit_option *c, void **d, unsigned int e,
          CUlibraryOption *f, void **g, unsigned int h), (a, b, c, d, e, f, g, h))

/* Calls that wait, or ask: they tell first that a context is lost. */
VR_ENTRY(SEE, SEEN, cuCtxSynchronize, cuCtxSynchronize, 2000, 0, (void), ())
VR_ENTRY(SEE, SEEN, cuCtxSynchronize_v2, cuCtxSynchronize, 13000, 0, (CUcontext a), (a))
VR_ENTRY(SEE, SEEN, cuStreamSynchronize, cuStreamSynchronize, 2000, 0, (CUstream a), (a))
VR_ENTRY(SEE, SEEN, cuStreamSynchronize_ptsz, cuStreamSynchronize, 7000, 1, (CUstream a), (a))
VR_ENTRY(SEE, SEEN, cuStreamQuery, cuStreamQuery, 2000, 0, (CUstream a), (a))
VR_ENTRY(SEE, SEEN, cuStreamQuery_ptsz, cuStreamQuery, 7000, 1, (CUstream a), (a))
VR_ENTRY(SEE, SEEN, cuEventSynchronize, cuEventSynchronize, 2000, 0, (CUevent a), (a))
VR_ENTRY(SEE, SEEN, cuEventQuery, cuEventQuery, 2000, 0, (CUevent a), (a))
VR_ENTRY(SEE, SEEN, cuMemcpy, cuMemcpy, 4000, 0, (CUdeviceptr a, CUdeviceptr b, size_t c), (a, b, c))
VR_ENTRY(SEE, SEEN, cuMemcpy_ptds, cuMemcpy, 7000, 1, (CUdeviceptr a, CUdeviceptr b, size_t c),
         (a, b, c))
VR_ENTRY(SEE, SEEN, cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020, 0, (void *a, CUdeviceptr b, size_t c),
         (a, b, c))
VR_ENTRY(SEE, SEEN, cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH, 7000, 1,
         (void *a, CUdeviceptr b, size_t c), (a, b, c))

/* ExecUpdate: the whole exec named first may differ afterwards. */
VR_ENTRY(AROUND, UPDATE, cuGraphExecUpdate, cuGraphExecUpdate, 10020, 0,
         (CUgraphExec a, CUgraph b, CUgraphNode *c, CUgraphExecUpdateResult *d), (a, b, c, d))
VR_ENTRY(AROUND, UPDATE, cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000, 0,
         (CUgraphExec a, CUgraph b, CUgraphExecUpdateResultInfo *c), (a, b, c))

/* Other updates: nodes of the exec named first may differ afterwards. */
VR_ENTRY(HOOK, SETTER, cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020, 0,
         (CUgraphExec a, CUgraphNode b, CUgraphNodeParams *c), (a, b, c))
VR_ENTRY(HOOK, SETTER, cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_MEMCPY3D *c, CUcontext d), (a, b, c, d))
VR_ENTRY(HOOK, SETTER, cuGraphExecMemsetNodeSetParams,
         cuGraphExecMemsetNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_MEMSET_NODE_PARAMS *c, CUcontext d),
         (a, b, c, d))
VR_ENTRY(AROUND, NODE, cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_HOST_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(AROUND, CHILD, cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, 11010, 0,
         (CUgraphExec a, CUgraphNode b, CUgraph c), (a, b, c))
VR_ENTRY(AROUND, NODE, cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, 11010, 0,
         (CUgraphExec a, CUgraphNode b, CUevent c), (a, b, c))
VR_ENTRY(AROUND, NODE, cuGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, 11010, 0,
         (CUgraphExec a, CUgraphNode b, CUevent c), (a, b, c))
VR_ENTRY(AROUND, NODE, cuGraphExecExternalSemaphoresSignalNodeSetParams,
         cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(AROUND, NODE, cuGraphExecExternalSemaphoresWaitNodeSetParams,
         cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(AROUND, NODE, cuGraphExecBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams, 11070, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_BATCH_MEM_OP_NODE_PARAMS *c), (a, b, c))
VR_ENTRY(AROUND, NODE, cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060, 0,
         (CUgraphExec a, CUgraphNode b, unsigned int c), (a, b, c))

/* The graph named first ends, and its nodes with it. */
VR_ENTRY(AROUND, GRAPH, cuGraphDestroy, cuGraphDestroy, 10000, 0, (CUgraph a), (a))

/* Handles end or change their meaning: nodes, functions, kernels, contexts. */
VR_ENTRY(AROUND, CODE, cuGraphDestroyNode, cuGraphDestroyNode, 10000, 0, (CUgraphNode a), (a))
VR_ENTRY(AROUND, CODE, cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_KERNEL_NODE_PARAMS_v1 *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphKernelNodeSetParams_v2, cuGraphKernelNodeSetParams, 12000, 0,
         (CUgraphNode a, const CUDA_KERNEL_NODE_PARAMS *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphNodeSetParams, cuGraphNodeSetParams, 12020, 0,
         (CUgraphNode a, CUgraphNodeParams *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphMemcpyNodeSetParams, cuGraphMemcpyNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_MEMCPY3D *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_MEMSET_NODE_PARAMS *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphHostNodeSetParams, cuGraphHostNodeSetParams, 10000, 0,
         (CUgraphNode a, const CUDA_HOST_NODE_PARAMS *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, 11010, 0,
         (CUgraphNode a, CUevent b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, 11010, 0,
         (CUgraphNode a, CUevent b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphExternalSemaphoresSignalNodeSetParams,
         cuGraphExternalSemaphoresSignalNodeSetParams, 11020, 0,
         (CUgraphNode a, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphExternalSemaphoresWaitNodeSetParams,
         cuGraphExternalSemaphoresWaitNodeSetParams, 11020, 0,
         (CUgraphNode a, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphBatchMemOpNodeSetParams, cuGraphBatchMemOpNodeSetParams, 11070, 0,
         (CUgraphNode a, const CUDA_BATCH_MEM_OP_NODE_PARAMS *b), (a, b))
VR_ENTRY(AROUND, CODE, cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, 11000, 0,
         (CUgraphNode a, CUkernelNodeAttrID b, const CUkernelNodeAttrValue *c), (a, b, c))
VR_ENTRY(AROUND, CODE, cuGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, 11000, 0,
         (CUgraphNode a, CUgraphNode b), (a, b))
VR_ENTRY(AROUND, CODE, cuModuleUnload, cuModuleUnload, 2000, 0, (CUmodule a), (a))
VR_ENTRY(AROUND, CODE, cuLibraryUnload, cuLibraryUnload, 12000, 0, (CUlibrary a), (a))
VR_ENTRY(AROUND, CODE, cuFuncSetAttribute, cuFuncSetAttribute, 9000, 0,
         (CUfunction a, CUfunction_attribute b, int c), (a, b, c))
VR_ENTRY(AROUND, CODE, cuFuncSetCacheConfig, cuFuncSetCacheConfig, 3000, 0,
         (CUfunction a, CUfunc_cache b), (a, b))
VR_ENTRY(AROUND, CODE, cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, 4020, 0,
         (CUfunction a, CUsharedconfig b), (a, b))
VR_ENTRY(AROUND, CODE, cuCtxSetLimit, cuCtxSetLimit, 3010, 0, (CUlimit a, size_t b), (a, b))
VR_ENTRY(AROUND, CODE, cuCtxSetCacheConfig, cuCtxSetCacheConfig, 3020, 0, (CUfunc_cache a), (a))
VR_ENTRY(AROUND, CODE, cuCtxSetSharedMemConfig, cuCtxSetSharedMemConfig, 4020, 0, (CUsharedconfig a), (a))
VR_ENTRY(AROUND, CODE, cuKernelSetAttribute, cuKernelSetAttribute, 12000, 0,
         (CUfunction_attribute a, int b, CUkernel c, CUdevice d), (a, b, c, d))
VR_ENTRY(AROUND, CODE, cuKernelSetCacheConfig, cuKernelSetCacheConfig, 12000, 0,
         (CUkernel a, CUfunc_cache b, CUdevice c), (a, b, c))
VR_ENTRY(AROUND, CONTEXT, cuCtxDestroy, cuCtxDestroy, 2000, 0, (CUcontext a), (a))
VR_ENTRY(AROUND, CONTEXT, cuCtxDestroy_v2, cuCtxDestroy, 4000, 0, (CUcontext a), (a))
VR_ENTRY(AROUND, DETACH, cuCtxDetach, cuCtxDetach, 2000, 0, (CUcontext a), (a))
VR_ENTRY(AROUND, CODE, cuGreenCtxDestroy, cuGreenCtxDestroy, 12040, 0, (CUgreenCtx a), (a))
VR_ENTRY(AROUND, PRIMARY, cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000, 0, (CUdevice a), (a))
VR_ENTRY(AROUND, PRIMARY, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000, 0, (CUdevice a), (a))
VR_ENTRY(AROUND, PRIMARY, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 7000, 0, (CUdevice a), (a))
VR_ENTRY(AROUND, PRIMARY, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000, 0,
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
