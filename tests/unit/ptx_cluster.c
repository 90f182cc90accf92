/* Shared memory of a cluster's blocks: mapa, getctarank, accesses through shared::cluster and
 * generic addresses, isspacep (PTX ISA). */
#include "ptx_world.h"

/* A kernel over clusters of four blocks: %r the own rank, %n the next block's, %a the address of s
 * in the own block, %b in the next; s holds 100 + rank. The blocks have met, and meet at the end.
 */
#define CLUSTER(body)                                                                              \
    KERNEL(".shared .align 16 .b32 pad[4]; .shared .align 16 .b32 s[4];\n"                         \
           ".reg .b32 %r, %n, %a, %b, %v, %w, %c; .reg .b64 %g, %ga, %gb; .reg .pred %p, %q;\n"    \
           "mov.u32 %r, %cluster_ctarank; add.u32 %n, %r, 1; and.b32 %n, %n, 3;\n"                 \
           "mov.u32 %a, s; add.u32 %v, %r, 100; st.shared.u32 [s], %v; st.shared.u32 [s+4], 0;\n"  \
           "mov.u32 %c, %ctaid.x; mul.wide.u32 %g, %c, 16; add.u64 %g, %out, %g;\n"                \
           "mapa.shared::cluster.u32 %b, %a, %n;\n"                                                \
           "barrier.cluster.arrive; barrier.cluster.wait;\n" body "\n"                             \
           "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n")

static enum ptx_result run_clusters(const char *text)
{
    const uint64_t params[] = {WORLD_BASE};
    struct ptx_module *module = load(text);
    const struct ptx_launch launch = {.grid = {8, 1, 1},
                                      .block = {1, 1, 1},
                                      .cluster = {4, 1, 1},
                                      .params = (const unsigned char *)params,
                                      .memory = {world_span, world_generation, &world}};
    enum ptx_result result;

    memset(world.bytes, 0, 256);
    result = ptx_run(ptx_kernel_at(module, 0), &launch, world_message, sizeof world_message);
    ptx_unload(module);
    return result;
}

TEST(ptx_cluster, loads_of_another_block)
{
    T_EQ(run_clusters(CLUSTER("ld.shared::cluster.u32 %v, [%b]; st.global.u32 [%g], %v;\n"
                              "ld.shared::cluster.u32 %v, [%a]; st.global.u32 [%g+4], %v;\n"
                              "mapa.shared::cluster.u32 %w, s, %n;\n"
                              "ld.shared::cluster.u32 %v, [%w]; st.global.u32 [%g+8], %v;\n"
                              "mapa.shared::cluster.u32 %w, %a, %r;\n"
                              "ld.shared.u32 %v, [%w]; st.global.u32 [%g+12], %v;\n")),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++) {
        T_EQ(word(4 * i), 100 + (i + 1) % 4);
        T_EQ(word(4 * i + 1), 100 + i % 4);
        T_EQ(word(4 * i + 2), 100 + (i + 1) % 4);
        T_EQ(word(4 * i + 3), 100 + i % 4);
    }
}

TEST(ptx_cluster, generic_addresses_of_another_block)
{
    T_EQ(run_clusters(CLUSTER("cvta.shared.u64 %ga, s; mapa.u64 %gb, %ga, %n;\n"
                              "ld.u32 %v, [%gb]; st.global.u32 [%g], %v;\n"
                              "cvta.to.shared::cluster.u64 %ga, %gb; cvt.u32.u64 %w, %ga;\n"
                              "ld.shared::cluster.u32 %v, [%w]; st.global.u32 [%g+4], %v;\n"
                              "cvt.u64.u32 %ga, %b; cvta.shared::cluster.u64 %ga, %ga;\n"
                              "ld.u32 %v, [%ga]; st.global.u32 [%g+8], %v;\n")),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < 3; k++)
            T_EQ(word(4 * i + k), 100 + (i + 1) % 4);
    }
}

