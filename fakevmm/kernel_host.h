/* kernel_host.h: what a running kernel asks of the host besides memory: its printf, its malloc and
 * free, and the values of conditional nodes. Owned by kernel_host.c. */
#ifndef FAKEVMM_KERNEL_HOST_H
#define FAKEVMM_KERNEL_HOST_H

#include "fakevmm.h"
#include "ptx/ptx.h"

struct fv_context;

/* The functions, for kernels of a context, which must live as long as the launch. */
struct ptx_host fv_kernel_host(struct fv_context *context);
/* Writes to stdout what kernels have printed. Any thread. Called when somebody has waited for work,
 * so that it does not come earlier or later from run to run. */
void fv_print_flush(void);
/* The end of a context: of what its kernels have allocated and not freed. Lock held. */
void fv_heap_drop_context(const struct fv_context *context);

#endif
