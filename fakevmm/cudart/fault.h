/* fault.h: injected errors (FAKEVMM_FAULT), for the door that every call passes. */
#ifndef FAKEVMM_CUDART_FAULT_H
#define FAKEVMM_CUDART_FAULT_H

#include "runtime.h"

#include <stdatomic.h>

/* The error that this call of an export is to answer, or cudaSuccess. Counts the call in `calls`,
 * which is the export's own. Any thread. A value of the variable that is not understood ends the
 * program with a message, as the fake driver does. */
cudaError_t rt_fault_of(const char *symbol, atomic_ulong *calls);

#endif
