/* bf16_kernels: arithmetic in the half precision that has the range of float. It needs a device of
 * compute capability 8.0 or more. */
#include <cuda_bf16.h>

static __nv_bfloat16 round_to(double value, __nv_bfloat16)
{
    return __double2bfloat16(value);
}

#include "tests/apps/half_kernels.h"

int main(int argc, char **argv)
{
    app_options options = {};

    options.steps = 2;
    options.seed = 1;
    app_parse(argc, argv, "arithmetic in half precision, bf16", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        check<__nv_bfloat16, __nv_bfloat162>("bf16", &random, &checksum);
    }
    return cuda_finish(checksum);
}
