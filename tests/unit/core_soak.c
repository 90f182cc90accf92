/* core_soak.c: a million steps of create, update, launch and destroy. What the library keeps must
 * not grow with them: what the first tenth reached is, but for the ups and downs of the draws, all
 * that there ever is of heap blocks and bytes, execs and records. Prints the numbers. */
#include <stdio.h>

#include "tests/unit/core_buffers.h"

enum { STEPS = 1000000, EXECS = 50, NODES_EACH = 6, BUFFERS = 8, BYTES = 4096 };

static struct vr_state *state;
static unsigned seed = 1;
static uint64_t buffers[BUFFERS];
static bool alive[EXECS];

struct size {
    uint64_t blocks, bytes, execs, shard, records,
        allocations; /* shard: execs in the fullest one */
};

static unsigned draw(unsigned below)
{
    return (unsigned)rand_r(&seed) % below;
}

static vr_handle exec_of(unsigned i)
{
    return EXEC + (vr_handle)i * 64;
}

static struct size measure(void)
{
    struct size now = {
        .blocks = atomic_load(&state->heap.blocks),
        .bytes = atomic_load(&state->heap.bytes),
        .allocations = vr_allocations_count(state->allocations),
    };

    for (int i = 0; i < VR_SHARDS; i++) {
        const struct vr_exec *exec = state->track.shard[i].execs;
        uint64_t count = HASH_COUNT(exec);
        now.shard = count > now.shard ? count : now.shard;
        for (; exec; exec = exec->hh.next, now.execs++)
            now.records += HASH_COUNT(exec->nodes.table);
    }
    return now;
}

static void print(const char *when, const struct size *size)
{
    printf("%s: %llu blocks, %llu bytes, %llu execs (%llu in one shard), %llu records, "
           "%llu allocations\n",
           when, (unsigned long long)size->blocks, (unsigned long long)size->bytes,
           (unsigned long long)size->execs, (unsigned long long)size->shard,
           (unsigned long long)size->records, (unsigned long long)size->allocations);
}

static void renew_buffer(void)
{
    uint64_t *buffer_at = &buffers[draw(BUFFERS)];

    if (*buffer_at)
        buffer_free(state, *buffer_at);
    *buffer_at = buffer(state, BYTES);
}

static void send_kernel(vr_handle exec)
{
    struct world_setter setter;

    world_setter(&setter, exec, NODE + draw(NODES_EACH) * 64);
    setter.value[0] = buffers[draw(BUFFERS)];
    world_send(state, &setter.update, draw(20) != 0);
}

static void send_copy(vr_handle exec)
{
    static const unsigned char said[200];
    struct vr_transfer copy = {
        .exec = exec,
        .node = NODE_B + draw(NODES_EACH) * 64,
        .context = CONTEXT,
        .said = said,
        .bytes = sizeof said,
        .operand = {{.address = buffers[draw(BUFFERS)], .bytes = 4}},
        .operands = 1,
    };
    struct vr_ticket ticket;

    if (vr_transfer_ask(state, &copy, &ticket) == VR_FORWARD)
        vr_transfer_told(state, &copy, &ticket, draw(20) != 0);
}

static void turn_over(unsigned i)
{
    if (alive[i])
        world_died(state, exec_of(i));
    else
        world_born(state, exec_of(i), GRAPH + draw(4) * 64);
    alive[i] = !alive[i];
}

static void step(void)
{
    unsigned i = draw(EXECS);

    switch (draw(12)) {
    case 0: turn_over(i); break;
    case 1: vr_graph_gone(state, GRAPH + draw(4) * 64); break;
    case 2: vr_exec_changed(state, exec_of(i), NODE, VR_CHANGE_GRAPH, draw(4) != 0); break;
    case 3: renew_buffer(); break;
    case 4: vr_code_changed(state); break;
    case 5:
    case 6: send_copy(exec_of(i)); break;
    case 7:
    case 8: vr_launch_told(state, exec_of(i), draw(20) != 0); break;
    default: send_kernel(exec_of(i)); break;
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void raise_to(struct size *most, const struct size *now)
{
    most->blocks = larger(most->blocks, now->blocks);
    most->bytes = larger(most->bytes, now->bytes);
    most->execs = larger(most->execs, now->execs);
    most->shard = larger(most->shard, now->shard);
    most->records = larger(most->records, now->records);
    most->allocations = larger(most->allocations, now->allocations);
}

/* Numbers go up and down with the draws: a sample may exceed the most of the first tenth by a
 * little, but not by what hundreds of thousands of steps would leave behind. */
static bool flat(uint64_t first, uint64_t rest)
{
    return rest <= first + first / 4;
}

TEST(soak, a_million_steps)
{
    struct size first = {0}, rest = {0}, now;

    state = buffers_begin(VR_MODE_ON, 3);
    memory.lifo = true;
    world_died(state, EXEC);
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = buffer(state, BYTES);
    for (int i = 0; i < STEPS; i++) {
        step();
        if (i % 1000)
            continue;
        now = measure();
        raise_to(i < STEPS / 10 ? &first : &rest, &now);
    }
    print("the first tenth, at most", &first);
    print("the rest, at most", &rest);
    T_ASSERT(flat(first.blocks, rest.blocks) && flat(first.bytes, rest.bytes));
    T_ASSERT(rest.execs <= EXECS && rest.records <= EXECS * NODES_EACH);
    T_ASSERT(rest.shard <= first.shard + 2);
    T_EQ(rest.allocations, BUFFERS);
    for (unsigned i = 0; i < EXECS; i++)
        if (alive[i])
            turn_over(i);
    now = measure();
    print("at the end", &now);
    T_EQ(now.execs, 0);
    T_EQ(now.records, 0);
    world_end(state);
}
