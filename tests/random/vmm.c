/* vmm.c: a lane's own virtual memory: ranges that it reserves, physical memory that it makes, maps,
 * maps a second time, unmaps and releases, in any order that is allowed. */
#include "tests/random/lane.h"

static CUmemAllocationProp properties(const struct lane *lane)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = lane->world->device},
    };
}

static void open_access(const struct lane *lane, CUdeviceptr at, size_t bytes)
{
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = lane->world->device},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };

    MUST(cuMemSetAccess(at, bytes, &access, 1));
}

/* What was written through one address is read through the other. */
static void use(struct lane *lane, CUdeviceptr at, CUdeviceptr again)
{
    uint32_t words[8] = {0};

    MUST(cuMemsetD32Async(at + 64, (unsigned)lane_draw(lane, 1000), 4, lane->stream));
    lane_answer(lane, cuMemcpyDtoHAsync_v2(words, again + 64, sizeof words / 2, lane->stream));
    lane_answer(lane, cuStreamSynchronize(lane->stream));
    lane_observe(lane, words, sizeof words);
}

static void wrong_calls(struct lane *lane, CUdeviceptr range, size_t granule,
                        CUmemGenericAllocationHandle memory)
{
    lane_answer(lane, cuMemMap(range, granule, 1, memory, 0));
    lane_answer(lane, cuMemMap(range + 1, granule, 0, memory, 0));
    lane_answer(lane, cuMemUnmap(range, granule / 2));
}

void vmm_play(struct lane *lane)
{
    CUmemAllocationProp wanted = properties(lane);
    CUmemGenericAllocationHandle memory;
    CUdeviceptr range;
    size_t granule;
    bool early = lane_draw(lane, 2), twice = lane_draw(lane, 2);

    MUST(cuMemGetAllocationGranularity(&granule, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    MUST(cuMemAddressReserve(&range, 3 * granule, 0, 0, 0));
    MUST(cuMemCreate(&memory, granule, &wanted, 0));
    if (lane_draw(lane, 3) == 0)
        wrong_calls(lane, range, granule, memory);
    MUST(cuMemMap(range + granule, granule, 0, memory, 0));
    open_access(lane, range + granule, granule);
    if (twice) {
        MUST(cuMemMap(range, granule, 0, memory, 0));
        open_access(lane, range, granule);
    }
    if (early)
        lane_answer(lane, cuMemRelease(memory)); /* the mappings keep it */
    MUST(cuMemsetD8Async(range + granule, 1, 256, lane->stream));
    use(lane, range + granule, twice ? range : range + granule);
    lane_answer(lane, cuMemUnmap(range + granule, granule));
    if (twice)
        lane_answer(lane, cuMemUnmap(range, granule));
    if (!early)
        lane_answer(lane, cuMemRelease(memory));
    lane_answer(lane, cuMemAddressFree(range, 3 * granule));
}
