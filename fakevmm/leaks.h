/* leaks.h: what is left when the process ends. Owned by leaks.c. */
#ifndef FAKEVMM_LEAKS_H
#define FAKEVMM_LEAKS_H

#include <stddef.h>

/* Under FAKEVMM_LEAKS=1 a line `leak <kind> <count>` on stderr for each kind of thing the
 * application still has. `late_unloads` libraries were given back when the driver had already gone:
 * by exit handlers of the application that were registered before cuInit. Lock held. */
void fv_leaks_print(size_t late_unloads);

#endif
