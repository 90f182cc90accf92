/* core_transfers.c: setters of memcpy and memset nodes. One is answered only if the descriptor is
 * the last accepted one, byte for byte, and every operand is still the same kind of memory
 * (docs/design.md, "When an update is answered"). */
#include "tests/unit/core_buffers.h"

enum { BYTES = 4096 };

static struct vr_state *state;
static uint64_t source, target;
static unsigned char said[200];

static struct vr_transfer transfer(void)
{
    return (struct vr_transfer){
        .exec = EXEC,
        .node = NODE,
        .context = CONTEXT,
        .said = said,
        .bytes = sizeof said,
        .operand = {{.address = source, .bytes = BYTES}, {.address = target, .bytes = BYTES}},
        .operands = 2,
    };
}

/* An allocation at an address of the test's choice. */
static void buffer_at(uint64_t address, vr_handle context)
{
    struct vr_allocation allocation = {.base = address, .bytes = BYTES, .context = context};

    T_ASSERT(vr_allocations_add(state->allocations, &state->heap, &allocation));
}

/* True when the call was answered and the driver saw nothing. */
static bool send_one(struct vr_transfer update, bool driver_accepts)
{
    struct vr_ticket ticket;

    if (vr_transfer_ask(state, &update, &ticket) == VR_ANSWERED)
        return true;
    vr_transfer_told(state, &update, &ticket, driver_accepts);
    return false;
}

static bool send(void)
{
    return send_one(transfer(), true);
}

static void begin_as(enum vr_mode mode)
{
    world.context = CONTEXT;
    state = buffers_begin(mode, 3);
    source = buffer(state, BYTES);
    target = buffer(state, BYTES);
    memset(said, 7, sizeof said);
    T_ASSERT(!send(), "nothing is known yet");
}

static void begin(void)
{
    begin_as(VR_MODE_ON);
    T_ASSERT(send());
}

static void expect_forgotten(const char *why)
{
    T_ASSERT(!send(), "%s", why);
    T_ASSERT(send(), "%s", why);
}

TEST(transfers, every_byte_counts)
{
    begin();
    for (size_t i = 0; i < sizeof said; i++) {
        said[i]++;
        expect_forgotten("a byte differs");
    }
    world_end(state);
}

TEST(transfers, length_of_the_descriptor_counts)
{
    struct vr_transfer shorter;

    begin();
    shorter = transfer();
    shorter.bytes--;
    T_ASSERT(!send_one(shorter, true));
    T_ASSERT(send_one(shorter, true));
    world_end(state);
}

TEST(transfers, context_counts)
{
    struct vr_transfer other;

    begin();
    other = transfer();
    other.context = CONTEXT + 1;
    T_ASSERT(!send_one(other, true));
    T_ASSERT(send_one(other, true));
    world_end(state);
}

TEST(transfers, null_context_is_the_current_one)
{
    struct vr_transfer other;

    begin();
    other = transfer();
    other.context = 0;
    world.context = CONTEXT;
    T_ASSERT(send_one(other, true));
    world.context = CONTEXT + 1;
    T_ASSERT(!send_one(other, true));
    world.context = 0;
    T_ASSERT(!send_one(other, true), "there is no current context");
    world_end(state);
}

/* The address says the same, the memory is another's. */
TEST(transfers, operand_whose_address_came_back_as_other_memory)
{
    begin();
    buffer_free(state, target);
    T_ASSERT(!send(), "it is no allocation at all");
    buffer_at(target, CONTEXT + 1);
    expect_forgotten("it is another context's");
    world_end(state);
}

/* What the node binds is what memory it is, not which allocation. */
TEST(transfers, operand_whose_address_came_back_as_the_same_memory)
{
    begin();
    buffer_free(state, target);
    buffer_at(target, CONTEXT);
    T_ASSERT(send());
    world_end(state);
}

TEST(transfers, operand_that_is_no_known_allocation)
{
    begin();
    target = 0x1234000;
    T_ASSERT(!send() && !send(), "never answered");
    T_EQ(world_totals(state).refusal[VR_REFUSAL_operand_unknown], 2);
    world_end(state);
}

TEST(transfers, operand_that_reaches_beyond_its_allocation)
{
    struct vr_transfer longer;

    begin();
    longer = transfer();
    longer.operand[1].bytes = BYTES + 1;
    T_ASSERT(!send_one(longer, true) && !send_one(longer, true));
    longer.operand[1].bytes = UINT64_MAX;
    T_ASSERT(!send_one(longer, true));
    world_end(state);
}

TEST(transfers, opaque_one_is_forwarded_and_forgets)
{
    struct vr_transfer opaque;

    begin();
    opaque = transfer();
    opaque.opaque = true;
    T_ASSERT(!send_one(opaque, true));
    expect_forgotten("the driver holds something that we could not read");
    world_end(state);
}

TEST(transfers, refused_one_makes_the_node_unsure)
{
    begin();
    said[0]++;
    T_ASSERT(!send_one(transfer(), false));
    said[0]--;
    expect_forgotten("the driver refused the last setter");
    world_end(state);
}

TEST(transfers, whatever_makes_a_kernel_record_doubtful)
{
    begin();
    vr_code_changed(state);
    expect_forgotten("handles may mean something else");
    vr_exec_changed(state, EXEC, NODE, VR_CHANGE_NODE, true);
    expect_forgotten("SetEnabled");
    vr_exec_changed(state, EXEC, NODE + 64, VR_CHANGE_NODE, true);
    T_ASSERT(send(), "another node");
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, false);
    expect_forgotten("ExecUpdate");
    vr_graph_gone(state, GRAPH);
    expect_forgotten("its graph");
    T_ASSERT(vr_state_check(state) == NULL);
    world_end(state);
}

TEST(transfers, exec_that_is_not_known_or_only_the_devices)
{
    struct vr_transfer other;

    begin();
    other = transfer();
    other.exec = EXEC_B;
    T_ASSERT(!send_one(other, true) && !send_one(other, true));
    T_EQ(world_totals(state).refusal[VR_REFUSAL_unseen_exec], 2);
    vr_trouble_seen(state, VR_TROUBLE_STICKY);
    T_ASSERT(!send() && !send());
    world_end(state);
}

TEST(transfers, observe_counts_and_answers_nothing)
{
    begin_as(VR_MODE_OBSERVE);
    T_ASSERT(!send() && !send());
    T_EQ(world_totals(state).counter[VR_COUNT_would_elide], 2);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_forwarded], 3);
    world_end(state);
}
