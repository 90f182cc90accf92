/* transfer.h: the records of memcpy and memset nodes: the last descriptor that was answered with
 * success, in its normal form, and what memory its operands were. One per (exec, node), made by the
 * first accepted setter we see. Belongs to its exec, whose callers are serialised: no lock. Must
 * not know what a descriptor says: shim/ brings it into its normal form. */
#ifndef VR_TRANSFER_H
#define VR_TRANSFER_H

#include "hash.h"
#include "state.h"

struct vr_transfer_record;

/* What the record of `node` says is not believed any more. */
void vr_transfer_doubt(struct vr_transfer_record *records, vr_handle node);
void vr_transfers_free(struct vr_transfer_record **records, struct vr_heap *heap);
/* False when a record is younger than the present code generation or epoch. */
bool vr_transfers_sound(const struct vr_transfer_record *records, uint64_t generation,
                        uint64_t epoch);

#endif
