/* core_tables.c: the parts under the execs: the heap's accounts, uthash with failing memory, the
 * hash function, layouts, lock ranks. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* This file has its own checked locks, whatever the build does. */
#define VR_DEBUG_LOCKS 1
#include "core/lock.c"

#include "tests/unit/core_world.h"

/* ---- the heap ---- */

TEST(heap, counts_blocks_and_bytes)
{
    struct vr_heap heap = {0};
    void *a = vr_alloc(&heap, 100), *b = vr_alloc(&heap, 28);
    static const char zeros[100];

    T_MEM_EQ(a, zeros, 100);
    T_EQ(heap.bytes, 128);
    T_EQ(heap.blocks, 2);
    vr_free(&heap, a, 100);
    vr_free(&heap, NULL, 50);
    T_EQ(heap.bytes, 28);
    vr_free(&heap, b, 28);
    T_EQ(heap.blocks, 0);
}

TEST(heap, nth_allocation_fails_once)
{
    struct vr_heap heap = {.fail_at = 2};
    void *a = vr_alloc(&heap, 1), *b = vr_alloc(&heap, 1), *c = vr_alloc(&heap, 1);

    T_NOT_NULL(a);
    T_NULL(b);
    T_NOT_NULL(c);
    vr_free(&heap, a, 1);
    vr_free(&heap, c, 1);
}

/* ---- tables ---- */

struct element {
    vr_handle key;
    UT_hash_handle hh;
};

/* Adds 1..count, the nth allocation failing; returns whether one failed. Whatever does not get in
 * is nowhere, whatever is in is found. */
static bool fill(uint64_t nth, vr_handle count)
{
    static struct element elements[1000];
    struct vr_heap heap_ = {.fail_at = nth}, *heap = &heap_;
    struct element *table = NULL, *found, *next;
    size_t in = 0;
    bool failed;

    for (vr_handle key = 1; key <= count; key++) {
        struct element *element = &elements[key - 1];
        element->key = key;
        HASH_ADD(hh, table, key, sizeof element->key, element);
        HASH_FIND(hh, table, &key, sizeof key, found);
        T_PTR_EQ(found, vr_hash_added(element) ? element : NULL);
        in += vr_hash_added(element);
    }
    failed = heap->fail_at == 0;
    T_EQ(HASH_COUNT(table), in);
    T_GE(in, failed ? count - 1 : count);
    HASH_ITER (hh, table, found, next) {
        HASH_DEL(table, found);
        in--;
    }
    T_EQ(in, 0);
    T_EQ(heap->blocks, 0);
    T_EQ(heap->bytes, 0);
    return failed;
}

TEST(hash, failed_add_leaves_nothing_half_linked)
{
    uint64_t nth = 1;

    while (fill(nth, 1000))
        nth++;
    T_GT(nth, 3); /* the table, its buckets, their expansions */
}

/* Handles are addresses: aligned, and evenly spaced. uthash uses the low bits, the shards the high
 * ones. Filling 1024 buckets with 1024 keys, an ideal hash leaves about 377 empty and has few
 * above 6. */
TEST(hash, spreads_handles_of_any_stride)
{
    for (int stride = 8; stride <= 1 << 21; stride *= 2) {
        uint16_t low[1024] = {0}, shard[VR_SHARDS] = {0};
        int most = 0, most_shard = 0;
        for (uint64_t i = 0; i < 1024; i++) {
            vr_handle handle = 0x55d5c0de1000 + i * (uint64_t)stride;
            unsigned hash = vr_hash_bytes(&handle, sizeof handle);
            int in_low = ++low[hash % 1024];
            int in_shard = ++shard[hash >> (32 - VR_SHARD_BITS)];
            most = in_low > most ? in_low : most;
            most_shard = in_shard > most_shard ? in_shard : most_shard;
        }
        T_ASSERT(most <= 10, "stride %d: %d in one bucket", stride, most);
        T_ASSERT(most_shard <= 48, "stride %d: %d in one shard", stride, most_shard);
    }
}

/* ---- layouts ---- */

static struct vr_heap heap;
static struct vr_layouts layouts;

static const struct vr_layout *layout_of(vr_handle code, uint64_t generation)
{
    const struct vr_layout *layout = NULL;

    vr_layout_of(&layouts, &heap, &world_ops, (struct vr_code){code, VR_CODE_FUNCTION}, generation,
                 &layout);
    return layout;
}

