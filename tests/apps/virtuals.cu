/* virtuals: objects with virtual functions made by `new` on the device, functions called through
 * pointers, recursion, a large switch, arrays of a thread's own and structs by value. */
#include "tests/apps/cuda_app.h"

static const unsigned count = 96, block_size = 32;

struct shape {
    __device__ virtual ~shape()
    {
    }
    __device__ virtual long long area() const = 0;
    __device__ virtual const char *name() const
    {
        return "shape";
    }
};

struct rectangle : shape {
    long long width, height;

    __device__ rectangle(long long w, long long h) : width(w), height(h)
    {
    }
    __device__ long long area() const override
    {
        return width * height;
    }
};

struct square final : rectangle {
    __device__ explicit square(long long side) : rectangle(side, side)
    {
    }
    __device__ const char *name() const override
    {
        return "square";
    }
};

__global__ void make_shapes(shape **shapes)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i % 3 == 0)
        shapes[i] = new square(i);
    else
        shapes[i] = new rectangle(i, i + 7);
}

__global__ void measure_shapes(shape **shapes, long long *areas)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    areas[i] = shapes[i] ? shapes[i]->area() * 100 + shapes[i]->name()[1] : -1;
    delete shapes[i];
}

typedef unsigned operation(unsigned, unsigned);

__host__ __device__ unsigned plus(unsigned a, unsigned b)
{
    return a + b;
}

__host__ __device__ unsigned times(unsigned a, unsigned b)
{
    return a * b;
}

__host__ __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ operation *operations[] = {plus, times, ackermann};

__host__ __device__ unsigned decide(unsigned i)
{
    switch (i % 8) {
    case 0: return i * 3;
    case 1: return i ^ 0x55;
    case 2: return i << 4;
    case 3: return ~i;
    case 4: return i / 3;
    case 5: return i % 7 + 1000;
    case 6: return i * i;
    default: return 12345;
    }
}

struct numbers {
    unsigned at[24];
};

/* A sort in memory of the thread's own, which the compiler cannot keep in registers. */
__host__ __device__ numbers sorted(numbers n)
{
    for (int i = 1; i < 24; i++)
        for (int k = i; k > 0 && n.at[k - 1] > n.at[k]; k--) {
            unsigned kept = n.at[k];
            n.at[k] = n.at[k - 1];
            n.at[k - 1] = kept;
        }
    return n;
}

__host__ __device__ numbers numbers_of(unsigned i)
{
    numbers n;

    for (unsigned k = 0; k < 24; k++)
        n.at[k] = (i * 2654435761u + k * 40503u) >> (k % 5) & 0xffff;
    return n;
}

__host__ __device__ unsigned digest(unsigned i, unsigned result)
{
    numbers n = sorted(numbers_of(i));

    return result + decide(i) + n.at[i % 24] * 3 + n.at[23 - i % 24];
}

__global__ void call_functions(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = digest(i, operations[i % 3](2, i % 5));
}

static void check_functions(uint64_t *checksum)
{
    operation *const on_cpu[] = {plus, times, ackermann};
    unsigned want[count], got[count], *out = device_array<unsigned>(count);

    for (unsigned i = 0; i < count; i++)
        want[i] = digest(i, on_cpu[i % 3](2, i % 5));
    call_functions<<<count / block_size, block_size>>>(out);
    CALL_KERNEL("call_functions");
    from_device(got, out, count);
    expect_same("functions", got, want, count);
    *checksum = app_checksum(*checksum, got, sizeof got);
    CALL(cudaFree(out));
}

static void check_shapes(uint64_t *checksum)
{
    long long want[count], got[count], *areas = device_array<long long>(count);
    shape **shapes = device_array<shape *>(count);

    for (unsigned i = 0; i < count; i++)
        want[i] = i % 3 ? i * (i + 7ll) * 100 + 'h' : i * (long long)i * 100 + 'q';
    make_shapes<<<count / block_size, block_size>>>(shapes);
    CALL_KERNEL("make_shapes");
    measure_shapes<<<count / block_size, block_size>>>(shapes, areas);
    CALL_KERNEL("measure_shapes");
    from_device(got, areas, count);
    expect_same("areas", got, want, count);
    *checksum = app_checksum(*checksum, got, sizeof got);
    CALL(cudaFree(areas));
    CALL(cudaFree(shapes));
}

int main(int argc, char **argv)
{
    app_options options = {};

    options.steps = 2;
    options.seed = 1;
    app_parse(argc, argv, "virtual functions, pointers to functions, recursion", &options);

    uint64_t checksum = APP_CHECKSUM_START;
    CALL(cudaDeviceSetLimit(cudaLimitStackSize, 16384)); /* for the recursion */
    for (uint64_t step = 0; step < options.steps; step++) {
        check_shapes(&checksum);
        check_functions(&checksum);
    }
    return cuda_finish(checksum);
}
