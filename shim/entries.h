/* entries.h: every driver function that libvaremap gets in front of, one row each; the only list of
 * them. The exported symbols, the wrappers, the routing table and the export map expand from it.
 *
 *   VR_ENTRY(class, symbol, base, since, ptds, (parameters), (arguments))
 *
 *   class   what the wrapper does with the call:
 *           OWN     vr_hook_<symbol>() decides (hooks_graph.c, resolve.c)
 *           the others make the real call, then tell core what it may have changed:
 *           UPDATE  a whole exec, the first argument
 *           NODE    nodes of the exec that is the first argument
 *           GRAPH   the graph that is the first argument ends
 *           CODE    handles may mean something else: nodes, functions, kernels, contexts
 *   symbol  the exported ELF name; base and since: what cuGetProcAddress is asked for to get this
 *           very ABI (cudaTypedefs.h); ptds 1: the per-thread-default-stream twin
 *   parameters are checked against cuda.h by the compiler: wrappers.c includes both.
 *
 *   VR_NEED(symbol, (parameters))
 *
 *   a driver function that we call ourselves and do not get in front of. All are read-only queries.
 *
 * Include with one or both macros defined; both are undefined at the end. */

#ifndef VR_ENTRY
#define VR_ENTRY(class, symbol, base, since, ptds, params, args)
#endif
#ifndef VR_NEED
#define VR_NEED(symbol, params)
#endif

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

/* ExecUpdate: the whole exec named first may differ afterwards. */
VR_ENTRY(UPDATE, cuGraphExecUpdate, cuGraphExecUpdate, 10020, 0,
         (CUgraphExec a, CUgraph b, CUgraphNode *c, CUgraphExecUpdateResult *d), (a, b, c, d))
VR_ENTRY(UPDATE, cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000, 0,
         (CUgraphExec a, CUgraph b, CUgraphExecUpdateResultInfo *c), (a, b, c))

/* Other updates: nodes of the exec named first may differ afterwards. */
VR_ENTRY(NODE, cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020, 0,
         (CUgraphExec a, CUgraphNode b, CUgraphNodeParams *c), (a, b, c))
VR_ENTRY(NODE, cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020, 0,
         (CUgraphExec a, CUgraphNode b, const CUDA_MEMCPY3D *c, CUcontext d), (a, b, c, d))
VR_ENTRY(NODE, cuGraphExecMemsetNodeSetParams,
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
VR_ENTRY(CODE, cuKernelSetAttribute, cuKernelSetAttribute, 12000, 0,
         (CUfunction_attribute a, int b, CUkernel c, CUdevice d), (a, b, c, d))
VR_ENTRY(CODE, cuKernelSetCacheConfig, cuKernelSetCacheConfig, 12000, 0,
         (CUkernel a, CUfunc_cache b, CUdevice c), (a, b, c))
VR_ENTRY(CODE, cuCtxDestroy, cuCtxDestroy, 2000, 0, (CUcontext a), (a))
VR_ENTRY(CODE, cuCtxDestroy_v2, cuCtxDestroy, 4000, 0, (CUcontext a), (a))
VR_ENTRY(CODE, cuCtxDetach, cuCtxDetach, 2000, 0, (CUcontext a), (a))
VR_ENTRY(CODE, cuGreenCtxDestroy, cuGreenCtxDestroy, 12040, 0, (CUgreenCtx a), (a))
VR_ENTRY(CODE, cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000, 0, (CUdevice a), (a))
VR_ENTRY(CODE, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000, 0, (CUdevice a), (a))
VR_ENTRY(CODE, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 7000, 0, (CUdevice a), (a))
VR_ENTRY(CODE, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000, 0, (CUdevice a), (a))

VR_NEED(cuDriverGetVersion, (int *a))
VR_NEED(cuCtxGetCurrent, (CUcontext *a))
VR_NEED(cuFuncGetParamInfo, (CUfunction a, size_t b, size_t *c, size_t *d))
VR_NEED(cuKernelGetParamInfo, (CUkernel a, size_t b, size_t *c, size_t *d))
VR_NEED(cuGraphKernelNodeGetAttribute,
        (CUgraphNode a, CUkernelNodeAttrID b, CUkernelNodeAttrValue *c))

#undef VR_ENTRY
#undef VR_NEED
