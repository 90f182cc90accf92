/* warp.c: shuffles, votes, matches and reductions among the threads of a warp (PTX ISA,
 * "shfl.sync", "vote.sync", "match.sync", "redux.sync"). The group's members are all at the same
 * instruction here. */
#include "run.h"

struct group {
    struct ptx_thread *threads[PTX_WARP]; /* by lane, NULL: no member */
    union ptx_slot a[PTX_WARP];           /* operands, read before any result is written */
    uint32_t mask;
};

static const struct ptx_insn *insn(const struct ptx_thread *thread)
{
    return thread->ip;
}

static uint32_t member_mask(const struct ptx_thread *thread)
{
    return thread->frame[(uint16_t)insn(thread)->imm].u32;
}

/* The lane a shuffle reads from, and in *inside whether it is within the segment. */
static unsigned shuffle_source(unsigned op, unsigned lane, uint32_t b, uint32_t c, bool *inside)
{
    int distance = b & 31, clamp = c & 31, segment = c >> 8 & 31, own = (int)lane;
    int last = (own & segment) | (clamp & ~segment), source;

    switch (op) {
    case PTX_OP_shfl_up:
        source = own - distance;
        *inside = source >= last;
        break;
    case PTX_OP_shfl_down:
        source = own + distance;
        *inside = source <= last;
        break;
    case PTX_OP_shfl_bfly:
        source = own ^ distance;
        *inside = source <= last;
        break;
    default: source = (own & segment) | (distance & ~segment); *inside = source <= last;
    }
    return *inside ? (unsigned)source : lane;
}

static void shuffle(struct group *group, struct ptx_thread *thread, unsigned lane)
{
    const struct ptx_insn *ip = insn(thread);
    union ptx_slot *r = thread->frame;
    bool inside;
    unsigned source = shuffle_source(ip->op, lane, r[ip->b].u32, r[ip->c].u32, &inside);

    if (!group->threads[source])
        source = lane; /* unspecified by PTX ISA: not a member */
    r[ip->d].u64 = group->a[source].u32;
    r[ip->e].u32 = inside;
}

static uint32_t ballot(const struct group *group)
{
    uint32_t votes = 0;

    for (unsigned lane = 0; lane < PTX_WARP; lane++) {
        if (group->threads[lane] && group->a[lane].u32)
            votes |= UINT32_C(1) << lane;
    }
    return votes;
}

static uint32_t equal_lanes(const struct group *group, unsigned lane, bool wide)
{
    uint32_t equal = 0;

    for (unsigned other = 0; other < PTX_WARP; other++) {
        if (group->threads[other] && (wide ? group->a[other].u64 == group->a[lane].u64
                                           : group->a[other].u32 == group->a[lane].u32))
            equal |= UINT32_C(1) << other;
    }
    return equal;
}

static uint32_t reduce_pair(unsigned op, uint32_t x, uint32_t y)
{
    switch (op) {
    case PTX_OP_redux_add: return x + y;
    case PTX_OP_redux_min_s32: return (int32_t)x < (int32_t)y ? x : y;
    case PTX_OP_redux_max_s32: return (int32_t)x > (int32_t)y ? x : y;
    case PTX_OP_redux_min_u32: return x < y ? x : y;
    case PTX_OP_redux_max_u32: return x > y ? x : y;
    case PTX_OP_redux_and: return x & y;
    case PTX_OP_redux_or: return x | y;
    default: return x ^ y;
    }
}

static uint32_t reduce(const struct group *group, unsigned op)
{
    bool first = true;
    uint32_t all = 0;

    for (unsigned lane = 0; lane < PTX_WARP; lane++) {
        if (!group->threads[lane])
            continue;
        all = first ? group->a[lane].u32 : reduce_pair(op, all, group->a[lane].u32);
        first = false;
    }
    return all;
}

