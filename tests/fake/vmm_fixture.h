/* vmm_fixture.h: what the tests of virtual memory management share: handles, reservations, mappings
 * with access, and kernels that read and write at an address. */
#ifndef VMM_FIXTURE_H
#define VMM_FIXTURE_H

#include "tests/fake/driver_fixture.h"

#define MIB     ((size_t)1 << 20)
#define GRANULE (2 * MIB) /* what the tests ask for; one test checks that it is the device's */

static inline CUmemAllocationProp prop_on(int device)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static inline CUmemAccessDesc access_of(int device, CUmemAccess_flags flags)
{
    return (CUmemAccessDesc){.location = {CU_MEM_LOCATION_TYPE_DEVICE, device}, .flags = flags};
}

static inline CUmemGenericAllocationHandle create_on(int device, size_t size)
{
    CUmemAllocationProp prop = prop_on(device);
    CUmemGenericAllocationHandle handle = 0;

    OK(cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

static inline CUdeviceptr reserve(size_t size)
{
    CUdeviceptr base = 0;

    OK(cuMemAddressReserve(&base, size, 0, 0, 0));
    return base;
}

static inline CUresult set_access(CUdeviceptr base, size_t size, int device,
                                  CUmemAccess_flags flags)
{
    CUmemAccessDesc access = access_of(device, flags);

    return cuMemSetAccess(base, size, &access, 1);
}

/* Reads and writes for one device. */
static inline void allow(CUdeviceptr base, size_t size, int device)
{
    OK(set_access(base, size, device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

/* `size` bytes of new memory on device 0 at a reservation of its own, accessible there. The handle
 * is released: unmapping frees the memory. */
static inline CUdeviceptr map_new(size_t size)
{
    CUdeviceptr base = reserve(size);
    CUmemGenericAllocationHandle handle = create_on(0, size);

    OK(cuMemMap(base, size, 0, handle, 0));
    allow(base, size, 0);
    OK(cuMemRelease(handle));
    return base;
}

static inline size_t free_memory(void)
{
    size_t available = 0, total;

    OK(cuMemGetInfo_v2(&available, &total));
    return available;
}

static inline unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;

    OK(cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

static inline void set_word(CUdeviceptr address, unsigned word)
{
    OK(cuMemcpyHtoD_v2(address, &word, sizeof word));
}

/* put: *p = v. get: *p = *q. follow: **p = v, so that only device memory knows the address; then it
 * sets *q to 1 and waits until it is 2. */
static const char vmm_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry put(.param .u64 p, .param .u32 v) {\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];\n"
    "st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry get(.param .u64 p, .param .u64 q) {\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"
    "ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry follow(.param .u64 p, .param .u64 q, .param .u32 v) {\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<3>; .reg .pred %p1;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [v];\n"
    "ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], %r1;\n"
    "atom.global.exch.b32 %r2, [%rd2], 1;\n"
    "again: atom.global.add.u32 %r2, [%rd2], 0;\n"
    "setp.ne.u32 %p1, %r2, 2; @%p1 bra again; ret; }\n";

static inline CUfunction kernel(const char *name)
{
    CUmodule module = NULL;
    CUfunction function = NULL;

    OK(cuModuleLoadData(&module, vmm_ptx));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline void launch(CUfunction function, CUstream stream, void **params)
{
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

/* Runs put(p, v) and says what became of it. */
static inline CUresult put(CUdeviceptr p, unsigned v)
{
    launch(kernel("put"), NULL, (void *[]){&p, &v});
    return cuCtxSynchronize();
}

static inline CUresult get(CUdeviceptr p, CUdeviceptr q)
{
    launch(kernel("get"), NULL, (void *[]){&p, &q});
    return cuCtxSynchronize();
}

#endif