/* Each block adds its number to the next one's second word, and stores behind it. */
TEST(ptx_cluster, stores_and_atomics_in_another_block)
{
    T_EQ(run_clusters(CLUSTER("red.shared::cluster.add.u32 [%b+4], %r;\n"
                              "atom.shared::cluster.add.u32 %v, [%b+4], 10;\n"
                              "st.shared::cluster.v2.u32 [%b+8], {%r, %n};\n"
                              "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
                              "ld.shared.u32 %v, [s+4]; st.global.u32 [%g], %v;\n"
                              "ld.shared.v2.u32 {%v, %w}, [s+8];\n"
                              "st.global.v2.u32 [%g+8], {%v, %w};\n")),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++) {
        T_EQ(word(4 * i), (i + 3) % 4 + 10);
        T_EQ(word(4 * i + 2), (i + 3) % 4);
        T_EQ(word(4 * i + 3), i % 4);
    }
}

TEST(ptx_cluster, whose_an_address_is)
{
    T_EQ(run_clusters(CLUSTER("getctarank.shared::cluster.u32 %v, %b; st.global.u32 [%g], %v;\n"
                              "getctarank.shared::cluster.u32 %v, %a; st.global.u32 [%g+4], %v;\n"
                              "cvta.shared.u64 %ga, s; mapa.u64 %gb, %ga, %n;\n"
                              "getctarank.u64 %v, %gb; st.global.u32 [%g+8], %v;\n"
                              "isspacep.shared %p, %gb; selp.u32 %v, 1, 0, %p;\n"
                              "isspacep.shared::cluster %q, %gb; selp.u32 %w, 2, 0, %q;\n"
                              "add.u32 %v, %v, %w; isspacep.shared::cta %p, %ga;\n"
                              "selp.u32 %w, 4, 0, %p; add.u32 %v, %v, %w;\n"
                              "isspacep.shared::cluster %p, %out; selp.u32 %w, 8, 0, %p;\n"
                              "add.u32 %v, %v, %w; st.global.u32 [%g+12], %v;\n")),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++) {
        T_EQ(word(4 * i), (i + 1) % 4);
        T_EQ(word(4 * i + 1), i % 4);
        T_EQ(word(4 * i + 2), (i + 1) % 4);
        T_EQ(word(4 * i + 3), 6);
    }
}

/* Barriers in another block's shared memory. */
TEST(ptx_cluster, arrivals_at_another_block)
{
    T_EQ(run_clusters(
             CLUSTER("mbarrier.init.shared::cta.b64 [s+8], 1;\n"
                     "barrier.cluster.arrive; barrier.cluster.wait;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b+8];\n"
                     "L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [s+8], 0;\n"
                     "@!%p bra L; st.global.u32 [%g], 1;\n")),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++)
        T_EQ(word(4 * i), 1);
}

TEST(ptx_cluster, places_that_are_not_there)
{
    T_EQ(run_clusters(CLUSTER("mapa.shared::cluster.u32 %b, %a, 4;\n"
                              "ld.shared::cluster.u32 %v, [%b];\n")),
         PTX_ILLEGAL_ADDRESS);
    T_EQ(run_clusters(CLUSTER("ld.shared::cluster.u32 %v, [%b+16];\n")), PTX_ILLEGAL_ADDRESS);
    T_EQ(run_clusters(CLUSTER("st.shared::cluster.u32 [%b+2], %v;\n")), PTX_MISALIGNED);
    /* the block's own window does not hold the others' */
    T_EQ(run_clusters(CLUSTER("setp.eq.u32 %p, %r, 0; @!%p bra E; ld.shared.u32 %v, [%b]; E:\n")),
         PTX_ILLEGAL_ADDRESS);
}

/* A block's shared memory is gone with the block. */
TEST(ptx_cluster, a_block_that_has_ended)
{
    T_EQ(run_clusters(CLUSTER("setp.eq.u32 %p, %r, 1; @%p ret;\n"
                              "barrier.cluster.arrive; barrier.cluster.wait;\n"
                              "setp.eq.u32 %p, %r, 0; @!%p bra E;\n"
                              "ld.shared::cluster.u32 %v, [%b]; E:\n")),
         PTX_ILLEGAL_ADDRESS);
}
