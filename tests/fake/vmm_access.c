/* Who may access a mapping: nobody before cuMemSetAccess, then each device on its own. Seen with
 * kernels and with copies. */
#include "tests/fake/vmm_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

#define NONE      CU_MEM_ACCESS_FLAGS_PROT_NONE
#define READ      CU_MEM_ACCESS_FLAGS_PROT_READ
#define READWRITE CU_MEM_ACCESS_FLAGS_PROT_READWRITE

static unsigned long long access_at(CUdeviceptr address, int device)
{
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    unsigned long long flags = 99;

    OK(cuMemGetAccess(&flags, &location, address));
    return flags;
}

/* A mapping on device 0 that nobody may access yet. */
static CUdeviceptr map_closed(void)
{
    CUdeviceptr base = reserve(2 * GRANULE);

    OK(cuMemMap(base, GRANULE, 0, create_on(0, GRANULE), 0));
    return base;
}

/* ---- the calls ---- */

TEST(vmm_access, set_access_refuses)
{
    CUmemAccessDesc access = access_of(0, READWRITE);
    CUdeviceptr base, plain;

    start();
    plain = allocate(GRANULE);
    base = reserve(8 * GRANULE);
    OK(cuMemMap(base, 2 * GRANULE, 0, create_on(0, 2 * GRANULE), 0));
    OK(cuMemMap(base + 3 * GRANULE, GRANULE, 0, create_on(0, GRANULE), 0));
    REFUSED(cuMemSetAccess(base, 2 * GRANULE, NULL, 1));
    REFUSED(cuMemSetAccess(base, 2 * GRANULE, &access, 0));
    REFUSED(cuMemSetAccess(base, 0, &access, 1));
    REFUSED(cuMemSetAccess(base, GRANULE, &access, 1));                   /* a part of a mapping */
    REFUSED(cuMemSetAccess(base, 4 * GRANULE, &access, 1));               /* a gap */
    REFUSED(cuMemSetAccess(base + 3 * GRANULE, 2 * GRANULE, &access, 1)); /* over the end */
    REFUSED(cuMemSetAccess(base + 5 * GRANULE, GRANULE, &access, 1));     /* reserved only */
    REFUSED(cuMemSetAccess(plain, GRANULE, &access, 1));
    access.flags = (CUmemAccess_flags)2; /* write without read */
    REFUSED(cuMemSetAccess(base, 2 * GRANULE, &access, 1));
    access = access_of(1, READWRITE);
    T_EQ(cuMemSetAccess(base, 2 * GRANULE, &access, 1), CUDA_ERROR_INVALID_DEVICE);
    access = access_of(0, READWRITE);
    access.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA; /* of device memory */
    REFUSED(cuMemSetAccess(base, 2 * GRANULE, &access, 1));
    T_EQ(access_at(base, 0), NONE);
}

/* One wrong descriptor: nothing is changed. */
TEST(vmm_access, set_access_is_all_or_nothing)
{
    CUmemAccessDesc access[] = {access_of(0, READWRITE), access_of(7, READWRITE)};
    CUdeviceptr base;

    start();
    base = map_closed();
    T_EQ(cuMemSetAccess(base, GRANULE, access, 2), CUDA_ERROR_INVALID_DEVICE);
    T_EQ(access_at(base, 0), NONE);
}

TEST(vmm_access, get_access_refuses)
{
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    unsigned long long flags;
    CUdeviceptr base;

    start();
    base = map_closed();
    REFUSED(cuMemGetAccess(NULL, &location, base));
    REFUSED(cuMemGetAccess(&flags, NULL, base));
    REFUSED(cuMemGetAccess(&flags, &location, base + GRANULE));
    REFUSED(cuMemGetAccess(&flags, &location, 0));
    location.type = CU_MEM_LOCATION_TYPE_INVALID;
    REFUSED(cuMemGetAccess(&flags, &location, base));
    location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 1};
    T_EQ(cuMemGetAccess(&flags, &location, base), CUDA_ERROR_INVALID_DEVICE);
}

