/* leaks.h: what is left when the process ends. Owned by leaks.c. */
#ifndef FAKEVMM_LEAKS_H
#define FAKEVMM_LEAKS_H

/* Under FAKEVMM_LEAKS=1 a line `leak <kind> <count>` on stderr for each kind of thing the
 * application still has. Lock held. */
void fv_leaks_print(void);

#endif
