/* grid_sync: a row of cells changes many times inside one cooperative launch; the whole grid waits
 * between two generations. The grid is as large as the device can hold at once, or as needed. */
#include "tests/apps/cuda_app.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

static const unsigned cells = 700, block_size = 64, generations = 20;

/* Ends in cells[generations % 2]; *changed counts the cells that changed in the last generation. */
__global__ void evolve(unsigned *even, unsigned *odd, unsigned count, unsigned *changed)
{
    cg::grid_group grid = cg::this_grid();
    unsigned *from = even, *to = odd;

    for (unsigned g = 0; g < generations; g++) {
        if (grid.thread_rank() == 0)
            *changed = 0;
        grid.sync();
        for (unsigned i = grid.thread_rank(); i < count; i += grid.size()) {
            unsigned left = from[(i + count - 1) % count], right = from[(i + 1) % count];
            to[i] = (left ^ (from[i] | right)) + g; /* a rule of the kind that makes chaos */
            if (to[i] != from[i])
                atomicAdd(changed, 1);
        }
        grid.sync();
        unsigned *kept = from;
        from = to;
        to = kept;
    }
}

static unsigned evolve_on_cpu(unsigned *now)
{
    unsigned next[cells], changed = 0;

    for (unsigned g = 0; g < generations; g++) {
        changed = 0;
        for (unsigned i = 0; i < cells; i++) {
            unsigned left = now[(i + cells - 1) % cells], right = now[(i + 1) % cells];
            next[i] = (left ^ (now[i] | right)) + g;
            changed += next[i] != now[i];
        }
        memcpy(now, next, sizeof next);
    }
    return changed;
}

static unsigned grid_size(void)
{
    unsigned wanted = (cells + block_size - 1) / block_size;
    int device, multiprocessors, blocks, cooperative;

    CALL(cudaGetDevice(&device));
    CALL(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    CALL(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, evolve, block_size, 0));
    expect_same("cooperative launch", cooperative, 1);
    unsigned most = (unsigned)(multiprocessors * blocks);
    if (most == 0)
        app_fail("cudaOccupancyMaxActiveBlocksPerMultiprocessor", "no block fits");
    return wanted < most ? wanted : most;
}

int main(int argc, char **argv)
{
    app_options options = {};
    unsigned want[cells], got[cells], got_changed;

    options.steps = 2;
    options.seed = 1;
    app_parse(argc, argv, "one cooperative launch whose grid waits for itself", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    unsigned blocks = grid_size();
    for (uint64_t step = 0; step < options.steps; step++) {
        for (unsigned &cell : want)
            cell = (unsigned)app_random(&random);
        unsigned *even = to_device(want, cells), *odd = device_array<unsigned>(cells);
        unsigned *changed = device_array<unsigned>(1), count = cells;
        void *arguments[] = {&even, &odd, &count, &changed};
        CALL(cudaLaunchCooperativeKernel((void *)evolve, dim3(blocks), dim3(block_size), arguments,
                                         0, 0));
        unsigned want_changed = evolve_on_cpu(want);
        from_device(got, generations % 2 ? odd : even, cells);
        from_device(&got_changed, changed, 1);
        expect_same("cells", got, want, cells);
        expect_same("changed", got_changed, want_changed);
        checksum = app_checksum(checksum, got, sizeof got);
        CALL(cudaFree(even));
        CALL(cudaFree(odd));
        CALL(cudaFree(changed));
    }
    return cuda_finish(checksum);
}
