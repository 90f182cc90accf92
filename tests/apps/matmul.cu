/* matmul: C = A * B by tiles in shared memory, for float and double, with sides that are no
 * multiple of the tile; and for bytes, four products at a time. Products are added in the order of
 * k with fused multiply-add, on the CPU as well, so the results must be equal. */
#include "tests/apps/cuda_app.h"

static const unsigned tile = 16, rows = 37, inner = 53, columns = 44;

template <typename T>
__global__ void multiply(const T *a, const T *b, T *c, unsigned n, unsigned m, unsigned k_count)
{
    __shared__ T a_tile[tile][tile], b_tile[tile][tile + 1];
    unsigned row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    T sum = 0;

    for (unsigned k0 = 0; k0 < k_count; k0 += tile) {
        unsigned a_column = k0 + threadIdx.x, b_row = k0 + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] =
            row < n && a_column < k_count ? a[row * k_count + a_column] : T(0);
        b_tile[threadIdx.y][threadIdx.x] =
            column < m && b_row < k_count ? b[b_row * m + column] : T(0);
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < tile; k++)
            sum = fma(a_tile[threadIdx.y][k], b_tile[k][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < n && column < m)
        c[row * m + column] = sum;
}

/* Rows of A and columns of B as words of four signed bytes; B is transposed. */
__global__ void multiply_bytes(const char4 *a, const char4 *b, int *c, unsigned n, unsigned m,
                               unsigned words)
{
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;

    if (row >= n || column >= m)
        return;
    for (unsigned k = 0; k < words; k++)
        sum = __dp4a(a[row * words + k], b[column * words + k], sum);
    c[row * m + column] = sum;
}

static const dim3 threads(tile, tile);
static const dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);

template <typename T> static void check_floats(const char *what, uint64_t *random, uint64_t *sum)
{
    static T host_a[rows * inner], host_b[inner * columns], want[rows * columns];
    static T got[rows * columns];

    for (T &value : host_a)
        value = (T)(int64_t)app_random(random) / (T)(1ll << 60);
    for (T &value : host_b)
        value = (T)(int64_t)app_random(random) / (T)(1ll << 60);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++) {
            T c = 0;
            for (unsigned k = 0; k < inner; k++)
                c = fma(host_a[row * inner + k], host_b[k * columns + column], c);
            want[row * columns + column] = c;
        }
    T *a = to_device(host_a, rows * inner), *b = to_device(host_b, inner * columns);
    T *c = device_array<T>(rows * columns);
    multiply<T><<<grid, threads>>>(a, b, c, rows, columns, inner);
    CALL_KERNEL("multiply");
    from_device(got, c, rows * columns);
    expect_same(what, got, want, rows * columns);
    *sum = app_checksum(*sum, got, sizeof got);
    CALL(cudaFree(a));
    CALL(cudaFree(b));
    CALL(cudaFree(c));
}

static void check_bytes(uint64_t *random, uint64_t *sum)
{
    const unsigned words = 12, length = words * 4;
    static int8_t host_a[rows * length], host_b[columns * length];
    static int want[rows * columns], got[rows * columns];

    for (int8_t &value : host_a)
        value = (int8_t)app_random(random);
    for (int8_t &value : host_b)
        value = (int8_t)app_random(random);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++) {
            int c = 0;
            for (unsigned k = 0; k < length; k++)
                c += host_a[row * length + k] * host_b[column * length + k];
            want[row * columns + column] = c;
        }
    int8_t *a = to_device(host_a, sizeof host_a), *b = to_device(host_b, sizeof host_b);
    int *c = device_array<int>(rows * columns);
    multiply_bytes<<<grid, threads>>>((char4 *)a, (char4 *)b, c, rows, columns, words);
    CALL_KERNEL("multiply_bytes");
    from_device(got, c, rows * columns);
    expect_same("product of bytes", got, want, rows * columns);
    *sum = app_checksum(*sum, got, sizeof got);
    CALL(cudaFree(a));
    CALL(cudaFree(b));
    CALL(cudaFree(c));
}

int main(int argc, char **argv)
{
    app_options options = {};

    options.steps = 2;
    options.seed = 1;
    app_parse(argc, argv, "matrix products by tiles in shared memory", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        check_floats<float>("product of floats", &random, &checksum);
        check_floats<double>("product of doubles", &random, &checksum);
        check_bytes(&random, &checksum);
    }
    return cuda_finish(checksum);
}
