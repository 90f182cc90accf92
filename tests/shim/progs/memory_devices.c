/* memory_devices.c: two GPUs and memory of both. It prints nothing that depends on an address. One
 * mode per run:
 *
 *   copy   copies between the GPUs, none of which has access to the other's memory
 *   late   the second context, and then peer access, come when buffers live: a kernel of the second
 * GPU writes the first one's memory own    each GPU's buffers answer queries as its own */
#include "tests/shim/progs/warm.h"

#define MIB   ((size_t)1 << 20)
#define BYTES 4096 /* copied and compared, of each buffer */

static const size_t sizes[] = {65536, 2 * MIB, 6 * MIB};

static struct rig rigs[2];

/* As rig_up(), on one of two GPUs; leaves its context current. */
static void start(int device)
{
    struct rig *rig = &rigs[device];

    MUST(cuDeviceGet(&rig->device, device));
    MUST(cuDevicePrimaryCtxRetain(&rig->context, rig->device));
    MUST(cuCtxSetCurrent(rig->context));
    rig_load(rig);
    rig->a = 1;
    rig->b = 2;
    MUST(cuMemAlloc_v2(&rig->p, 1024));
}

static void allocate(int device, CUdeviceptr *buffers)
{
    MUST(cuCtxSetCurrent(rigs[device].context));
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        MUST(cuMemAlloc_v2(&buffers[i], sizes[i]));
}

static void release(const CUdeviceptr *buffers)
{
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        MUST(cuMemFree_v2(buffers[i]));
}

/* Bytes of `buffer` that are not `value`. */
static size_t differ(CUdeviceptr buffer, unsigned char value)
{
    unsigned char host[BYTES];
    size_t wrong = 0;

    MUST(cuMemcpyDtoH_v2(host, buffer, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        wrong += host[i] != value;
    return wrong;
}

static void copy(void)
{
    CUdeviceptr buffers[2][COUNT_OF(sizes)];

    for (int device = 0; device < 2; device++) {
        start(device);
        warm_up(&rigs[device], sizes, COUNT_OF(sizes));
        allocate(device, buffers[device]);
    }
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        for (int to = 0; to < 2; to++) {
            int from = !to;
            MUST(cuCtxSetCurrent(rigs[from].context));
            MUST(cuMemsetD8_v2(buffers[from][i], (unsigned char)(10 + to), BYTES));
            printf("plain %d", (int)cuMemcpyDtoD_v2(buffers[to][i], buffers[from][i], BYTES));
            printf(" wrong %zu", differ(buffers[to][i], (unsigned char)(10 + to)));
            MUST(cuMemsetD8_v2(buffers[from][i], (unsigned char)(20 + to), BYTES));
            printf(", peer %d", (int)cuMemcpyPeer(buffers[to][i], rigs[to].context,
                                                  buffers[from][i], rigs[from].context, BYTES));
            MUST(cuCtxSynchronize());
            MUST(cuCtxSetCurrent(rigs[to].context));
            printf(" wrong %zu\n", differ(buffers[to][i], (unsigned char)(20 + to)));
        }
    }
    release(buffers[0]);
    release(buffers[1]);
}

/* The second GPU stores 1 + 2 at the first one's buffers. */
static void store_from_second(const CUdeviceptr *buffers)
{
    struct rig *rig = &rigs[1];

    MUST(cuCtxSetCurrent(rig->context));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CUdeviceptr place = buffers[i] + sizes[i] - 8;
        void *args[] = {&place, &rig->a, &rig->b};
        unsigned long long value = 0;

        printf("launch %d", (int)cuLaunchKernel(rig->store, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
        printf(" done %d", (int)cuCtxSynchronize());
        MUST(cuMemcpyDtoH_v2(&value, place, sizeof value));
        printf(" value %llu\n", value);
    }
}

static void late(void)
{
    CUdeviceptr early[COUNT_OF(sizes)], later[COUNT_OF(sizes)];

    start(0);
    warm_up(&rigs[0], sizes, COUNT_OF(sizes));
    allocate(0, early);
    start(1);
    printf("enable %d\n", (int)cuCtxEnablePeerAccess(rigs[0].context, 0));
    printf("twice %d\n", (int)cuCtxEnablePeerAccess(rigs[0].context, 0));
    store_from_second(early);
    allocate(0, later);
    store_from_second(later);
    release(early);
    release(later);
    allocate(0, later);
    store_from_second(later);
    release(later);
}

static void own(void)
{
    for (int device = 0; device < 2; device++) {
        CUdeviceptr buffers[COUNT_OF(sizes)];

        start(device);
        warm_up(&rigs[device], sizes, COUNT_OF(sizes));
        allocate(device, buffers);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            CUcontext context = NULL;
            size_t size = 0;
            int ordinal = -1;

            MUST(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, buffers[i] + 4));
            MUST(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, buffers[i]));
            MUST(cuMemGetAddressRange_v2(NULL, &size, buffers[i] + 4));
            printf("own context %d, device %d, size %d\n", context == rigs[device].context, ordinal,
                   size == sizes[i]);
        }
        MUST(cuCtxSetCurrent(rigs[0].context));
        release(buffers);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"copy", copy}, {"late", late}, {"own", own}};

    for (size_t i = 0; i < COUNT_OF(modes) && argc == 2; i++) {
        if (strcmp(argv[1], modes[i].name))
            continue;
        MUST(cuInit(0));
        return modes[i].run(), 0;
    }
    return 2;
}