static void finish(struct group *group, struct ptx_thread *thread, unsigned lane)
{
    const struct ptx_insn *ip = insn(thread);
    union ptx_slot *d = &thread->frame[ip->d];
    uint32_t votes = ballot(group), equal;

    switch (ip->op) {
    case PTX_OP_shfl_up:
    case PTX_OP_shfl_down:
    case PTX_OP_shfl_bfly:
    case PTX_OP_shfl_idx: shuffle(group, thread, lane); break;
    case PTX_OP_vote_all: d->u32 = votes == group->mask; break;
    case PTX_OP_vote_any: d->u32 = votes != 0; break;
    case PTX_OP_vote_uni: d->u32 = votes == 0 || votes == group->mask; break;
    case PTX_OP_vote_ballot: d->u64 = votes; break;
    case PTX_OP_match_any_32:
    case PTX_OP_match_any_64:
        d->u64 = equal_lanes(group, lane, ip->op == PTX_OP_match_any_64);
        break;
    case PTX_OP_match_all_32:
    case PTX_OP_match_all_64:
        equal = equal_lanes(group, lane, ip->op == PTX_OP_match_all_64);
        d->u64 = equal == group->mask ? equal : 0;
        thread->frame[ip->e].u32 = equal == group->mask;
        break;
    case PTX_OP_warp_sync: break;
    case PTX_OP_active_mask: d->u64 = group->mask; break;
    default: d->u64 = reduce(group, ip->op);
    }
}

/* Collects the threads that are at the same instruction now. */
static bool gather_active(struct ptx_thread *warp, unsigned count, const struct ptx_thread *thread,
                          struct group *group)
{
    *group = (struct group){.mask = 0};
    for (unsigned lane = 0; lane < count; lane++) {
        if (warp[lane].state != PTX_AT_WARP || warp[lane].ip != thread->ip)
            continue;
        group->threads[lane] = &warp[lane];
        group->mask |= UINT32_C(1) << lane;
    }
    return true;
}

/* True if `other` comes first where threads diverge: deeper in calls, then earlier in the code, so
 * that all meet again behind a branch. */
static bool goes_first(const struct ptx_thread *other, const struct ptx_thread *thread)
{
    return other->depth != thread->depth ? other->depth > thread->depth : other->ip < thread->ip;
}

/* For instructions from before .sync: the threads that are at this one when no other of the warp
 * can run. */
static bool gather_converged(struct ptx_thread *warp, unsigned count,
                             const struct ptx_thread *thread, struct group *group)
{
    for (unsigned lane = 0; lane < count; lane++) {
        const struct ptx_thread *other = &warp[lane];
        if (other->state == PTX_READY ||
            (other->state == PTX_AT_WARP && !insn(other)->imm && goes_first(other, thread)))
            return false;
    }
    gather_active(warp, count, thread, group);
    for (unsigned lane = 0; lane < count; lane++) {
        if (group->threads[lane])
            group->a[lane] = warp[lane].frame[thread->ip->a];
    }
    return true;
}

/* Collects the members of the thread's group; false unless all that still run are there. */
static bool gather(struct ptx_thread *warp, unsigned count, const struct ptx_thread *thread,
                   struct group *group)
{
    uint32_t mask = member_mask(thread);

    if (thread->ip->op == PTX_OP_active_mask)
        return gather_active(warp, count, thread, group);
    if (!thread->ip->imm)
        return gather_converged(warp, count, thread, group);
    *group = (struct group){.mask = 0};
    for (unsigned lane = 0; lane < count; lane++) {
        struct ptx_thread *other = &warp[lane];
        if (!(mask >> lane & 1) || other->state == PTX_EXITED)
            continue;
        if (other->state != PTX_AT_WARP || insn(other)->op != insn(thread)->op ||
            member_mask(other) != mask)
            return false;
        group->threads[lane] = other;
        group->a[lane] = other->frame[insn(other)->a];
        group->mask |= UINT32_C(1) << lane;
    }
    return group->mask != 0;
}

bool ptx_release_warp(struct ptx_thread *warp, unsigned count)
{
    bool any = false;
    struct group group;

    for (unsigned lane = 0; lane < count; lane++) {
        if (warp[lane].state != PTX_AT_WARP || !gather(warp, count, &warp[lane], &group))
            continue;
        for (unsigned member = 0; member < count; member++) {
            if (group.threads[member])
                finish(&group, group.threads[member], member);
        }
        for (unsigned member = 0; member < count; member++) {
            if (!group.threads[member])
                continue;
            group.threads[member]->ip++;
            group.threads[member]->state = PTX_READY;
        }
        any = true;
    }
    return any;
}
