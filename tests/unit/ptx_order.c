/* ptx_order.c: in which order threads and blocks run: none that PTX forbids, all get their turn,
 * and a barrier that is missing shows. */
#include "ptx_world.h"

static struct ptx_launch launch_of(unsigned grid, unsigned block, const uint64_t *params)
{
    return (struct ptx_launch){.grid = {grid, 1, 1},
                               .block = {block, 1, 1},
                               .params = (const unsigned char *)params,
                               .memory = {world_span, world_generation, &world}};
}

static enum ptx_result run_launch(const char *text, const struct ptx_launch *launch)
{
    struct ptx_module *module = load(text);
    enum ptx_result result;

    world_message[0] = '\0';
    result = ptx_run(ptx_kernel_at(module, 0), launch, world_message, sizeof world_message);
    ptx_unload(module);
    return result;
}

/* s[t] = t; out[t] = s[neighbour], with or without a barrier in between. */
#define NEIGHBOUR(barrier, step)                                                                   \
    KERNEL(".shared .b32 s[128]; .reg .b32 %t, %n, %a, %v; .reg .b64 %g; mov.u32 %t, %tid.x;\n"    \
           "mov.u32 %a, s; mad.lo.u32 %n, %t, 4, %a; st.shared.u32 [%n], %t;\n" barrier            \
           "add.u32 %n, %t, " step "; and.b32 %n, %n, 127; mad.lo.u32 %n, %n, 4, %a;\n"            \
           "ld.shared.u32 %v, [%n]; mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g;\n"               \
           "st.global.u32 [%g], %v;\n")

static unsigned wrong_neighbours(const char *text, unsigned step)
{
    unsigned wrong = 0;

    memset(world.bytes, 0, 512);
    T_EQ(run_text(text, 1, 128), PTX_OK);
    for (unsigned i = 0; i < 128; i++)
        wrong += word(i) != (i + step) % 128;
    return wrong;
}

TEST(ptx_order, a_missing_barrier_shows)
{
    T_EQ(wrong_neighbours(NEIGHBOUR("bar.sync 0;", "1"), 1), 0);
    T_EQ(wrong_neighbours(NEIGHBOUR("bar.sync 0;", "127"), 127), 0);
    T_GT(wrong_neighbours(NEIGHBOUR("", "1"), 1), 0);     /* reads what a later thread writes, */
    T_GT(wrong_neighbours(NEIGHBOUR("", "127"), 127), 0); /* an earlier one, */
    T_GT(wrong_neighbours(NEIGHBOUR("", "32"), 32), 0);   /* one of a later warp, */
    T_GT(wrong_neighbours(NEIGHBOUR("", "96"), 96), 0);   /* of an earlier one */
}

TEST(ptx_order, the_order_is_the_same_in_each_run)
{
    static unsigned char first[512];

    wrong_neighbours(NEIGHBOUR("", "1"), 1);
    memcpy(first, world.bytes, sizeof first);
    for (int i = 0; i < 3; i++) {
        wrong_neighbours(NEIGHBOUR("", "1"), 1);
        T_EQ(memcmp(first, world.bytes, sizeof first), 0);
    }
}

/* Every thread takes a lock, adds to a word without an atomic, and lets go. */
TEST(ptx_order, locks)
{
    T_EQ(run_text(
             KERNEL(".reg .b32 %o, %v; .reg .pred %p;\n"
                    "L: atom.global.cas.b32 %o, [%out], 0, 1; setp.ne.u32 %p, %o, 0; @%p bra L;\n"
                    "membar.gl; ld.volatile.global.u32 %v, [%out+4]; add.u32 %v, %v, 1;\n"
                    "st.volatile.global.u32 [%out+4], %v; membar.gl;\n"
                    "atom.global.exch.b32 %o, [%out], 0;\n"),
             4, 64),
         PTX_OK);
    T_EQ(word(1), 256);
}

