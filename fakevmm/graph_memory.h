/* graph_memory.h: what graphs hold of a device's memory. Owned by graph_memory.c (each allocation)
 * and graph_memory_calls.c (the accounts, the driver's calls). The lock is held throughout. */
#ifndef FAKEVMM_GRAPH_MEMORY_H
#define FAKEVMM_GRAPH_MEMORY_H

#include "graph.h"

/* An allocation takes memory of its device, or gives it back. False when there is not enough. */
bool fv_graph_memory_back(struct fv_device *device, size_t size);
void fv_graph_memory_unback(struct fv_device *device, size_t size);
/* So many bytes more, or fewer, are allocated. */
void fv_graph_memory_use(const struct fv_device *device, int64_t bytes);
/* Gives back what no launch needs. */
void fv_graph_memory_trim_all(const struct fv_device *device);

#endif