TEST(layout, asked_once_and_shared_by_shape)
{
    const struct vr_layout *layout;

    vr_layouts_init(&layouts);
    layout = layout_of(CODE_MIXED, 1);
    T_NOT_NULL(layout);
    T_EQ(layout->count, 4);
    T_EQ(layout->extent, 29);
    T_MEM_EQ(layout->param, mixed_params, sizeof mixed_params);
    T_EQ(world.param_queries, 5);
    T_PTR_EQ(layout_of(CODE_MIXED, 1), layout);
    T_EQ(world.param_queries, 5);
    T_PTR_EQ(layout_of(CODE_MIXED + 0x10, 1), layout);
    T_ASSERT(layout_of(CODE_EIGHT, 1) != layout);
    T_NULL(vr_layouts_check(&layouts));
    vr_layouts_free(&layouts, &heap);
    T_EQ(heap.bytes, 0);
}

TEST(layout, no_parameters_is_a_layout_too)
{
    const struct vr_layout *layout;

    vr_layouts_init(&layouts);
    layout = layout_of(CODE_NONE, 1);
    T_NOT_NULL(layout);
    T_EQ(layout->count, 0);
    T_EQ(layout->extent, 0);
    T_PTR_EQ(layout_of(CODE_NONE + 0x10, 1), layout);
    vr_layouts_free(&layouts, &heap);
    T_EQ(heap.bytes, 0);
}

TEST(layout, refusal_is_remembered_until_the_generation_moves)
{
    vr_layouts_init(&layouts);
    T_NULL(layout_of(CODE_DUMB, 1));
    T_NULL(layout_of(CODE_DUMB, 1));
    T_EQ(world.param_queries, 1);
    T_NULL(layout_of(CODE_DUMB, 2));
    T_EQ(world.param_queries, 2);
    vr_layouts_free(&layouts, &heap);
}

/* A caller that began before the generation moved neither uses nor spoils what is known now. */
TEST(layout, older_generation)
{
    const struct vr_layout *layout;

    vr_layouts_init(&layouts);
    layout = layout_of(CODE_EIGHT, 2);
    world.layouts_silent = true;
    T_NULL(layout_of(CODE_EIGHT, 1));
    T_PTR_EQ(layout_of(CODE_EIGHT, 2), layout);
    world.layouts_silent = false;
    T_NOT_NULL(layout_of(CODE_MIXED, 1));
    T_EQ(world.param_queries, 9 + 1 + 5);
    T_NOT_NULL(layout_of(CODE_MIXED, 2));
    T_EQ(world.param_queries, 9 + 1 + 5 + 5);
    vr_layouts_free(&layouts, &heap);
    T_EQ(heap.bytes, 0);
}

static enum vr_status endless(struct vr_code code, size_t index, size_t *offset, size_t *size)
{
    *offset = index;
    *size = 1;
    return VR_OK;
}

static enum vr_status huge(struct vr_code code, size_t index, size_t *offset, size_t *size)
{
    *offset = index ? SIZE_MAX - 3 : 0;
    *size = 8;
    return index < 2 ? VR_OK : VR_NONE;
}

TEST(layout, nonsense_is_not_believed)
{
    struct vr_driver_ops ops = {.param_info = endless};
    const struct vr_layout *layout = NULL;

    vr_layouts_init(&layouts);
    T_EQ(vr_layout_of(&layouts, &heap, &ops, (struct vr_code){1, VR_CODE_FUNCTION}, 1, &layout),
         VR_REFUSED);
    ops.param_info = huge;
    T_EQ(vr_layout_of(&layouts, &heap, &ops, (struct vr_code){2, VR_CODE_FUNCTION}, 1, &layout),
         VR_REFUSED);
    T_NULL(layout);
    T_NULL(layout_of(CODE_LIES, 1));
    vr_layouts_free(&layouts, &heap);
    T_EQ(heap.bytes, 0);
}

/* ---- lock ranks ---- */

static struct vr_lock shard, pool;

static void in_order(void)
{
    vr_lock_take(&shard);
    vr_lock_take(&pool);
    vr_lock_drop(&pool);
    vr_lock_drop(&shard);
    vr_lock_take(&pool);
    vr_lock_drop(&pool);
}

static void against_order(void)
{
    vr_lock_take(&pool);
    vr_lock_take(&shard);
}

static void twice(void)
{
    vr_lock_take(&shard);
    vr_rank_taken(VR_RANK_SHARD);
}

/* The signal that `run` ends with in a process of its own; 0 for none. */
static int ends_with(void (*run)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        run();
        _exit(0);
    }
    T_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(lock, ranks_are_checked)
{
    vr_lock_init(&shard, VR_RANK_SHARD);
    vr_lock_init(&pool, VR_RANK_POOL);
    T_EQ(ends_with(in_order), 0);
    T_EQ(ends_with(against_order), SIGABRT);
    T_EQ(ends_with(twice), SIGABRT);
}