/* Polled with an addition of nothing, by a block for one behind it in the grid. */
TEST(ptx_order, a_block_may_wait_for_a_later_one)
{
    T_EQ(run_text(KERNEL(".reg .b32 %c, %v; .reg .pred %p, %q; mov.u32 %c, %ctaid.x;\n"
                         "setp.eq.u32 %q, %c, 3; @%q bra SET;\n"
                         "L: atom.global.add.u32 %v, [%out], 0; setp.eq.u32 %p, %v, 0; @%p bra L;\n"
                         "red.global.add.u32 [%out+4], 1; ret;\n"
                         "SET: red.global.add.u32 [%out], 1;\n"),
                  4, 32),
         PTX_OK);
    T_EQ(word(1), 96);
}

/* Converged threads see each other; those of another branch are not among them. */
TEST(ptx_order, activemask)
{
    T_EQ(run_text(KERNEL(".reg .b32 %t, %v; .reg .pred %q; .reg .b64 %g; mov.u32 %t, %tid.x;\n"
                         "setp.lt.u32 %q, %t, 8; @%q bra LOW; activemask.b32 %v; bra END;\n"
                         "LOW: activemask.b32 %v;\n"
                         "END: mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g;\n"
                         "st.global.u32 [%g], %v;\n"),
                  1, 32),
         PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), i < 8 ? 0xff : 0xffffff00);
}

/* ---- grids that meet ---- */

/* The grid's own barrier: adds to a word of the workspace and waits until all blocks have, three
 * times; between them block i adds to word i what block i + 1 has in its word. */
static const char meeting[] = KERNEL(
    ".reg .b32 %h, %l, %c, %n, %v, %w, %i, %m; .reg .b64 %s, %x, %g, %o; .reg .pred %p;\n"
    "mov.u32 %h, %envreg1; mov.u32 %l, %envreg2; cvt.u64.u32 %s, %h; shl.b64 %s, %s, 32;\n"
    "cvt.u64.u32 %x, %l; or.b64 %s, %s, %x; mov.u32 %c, %ctaid.x; mov.u32 %n, %nctaid.x;\n"
    "mul.wide.u32 %g, %c, 4; add.u64 %g, %out, %g; add.u32 %v, %c, 1; st.global.u32 [%g], %v;\n"
    "add.u32 %w, %c, 1; rem.u32 %w, %w, %n; mul.wide.u32 %o, %w, 4; add.u64 %o, %out, %o;\n"
    "mov.u32 %i, 0; mov.u32 %m, 0;\n"
    "R: add.u32 %m, %m, %n; membar.gl; atom.add.u32 %v, [%s+4], 1;\n"
    "L: ld.volatile.u32 %v, [%s+4]; setp.lt.u32 %p, %v, %m; @%p bra L; membar.gl;\n"
    "and.b32 %w, %i, 1; setp.eq.u32 %p, %w, 1; @%p bra PUT;\n"
    "ld.volatile.global.u32 %h, [%o]; bra NEXT;\n"
    "PUT: ld.global.u32 %v, [%g]; add.u32 %v, %v, %h; st.volatile.global.u32 [%g], %v;\n"
    "NEXT: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 2; @%p bra R;\n");

TEST(ptx_order, cooperative_grids_meet)
{
    const uint64_t params[] = {WORLD_BASE};
    struct ptx_launch launch = launch_of(200, 1, params);

    launch.cooperative = true;
    T_EQ(run_launch(meeting, &launch), PTX_OK);
    for (unsigned i = 0; i < 200; i++)
        T_EQ(word(i), i + 1 + (i + 1) % 200 + 1);
}

/* cooperative_groups takes zero for "this grid cannot meet". */
TEST(ptx_order, only_a_cooperative_grid_has_a_workspace)
{
    T_EQ(run_text(KERNEL(".reg .b32 %v; mov.u32 %v, %envreg1; st.global.u32 [%out], %v;\n"
                         "mov.u32 %v, %envreg2; st.global.u32 [%out+4], %v;\n"),
                  1, 1),
         PTX_OK);
    T_EQ(wide(0), 0);
}

