/* cost.h: time that passes on a GPU and would not here. Owned by cost.c. */
#ifndef FAKEVMM_COST_H
#define FAKEVMM_COST_H

/* The time a kernel takes at least, FAKEVMM_DELAY_US; any thread, no lock. */
void fv_cost_kernel(void);

#endif
