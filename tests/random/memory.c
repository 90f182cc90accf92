/* memory.c: memory that does not come from cuMemAlloc: from pools in stream order, managed, and the
 * host's own. Each operation lets go of all it has made. */
#include "tests/random/lane.h"

#define PIECES      4
#define PIECE_BYTES 1024
#define HOST_BYTES  8192

/* ---- pools ---- */

static void pool_attributes(struct lane *lane, CUmemoryPool pool)
{
    static const CUmemPool_attribute switches[] = {
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES};
    CUmemPool_attribute which = switches[lane_draw(lane, 3)];
    cuuint64_t threshold = lane_draw(lane, 2) ? UINT64_MAX : 0, one = 1;
    int on = (int)lane_draw(lane, 2);

    lane_answer(lane, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    threshold = 1;
    lane_answer(lane, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    lane_count(lane, threshold);
    lane_answer(lane, cuMemPoolSetAttribute(pool, which, &on));
    on = 7;
    lane_answer(lane, cuMemPoolGetAttribute(pool, which, &on));
    lane_count(lane, (uint64_t)on);
    /* How much is reserved may be set to zero only. */
    lane_answer(lane, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one));
    lane_answer(lane, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &one));
}

static void pool_access(struct lane *lane, CUmemoryPool pool)
{
    CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = lane->world->device};
    CUmemAccessDesc access = {.location = device, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags = 0;

    lane_answer(lane, cuMemPoolSetAccess(pool, &access, 1));
    lane_answer(lane, cuMemPoolGetAccess(&flags, pool, &device));
    lane_count(lane, flags);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE; /* not the device it lies on */
    lane_answer(lane, cuMemPoolSetAccess(pool, &access, 1));
}

static void piece_free(struct lane *lane, CUdeviceptr *piece, CUstream side)
{
    switch (lane_draw(lane, 4)) {
    case 0:
        MUST(cuStreamSynchronize(lane->stream)); /* nobody else waits */
        lane_answer(lane, cuMemFree_v2(*piece));
        break;
    case 1:
        scratch_order(lane->stream, side);
        lane_answer(lane, cuMemFreeAsync(*piece, side));
        break;
    default: lane_answer(lane, cuMemFreeAsync(*piece, lane->stream)); break;
    }
    *piece = 0;
}

static void piece_new(struct lane *lane, CUdeviceptr *piece, CUmemoryPool pool)
{
    size_t bytes = PIECE_BYTES << (4 * lane_draw(lane, 3));
    CUmemoryPool found = NULL;

    if (pool)
        MUST(cuMemAllocFromPoolAsync(piece, bytes, pool, lane->stream));
    else
        MUST(cuMemAllocAsync(piece, bytes, lane->stream));
    MUST(cuMemsetD32Async(*piece, (unsigned)lane_draw(lane, 100), PIECE_BYTES / 4, lane->stream));
    lane_answer(lane, cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, *piece));
    if (pool)
        lane_count(lane, found == pool);
}

static void pieces_play(struct lane *lane, CUmemoryPool pool, CUdeviceptr *piece, CUstream side)
{
    for (uint64_t i = 2 + lane_draw(lane, 8); i-- > 0;) {
        CUdeviceptr *one = &piece[lane_draw(lane, PIECES)],
                    *other = &piece[lane_draw(lane, PIECES)];

        if (!*one)
            piece_new(lane, one, lane_draw(lane, 4) ? pool : NULL);
        if (!*other)
            piece_new(lane, other, pool);
        scratch_launch(lane, lane->stream, *one, *other);
        if (lane_draw(lane, 2))
            scratch_see(lane, *one, 128);
        if (lane_draw(lane, 2))
            piece_free(lane, one, side);
    }
}

static void pool_mistakes(struct lane *lane, CUmemoryPool pool)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 99}};
    CUmemoryPool standard, nothing = NULL;
    CUdeviceptr at = 0;

    MUST(cuDeviceGetDefaultMemPool(&standard, lane->world->device));
    lane_answer(lane, cuMemPoolDestroy(standard));
    lane_answer(lane, cuMemAllocFromPoolAsync(&at, 0, pool, lane->stream));
    lane_answer(lane, cuMemPoolCreate(&nothing, &props));
    lane_answer(lane, cuMemFreeAsync(0, lane->stream));
}

void memory_pool_play(struct lane *lane)
{
    CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, lane->world->device},
    };
    CUdeviceptr piece[PIECES] = {0};
    CUmemoryPool pool;
    CUstream side = scratch_stream();
    cuuint64_t used = 1;
    bool early = lane_draw(lane, 3) == 0; /* what was allocated keeps the pool */

    MUST(cuMemPoolCreate(&pool, &props));
    pool_attributes(lane, pool);
    pool_access(lane, pool);
    if (lane_draw(lane, 3) == 0)
        pool_mistakes(lane, pool);
    pieces_play(lane, pool, piece, side);
    if (lane_draw(lane, 2))
        lane_answer(lane, cuMemPoolTrimTo(pool, lane_draw(lane, 2) ? 0 : 1 << 20));
    if (early)
        lane_answer(lane, cuMemPoolDestroy(pool));
    for (unsigned i = 0; i < PIECES; i++)
        if (piece[i])
            piece_free(lane, &piece[i], side);
    if (!early) {
        MUST(cuStreamSynchronize(side));
        MUST(cuStreamSynchronize(lane->stream));
        lane_answer(lane, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
        lane_count(lane, used);
        lane_answer(lane, cuMemPoolDestroy(pool));
    }
    lane_answer(lane, cuStreamDestroy_v2(side));
}

