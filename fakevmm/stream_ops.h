/* stream_ops.h: operations on memory in stream order: a stream that waits for a value in memory, or
 * writes one. Owned by stream_ops.c. Batches run from streams and from batch-mem-op nodes alike. */
#ifndef FAKEVMM_STREAM_OPS_H
#define FAKEVMM_STREAM_OPS_H

#include "fakevmm.h"

/* The errors of a batch that is about to be queued or made a node. Lock held. */
CUresult fv_batch_ops_check(const CUstreamBatchMemOpParams *ops, unsigned count, unsigned flags);
/* Does operations from *next on until one has to wait. True when all are done or *error is set
 * (CUDA_ERROR_ILLEGAL_ADDRESS). Any thread, with or without the lock; for work whose `polls` is set
 * (stream.h): ask again later. `device`: as for fv_copy_any(). */
bool fv_batch_ops_step(const CUstreamBatchMemOpParams *ops, unsigned count, unsigned *next,
                       int device, CUresult *error);
/* True if an operation touches [base, base + size). */
bool fv_batch_ops_use(const CUstreamBatchMemOpParams *ops, unsigned count, CUdeviceptr base,
                      size_t size);

#endif