TEST(vmm_access, access_as_set)
{
    CUdeviceptr base;

    start();
    base = map_closed();
    T_EQ(access_at(base, 0), NONE);
    OK(set_access(base, GRANULE, 0, READ));
    T_EQ(access_at(base + GRANULE - 1, 0), READ);
    OK(set_access(base, GRANULE, 0, READWRITE));
    T_EQ(access_at(base, 0), READWRITE);
    OK(set_access(base, GRANULE, 0, NONE));
    T_EQ(access_at(base, 0), NONE);
}

TEST(vmm_access, access_ends_with_the_mapping)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;

    start();
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(cuMemRetainAllocationHandle(&handle, (void *)base));
    OK(cuMemUnmap(base, GRANULE));
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    T_EQ(access_at(base, 0), NONE);
}

/* Access belongs to the mapping, not to the memory. */
TEST(vmm_access, aliases_have_their_own)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base, alias;

    start();
    base = map_closed();
    alias = reserve(GRANULE);
    OK(cuMemRetainAllocationHandle(&handle, (void *)base));
    OK(cuMemMap(alias, GRANULE, 0, handle, 0));
    allow(base, GRANULE, 0);
    OK(set_access(alias, GRANULE, 0, READ));
    T_EQ(access_at(base, 0), READWRITE);
    T_EQ(access_at(alias, 0), READ);
}

/* ---- kernels ---- */

static void kernel_without_access(void)
{
    start();
    child_say("%d", put(map_closed(), 1));
}

static void kernel_writes_read_only(void)
{
    CUdeviceptr base;

    start();
    base = map_closed();
    OK(set_access(base, GRANULE, 0, READ));
    OK(get(allocate(4), base));
    child_say("%d", put(base, 1));
}

static void kernel_after_unmap(void)
{
    CUdeviceptr base;

    start();
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(put(base, 1));
    OK(cuMemUnmap(base, GRANULE));
    child_say("%d", put(base, 1));
}

static void kernel_after_access_was_taken(void)
{
    CUdeviceptr base;

    start();
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(put(base, 1));
    OK(set_access(base, GRANULE, 0, NONE));
    child_say("%d", put(base, 1));
}

static void kernel_beside_the_mapping(void)
{
    CUdeviceptr base;

    start();
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(put(base + GRANULE - 4, 1));
    child_say("%d", put(base + GRANULE, 1));
}