/* ---- managed ---- */

static void advise(struct lane *lane, CUdeviceptr at)
{
    static const CUmem_advise advices[] = {
        CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_READ_MOSTLY,
        CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_ACCESSED_BY};
    CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = lane->world->device};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    int mostly = 7;

    lane_answer(lane, cuMemAdvise_v2(at, HOST_BYTES, advices[lane_draw(lane, 4)], device));
    lane_answer(lane, cuMemPrefetchAsync_v2(at, HOST_BYTES, lane_draw(lane, 2) ? device : host, 0,
                                            lane->stream));
    lane_answer(lane, cuMemRangeGetAttribute(&mostly, sizeof mostly,
                                             CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, HOST_BYTES));
    lane_count(lane, (uint64_t)mostly);
}

/* The device and the host write and read in turn; between them the stream is waited for. */
void memory_managed_play(struct lane *lane)
{
    unsigned managed = 0, flags = lane_draw(lane, 3) ? CU_MEM_ATTACH_GLOBAL : CU_MEM_ATTACH_HOST;
    CUdeviceptr at, nothing = 0;
    uint32_t *host;

    MUST(cuMemAllocManaged(&at, HOST_BYTES, flags));
    host = (uint32_t *)(uintptr_t)at;
    lane_answer(lane, cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at));
    lane_count(lane, managed);
    if (flags == CU_MEM_ATTACH_HOST || lane_draw(lane, 3) == 0)
        lane_answer(lane, cuStreamAttachMemAsync(lane->stream, at, 0, CU_MEM_ATTACH_SINGLE));
    MUST(cuMemsetD32Async(at, 5, HOST_BYTES / 4, lane->stream));
    for (uint64_t i = lane_draw(lane, 4); i-- > 0;) {
        if (lane_draw(lane, 2))
            advise(lane, at);
        scratch_launch(lane, lane->stream, at, at + SCRATCH_STEP);
        MUST(cuStreamSynchronize(lane->stream));
        lane_observe(lane, host, 2 * SCRATCH_STEP);
        host[lane_draw(lane, 32)] += 3;
        host[SCRATCH_STEP / 4 + lane_draw(lane, 32)] ^= (uint32_t)i;
    }
    MUST(cuStreamSynchronize(lane->stream));
    lane_answer(lane, cuMemAllocManaged(&nothing, 64, 0));
    lane_answer(lane, cuMemFree_v2(at));
}

/* ---- the host's ---- */

/* The device sees and changes it through an address of its own, the host after waiting. */
static void host_use(struct lane *lane, uint32_t *host)
{
    CUdeviceptr at = 0, buffer = scratch_new(lane, HOST_BYTES, 3);

    for (unsigned i = 0; i < HOST_BYTES / 4; i++)
        host[i] = i;
    MUST(cuMemHostGetDevicePointer_v2(&at, host, 0));
    if (lane_draw(lane, 2))
        lane_answer(lane, cuMemcpyHtoDAsync_v2(buffer, host, HOST_BYTES, lane->stream));
    else
        lane_answer(lane, cuMemcpyAsync(buffer, at, HOST_BYTES, lane->stream));
    scratch_launch(lane, lane->stream, at, buffer);
    scratch_launch(lane, lane->stream, buffer + 1024, at);
    lane_answer(lane,
                cuMemsetD8Async(at + 512, (unsigned char)lane_draw(lane, 9), 64, lane->stream));
    lane_answer(lane, cuMemcpyDtoHAsync_v2(host + 512, buffer + 1024, 1024, lane->stream));
    MUST(cuStreamSynchronize(lane->stream));
    lane_observe(lane, host, HOST_BYTES);
    scratch_free(lane, buffer);
}

static void host_allocated(struct lane *lane)
{
    unsigned flags = 0,
             wanted = lane_draw(lane, 2) ? CU_MEMHOSTALLOC_DEVICEMAP : CU_MEMHOSTALLOC_PORTABLE;
    void *host;

    if (lane_draw(lane, 2))
        MUST(cuMemAllocHost_v2(&host, HOST_BYTES));
    else
        MUST(cuMemHostAlloc(&host, HOST_BYTES, wanted));
    lane_answer(lane, cuMemHostGetFlags(&flags, host));
    lane_count(lane, flags);
    host_use(lane, host);
    lane_answer(lane, cuMemHostRegister_v2(host, HOST_BYTES, 0));
    lane_answer(lane, cuMemHostUnregister(host));
    lane_answer(lane, cuMemFreeHost(host));
}

static void host_registered(struct lane *lane)
{
    void *host = aligned_alloc(4096, HOST_BYTES);

    if (!host)
        app_fail("aligned_alloc", "out of memory");
    lane_answer(lane, cuMemHostUnregister(host));
    MUST(cuMemHostRegister_v2(host, HOST_BYTES, CU_MEMHOSTREGISTER_DEVICEMAP));
    lane_answer(lane, cuMemHostRegister_v2(host, HOST_BYTES, CU_MEMHOSTREGISTER_DEVICEMAP));
    lane_answer(lane, cuMemFreeHost(host));
    host_use(lane, host);
    lane_answer(lane, cuMemHostUnregister(host));
    free(host);
}

void memory_host_play(struct lane *lane)
{
    if (lane_draw(lane, 2))
        host_allocated(lane);
    else
        host_registered(lane);
}
