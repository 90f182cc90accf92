/* transfer.c: memcpy-node and memset-node setters under the first rung. What elide.c is to kernel
 * nodes; generation and epoch mean the same here. It must not know slots: sizes that these nodes
 * name are never placed. */
#include "transfer.h"

#include "state_private.h"

struct vr_transfer_record {
    vr_handle node;
    UT_hash_handle hh;          /* in vr_exec.transfers, by `node` */
    uint64_t generation, epoch; /* when the setter was asked */
    vr_handle context;
    struct vr_operand operand[2]; /* an address can come back as other memory */
    uint32_t bytes;
    bool valid; /* false after a failed setter, or one that is not kept */
    unsigned char said[VR_TRANSFER_BYTES];
};

static struct vr_transfer_record *find(struct vr_transfer_record *records, vr_handle node)
{
    struct vr_transfer_record *record;

    HASH_FIND(hh, records, &node, sizeof node, record);
    return record;
}

void vr_transfer_doubt(struct vr_transfer_record *records, vr_handle node)
{
    struct vr_transfer_record *record = find(records, node);

    if (record)
        record->valid = false;
}

void vr_transfers_free(struct vr_transfer_record **records, struct vr_heap *heap)
{
    while (*records) {
        struct vr_transfer_record *record = *records;
        HASH_DEL(*records, record);
        vr_free(heap, record, sizeof *record);
    }
}

bool vr_transfers_sound(const struct vr_transfer_record *records, uint64_t generation,
                        uint64_t epoch)
{
    for (; records; records = records->hh.next)
        if (records->generation > generation || records->epoch > epoch)
            return false;
    return true;
}

/* ---- before the driver's call ---- */

/* What memory the operands are; false unless each lies wholly in an allocation that we know. */
static bool find_operands(struct vr_state *state, struct vr_transfer *transfer)
{
    struct vr_allocation at;

    for (unsigned i = 0; i < transfer->operands; i++) {
        struct vr_operand *operand = &transfer->operand[i];
        if (!vr_allocations_find(state->allocations, operand->address, &at) ||
            operand->bytes > at.bytes - (operand->address - at.base))
            return false;
        operand->context = at.context;
        operand->device = at.device;
        operand->ours = at.slice != NULL;
    }
    return true;
}

static bool same_operand(const struct vr_operand *a, const struct vr_operand *b)
{
    return a->address == b->address && a->bytes == b->bytes && a->context == b->context &&
           a->device == b->device && a->ours == b->ours;
}

static bool same(const struct vr_transfer_record *record, const struct vr_transfer *transfer,
                 vr_handle context)
{
    return record->context == context && record->bytes == transfer->bytes &&
           same_operand(&record->operand[0], &transfer->operand[0]) &&
           same_operand(&record->operand[1], &transfer->operand[1]) &&
           memcmp(record->said, transfer->said, transfer->bytes) == 0;
}

static bool find_context(struct vr_state *state, const struct vr_transfer *transfer,
                         vr_handle *context)
{
    *context = transfer->context;
    return *context || (state->ops->current_context(context) == VR_OK && *context);
}

/* Whether the driver's node already holds what `transfer` says; when that cannot be known, the
 * ticket's refusal says why. */
static bool holds_already(struct vr_state *state, struct vr_transfer *transfer,
                          struct vr_ticket *ticket)
{
    const struct vr_transfer_record *record = find(ticket->exec->transfers, transfer->node);

    if (transfer->opaque || !find_operands(state, transfer)) {
        ticket->refusal = VR_REFUSAL_operand_unknown;
        return false;
    }
    if (!find_context(state, transfer, &ticket->context)) {
        ticket->refusal = VR_REFUSAL_context_unknown;
        return false;
    }
    if (!record)
        return false;
    if (record->generation != ticket->generation || record->epoch != ticket->epoch)
        ticket->refusal = VR_REFUSAL_stale;
    else if (!record->valid)
        ticket->refusal = VR_REFUSAL_unsure;
    else
        return same(record, transfer, ticket->context);
    return false;
}

enum vr_answer vr_transfer_ask(struct vr_state *state, struct vr_transfer *transfer,
                               struct vr_ticket *ticket)
{
    if (!vr_ticket_open(state, transfer->exec, ticket))
        return VR_FORWARD;
    ticket->would_elide = holds_already(state, transfer, ticket);
    if (!ticket->would_elide || !state->answers)
        return VR_FORWARD;
    vr_bump(&ticket->exec->counters.counter[VR_COUNT_updates_elided]);
    return VR_ANSWERED;
}

/* ---- after it ---- */

static struct vr_transfer_record *make(struct vr_exec *exec, struct vr_heap *heap, vr_handle node)
{
    struct vr_transfer_record *record = find(exec->transfers, node);

    if (record || !(record = vr_alloc(heap, sizeof *record)))
        return record;
    record->node = node;
    HASH_ADD(hh, exec->transfers, node, sizeof record->node, record);
    if (vr_hash_added(record))
        return record;
    vr_free(heap, record, sizeof *record);
    return NULL;
}

/* Makes or renews the record. Returns why there is none to elide by. */
static enum vr_refusal learn(struct vr_state *state, const struct vr_transfer *transfer,
                             const struct vr_ticket *ticket)
{
    struct vr_transfer_record *record;

    if (transfer->bytes > sizeof record->said)
        return VR_REFUSAL_operand_unknown;
    record = make(ticket->exec, &state->heap, transfer->node);
    if (!record)
        return VR_REFUSAL_no_memory;
    record->generation = ticket->generation;
    record->epoch = ticket->epoch;
    record->context = ticket->context;
    memcpy(record->operand, transfer->operand, sizeof record->operand);
    record->bytes = (uint32_t)transfer->bytes;
    memcpy(record->said, transfer->said, transfer->bytes);
    record->valid = true;
    return VR_REFUSAL_NONE;
}

void vr_transfer_told(struct vr_state *state, const struct vr_transfer *transfer,
                      const struct vr_ticket *ticket, bool accepted)
{
    enum vr_refusal refusal = (enum vr_refusal)ticket->refusal, learnt = VR_REFUSAL_NONE;
    bool sure = refusal != VR_REFUSAL_operand_unknown && refusal != VR_REFUSAL_context_unknown;
    struct vr_exec *exec = ticket->exec;

    if (exec && !exec->device_launch && state->records) {
        vr_transfer_doubt(exec->transfers, transfer->node);
        if (accepted && sure && vr_state_alive(state))
            learnt = learn(state, transfer, ticket);
    }
    if (exec && accepted)
        vr_profile_setter(&exec->profile, &exec->counters.phase);
    vr_count(state, exec, accepted ? VR_COUNT_updates_forwarded : VR_COUNT_updates_failed);
    if (accepted && ticket->would_elide && state->elide)
        vr_count(state, exec, VR_COUNT_would_elide);
    vr_count_refusal(state, exec, learnt == VR_REFUSAL_NONE ? refusal : learnt);
}