/* Rank and size in clusters of 2 x 2 blocks; the ranks of a cluster are added up behind its
 * barrier, by each of its blocks. */
TEST(ptx_order, clusters)
{
    const uint64_t params[] = {WORLD_BASE};
    struct ptx_launch launch = launch_of(4, 32, params);

    launch.grid[1] = 2;
    launch.cluster[0] = launch.cluster[1] = 2;
    launch.cluster[2] = 1;
    T_EQ(run_launch(
             KERNEL(".reg .b32 %k, %c, %x, %y, %v; .reg .b64 %g, %s; .reg .pred %q;\n"
                    "mov.u32 %k, %cluster_ctarank; mov.u32 %c, %clusterid.x;\n"
                    "mul.wide.u32 %s, %c, 4; add.u64 %s, %out, %s; mov.u32 %x, %tid.x;\n"
                    "setp.ne.u32 %q, %x, 0; @%q bra M; red.global.add.u32 [%s], %k;\n"
                    "M: barrier.cluster.arrive; barrier.cluster.wait;\n"
                    "ld.volatile.global.u32 %v, [%s]; @%q ret;\n"
                    "mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mad.lo.u32 %x, %y, 4, %x;\n"
                    "mul.wide.u32 %g, %x, 16; add.u64 %g, %out, %g; st.global.u32 [%g+64], %v;\n"
                    "st.global.u32 [%g+68], %k; mov.u32 %v, %cluster_nctarank;\n"
                    "st.global.u32 [%g+72], %v; mov.u32 %v, %nclusterid.x;\n"
                    "st.global.u32 [%g+76], %v;\n"),
             &launch),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++) {
        T_EQ(word(16 + 4 * i), 6);
        T_EQ(word(16 + 4 * i + 1), i % 2 + i / 4 * 2);
        T_EQ(word(16 + 4 * i + 2), 4);
        T_EQ(word(16 + 4 * i + 3), 2);
    }
}

/* ---- many blocks ---- */

/* Long enough that threads of the host share the grid. */
TEST(ptx_order, blocks_of_a_large_grid)
{
    T_EQ(run_text(KERNEL(".reg .b32 %i, %v; .reg .pred %p; mov.u32 %i, 200;\n"
                         "L: sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;\n"
                         "red.global.add.u32 [%out], 1;\n"),
                  500, 128),
         PTX_OK);
    T_EQ(word(0), 500 * 128);
}

/* Blocks from 300 on fail, the earlier in the grid the later. */
TEST(ptx_order, the_first_block_that_fails_is_told_of)
{
    for (int i = 0; i < 5; i++) {
        T_EQ(run_text(KERNEL(".reg .b32 %c, %i; .reg .pred %p; mov.u32 %c, %ctaid.x;\n"
                             "sub.u32 %i, 2000, %c;\n"
                             "L: sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;\n"
                             "setp.ge.u32 %p, %c, 300; @%p trap;\n"),
                      1000, 64),
             PTX_TRAP);
        T_STR_HAS(world_message, "block 300,0,0 thread 0,0,0");
    }
}

/* The others wait for the one that fails. */
TEST(ptx_order, a_failure_ends_those_who_wait)
{
    const uint64_t params[] = {WORLD_BASE};
    struct ptx_launch launch = launch_of(8, 32, params);

    launch.cooperative = true;
    T_EQ(run_launch(KERNEL(".reg .b32 %c, %v; .reg .pred %p; mov.u32 %c, %ctaid.x;\n"
                           "setp.eq.u32 %p, %c, 5; @%p trap;\n"
                           "L: ld.volatile.global.u32 %v, [%out]; setp.eq.u32 %p, %v, 0;\n"
                           "@%p bra L;\n"),
                    &launch),
         PTX_TRAP);
    T_STR_HAS(world_message, "block 5,0,0");
}