static void illegal(void (*run)(void))
{
    struct child child = in_child(run);

    T_EQ(child.exit_code, 0);
    T_EQ(atoi(child.said), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_STR_HAS(child.err, "put"); /* the kernel is named */
}

TEST(vmm_access, a_kernel_needs_access)
{
    illegal(kernel_without_access);
    illegal(kernel_writes_read_only);
    illegal(kernel_after_unmap);
    illegal(kernel_after_access_was_taken);
    illegal(kernel_beside_the_mapping);
}

TEST(vmm_access, a_kernel_with_access)
{
    CUdeviceptr base, plain;

    start();
    plain = allocate(4);
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(put(base, 41));
    T_EQ(word_at(base), 41);
    OK(set_access(base, GRANULE, 0, READ));
    OK(get(plain, base));
    T_EQ(word_at(plain), 41);
}

/* The error stays, as after any illegal access, for the calls here too. */
TEST(vmm_access, errors_stay)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;

    start();
    base = map_closed();
    handle = create_on(0, GRANULE);
    T_EQ(put(base, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuMemCreate(&handle, GRANULE, &prop, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuMemUnmap(base, GRANULE), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuMemRelease(handle), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- copies ---- */

TEST(vmm_access, copies_without_any_access_are_refused)
{
    CUdeviceptr base;
    unsigned word = 0;

    start();
    base = map_closed();
    REFUSED(cuMemcpyHtoD_v2(base, &word, 4));
    REFUSED(cuMemcpyDtoH_v2(&word, base, 4));
    REFUSED(cuMemsetD32_v2(base, 1, 1));
    allow(base, GRANULE, 0);
    OK(cuMemcpyHtoD_v2(base, &word, 4));
    OK(cuMemsetD8_v2(base, 1, GRANULE));
    REFUSED(cuMemsetD8_v2(base, 1, GRANULE + 1));
    T_EQ(word_at(base + GRANULE - 4), 0x01010101);
}

static void copy_to_read_only(void)
{
    CUdeviceptr base;
    unsigned word = 1;

    start();
    base = map_closed();
    OK(set_access(base, GRANULE, 0, READ));
    OK(cuMemcpyDtoH_v2(&word, base, 4));
    cuMemcpyHtoD_v2(base, &word, 4);
    child_say("%d", cuCtxSynchronize());
}

TEST(vmm_access, a_copy_needs_the_right_to_write)
{
    T_EQ(atoi(in_child(copy_to_read_only).said), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- two devices ---- */

static CUcontext two_devices(CUcontext *second)
{
    CUcontext first;

    setenv("FAKEVMM_DEVICES", "2", 1);
    first = start();
    OK(cuCtxCreate_v2(second, 0, 1));
    OK(cuCtxSetCurrent(first));
    return first;
}

TEST(vmm_access, each_device_has_its_own)
{
    CUmemAccessDesc both[] = {access_of(0, READ), access_of(1, READWRITE)};
    CUcontext second;
    CUdeviceptr base;

    two_devices(&second);
    base = map_closed();
    OK(set_access(base, GRANULE, 1, READ));
    T_EQ(access_at(base, 0), NONE);
    T_EQ(access_at(base, 1), READ);
    OK(cuMemSetAccess(base, GRANULE, both, 2));
    T_EQ(access_at(base, 0), READ);
    T_EQ(access_at(base, 1), READWRITE);
    OK(set_access(base, GRANULE, 1, NONE));
    T_EQ(access_at(base, 0), READ);
    T_EQ(access_at(base, 1), NONE);
}

TEST(vmm_access, memory_of_each_device)
{
    CUcontext first, second;
    CUdeviceptr base;
    size_t before;

    first = two_devices(&second);
    before = free_memory();
    base = reserve(GRANULE);
    OK(cuMemMap(base, GRANULE, 0, create_on(1, GRANULE), 0));
    T_EQ(free_memory(), before);
    OK(cuCtxSetCurrent(second));
    T_EQ(free_memory(), before - GRANULE);
    allow(base, GRANULE, 0); /* the memory's own device has no access by itself */
    OK(cuCtxSetCurrent(first));
    OK(put(base, 3));
    T_EQ(word_at(base), 3);
}

static void on_the_device_without_access(CUresult (*use)(CUdeviceptr))
{
    CUcontext second;
    CUdeviceptr base;

    two_devices(&second);
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(cuCtxSetCurrent(second));
    child_say("%d", use(base));
}

static CUresult write_there(CUdeviceptr base)
{
    return put(base, 1);
}

static CUresult copy_there(CUdeviceptr base)
{
    CUdeviceptr own = allocate(4);

    OK(cuMemcpyDtoDAsync_v2(own, base, 4, NULL));
    return cuCtxSynchronize();
}

static CUresult fill_there(CUdeviceptr base)
{
    OK(cuMemsetD8Async(base, 1, 4, NULL));
    return cuCtxSynchronize();
}

static void foreign_kernel(void)
{
    on_the_device_without_access(write_there);
}

static void foreign_copy(void)
{
    on_the_device_without_access(copy_there);
}

static void foreign_fill(void)
{
    on_the_device_without_access(fill_there);
}

TEST(vmm_access, a_device_without_access_faults)
{
    T_EQ(atoi(in_child(foreign_kernel).said), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(atoi(in_child(foreign_copy).said), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(atoi(in_child(foreign_fill).said), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(vmm_access, a_device_with_access_works)
{
    CUcontext second;
    CUdeviceptr base;

    two_devices(&second);
    base = map_closed();
    allow(base, GRANULE, 0);
    allow(base, GRANULE, 1);
    OK(cuCtxSetCurrent(second));
    OK(write_there(base + 8));
    OK(copy_there(base));
    OK(fill_there(base));
    T_EQ(word_at(base + 8), 1);
    T_EQ(word_at(base), 0x01010101);
}

/* ---- peers, for cuMemAlloc memory ---- */

static void kernel_without_peer_access(void)
{
    CUcontext second;
    CUdeviceptr plain;

    two_devices(&second);
    plain = allocate(4096);
    OK(cuCtxSetCurrent(second));
    child_say("%d", put(plain, 1));
}

/* Copies between devices need no peer access to cuMemAlloc memory; kernels do. */
TEST(vmm_access, peers)
{
    CUcontext first, second;
    CUdeviceptr before, after, far;
    int can = 0;

    T_EQ(atoi(in_child(kernel_without_peer_access).said), CUDA_ERROR_ILLEGAL_ADDRESS);
    first = two_devices(&second);
    OK(cuDeviceCanAccessPeer(&can, 1, 0));
    T_EQ(can, 1);
    before = allocate(4096);
    set_word(before, 7);
    OK(cuCtxSetCurrent(second));
    far = allocate(4096);
    OK(cuMemcpyDtoD_v2(far, before, 4));
    T_EQ(word_at(far), 7);
    OK(cuCtxEnablePeerAccess(first, 0));
    T_EQ(cuCtxEnablePeerAccess(first, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxSetCurrent(first));
    after = allocate(4096);
    OK(cuCtxSetCurrent(second));
    OK(put(before, 1)); /* past and future allocations alike */
    OK(put(after, 2));
    T_EQ(word_at(before), 1);
    T_EQ(word_at(after), 2);
    OK(cuCtxDisablePeerAccess(first));
    T_EQ(cuCtxDisablePeerAccess(first), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    T_EQ(put(before, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* Peer access is for cuMemAlloc memory: mappings need cuMemSetAccess. */
TEST(vmm_access, peer_access_opens_no_mapping)
{
    CUcontext first, second;
    CUdeviceptr base;

    first = two_devices(&second);
    base = map_closed();
    allow(base, GRANULE, 0);
    OK(cuCtxSetCurrent(second));
    OK(cuCtxEnablePeerAccess(first, 0));
    T_EQ(access_at(base, 1), NONE);
    T_EQ(put(base, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* What a context was given ends with it. */
TEST(vmm_access, peer_access_ends_with_the_context)
{
    CUcontext first, second;
    CUdeviceptr plain;

    first = two_devices(&second);
    plain = allocate(4096);
    OK(cuCtxSetCurrent(second));
    OK(cuCtxEnablePeerAccess(first, 0));
    OK(put(plain, 1));
    OK(cuCtxDestroy_v2(second));
    OK(cuCtxCreate_v2(&second, 0, 1));
    T_EQ(put(plain, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* So does what it has given to others. */
TEST(vmm_access, peer_access_ends_with_the_peer)
{
    CUcontext first, second;

    first = two_devices(&second);
    OK(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDestroy_v2(second));
    OK(cuCtxCreate_v2(&second, 0, 1));
    OK(cuCtxSetCurrent(first));
    OK(cuCtxEnablePeerAccess(second, 0));
}

/* cuMemFree waits for those who can be using the memory, peers included. */
TEST(vmm_access, free_waits_for_peers)
{
    CUcontext first, second;
    CUdeviceptr plain;

    first = two_devices(&second);
    plain = allocate(64 * MIB);
    OK(cuCtxSetCurrent(second));
    OK(cuCtxEnablePeerAccess(first, 0));
    for (int i = 0; i < 8; i++)
        OK(cuMemsetD32Async(plain, (unsigned)i, 16 * MIB, NULL));
    OK(cuMemFree_v2(plain));
    OK(cuCtxSynchronize()); /* no fill came too late */
}
