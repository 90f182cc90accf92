/* managed_memory: a list that the CPU builds and the device walks through the same pointers, and a
 * managed variable that both count in. */
#include "tests/apps/cuda_app.h"

static const unsigned length = 200, block_size = 64;

struct item {
    item *next;
    unsigned value, visits;
};

__managed__ unsigned walks;
__managed__ unsigned long long sums[2] = {1000, 2000};

__global__ void walk(item *first, unsigned add)
{
    unsigned long long sum = 0;

    for (item *i = first; i; i = i->next) {
        i->value += add;
        i->visits++;
        sum += i->value;
    }
    sums[add % 2] += sum;
    walks++;
}

__global__ void scale(item *items, unsigned factor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < length)
        items[i].value *= factor;
}

static void check_attributes(const item *items)
{
    cudaPointerAttributes attributes;

    CALL(cudaPointerGetAttributes(&attributes, items + 1));
    expect_same("memory type", (int)attributes.type, (int)cudaMemoryTypeManaged);
    if (attributes.devicePointer != items + 1 || attributes.hostPointer != items + 1)
        app_fail("cudaPointerGetAttributes", "device and host do not share the pointer");
}

/* Only advice: nothing that the program could see depends on it. */
static void advise(item *items, int device)
{
    cudaMemLocation here = {};

    here.type = cudaMemLocationTypeDevice;
    here.id = device;
    CALL(cudaMemAdvise(items, length * sizeof *items, cudaMemAdviseSetPreferredLocation, here));
    CALL(cudaMemPrefetchAsync(items, length * sizeof *items, here, 0, 0));
}

int main(int argc, char **argv)
{
    app_options options = {};
    unsigned long long want[2] = {1000, 2000};
    int device, concurrent;
    item *items;

    options.steps = 3;
    options.seed = 1;
    app_parse(argc, argv, "memory that the CPU and the device use by the same pointers", &options);
    CALL(cudaGetDevice(&device));
    CALL(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
    CALL(cudaMallocManaged(&items, length * sizeof *items));
    check_attributes(items);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        unsigned add = (unsigned)(app_random(&random) % 100), values[length], reached = 0;
        for (unsigned i = 0; i < length; i++) {
            values[i] = (unsigned)(app_random(&random) % 1000);
            items[i] = {i + 1 < length ? &items[i + 1] : NULL, values[i], 0};
        }
        if (concurrent)
            advise(items, device);
        scale<<<(length + block_size - 1) / block_size, block_size>>>(items, 3);
        CALL_KERNEL("scale");
        walk<<<1, 1>>>(items, add);
        CALL_KERNEL("walk");
        CALL(cudaDeviceSynchronize());
        for (item *i = items; i; i = i->next, reached++) {
            expect_same("value", i->value, values[reached] * 3 + add);
            expect_same("visits", i->visits, 1u);
            want[add % 2] += i->value;
        }
        expect_same("items", reached, length);
        expect_same("sums", (unsigned long long *)sums, want, 2);
        checksum = app_checksum(checksum, want, sizeof want);
    }
    expect_same("walks", (unsigned)walks, (unsigned)options.steps);
    CALL(cudaFree(items));
    return cuda_finish(checksum);
}
