/* memory_room.c: how much memory there is, and what leaves the process. It prints nothing that
 * depends on an address or on the size of the device. One mode per run:
 *
 *   info    free memory before, while and after buffers live
 *   fill    takes all the device has, by one allocation and by many
 *   ipc     asks for legacy IPC handles, and again after the buffers were allocated anew
 *   memops  asks for synchronous memory operations on buffers, and again likewise
 *   export  asks for a dma-buf of each buffer
 *   async   frees in stream order, under work that still uses the buffers */
#include "tests/shim/progs/warm.h"

#include <unistd.h>

#define MIB ((size_t)1 << 20)

static struct rig rig;

static const size_t sizes[] = {65536, 2 * MIB, 4 * MIB, 16 * MIB};

static size_t available(void)
{
    size_t left, total;

    MUST(cuMemGetInfo_v2(&left, &total));
    return left;
}

/* ---- info ---- */

static void info(void)
{
    size_t before = available(), live = 0;
    CUdeviceptr buffers[COUNT_OF(sizes)];

    warm_up(&rig, sizes, COUNT_OF(sizes));
    printf("all comes back %d\n", before == available());
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        MUST(cuMemAlloc_v2(&buffers[i], sizes[i]));
        live += sizes[i];
    }
    printf("enough is taken %d\n", before - available() >= live);
    printf("little more is taken %d\n", before - available() <= live + 2 * MIB);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        MUST(cuMemFree_v2(buffers[i]));
    printf("all comes back %d\n", before == available());
    printf("null %d\n", (int)cuMemGetInfo_v2(NULL, NULL));
}

/* ---- fill ---- */

/* What is free is free for the application, whatever the library keeps. */
static void fill(void)
{
    enum { MOST = 4096 };
    static CUdeviceptr pieces[MOST];
    CUdeviceptr all, row;
    size_t left, count = 0, pitch;

    warm_up(&rig, sizes, COUNT_OF(sizes));
    left = available() / (2 * MIB) * (2 * MIB);
    printf("at once %d\n", (int)cuMemAlloc_v2(&all, left));
    printf("nothing is left %d\n", (int)cuMemAlloc_v2(&row, 2 * MIB));
    printf("free %d\n", (int)cuMemFree_v2(all));

    warm_up(&rig, sizes, COUNT_OF(sizes));
    while (count < MOST && cuMemAlloc_v2(&pieces[count], 2 * MIB) == CUDA_SUCCESS)
        count++;
    printf("in pieces %d\n", count == left / (2 * MIB));
    while (count)
        MUST(cuMemFree_v2(pieces[--count]));

    warm_up(&rig, sizes, COUNT_OF(sizes));
    printf("in rows %d", (int)cuMemAllocPitch_v2(&row, &pitch, 4096, left / 4096, 4));
    printf(", free %d\n", (int)cuMemFree_v2(row));
    warm_up(&rig, sizes, COUNT_OF(sizes));
    printf("all is back %d\n", available() / (2 * MIB) * (2 * MIB) == left);
}

/* ---- ipc, memops, export ---- */

static int ask_ipc(CUdeviceptr buffer)
{
    CUipcMemHandle handle;

    return (int)cuIpcGetMemHandle(&handle, buffer);
}

static int ask_memops(CUdeviceptr buffer)
{
    int on = 1;

    return (int)cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer);
}

/* Of a buffer of each size, then of the next two of that size. */
static void ask(int (*question)(CUdeviceptr))
{
    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (int time = 0; time < 3; time++) {
            CUdeviceptr buffer;

            MUST(cuMemAlloc_v2(&buffer, sizes[i]));
            printf("%s %d\n", time ? "again" : "first", question(buffer));
            MUST(cuMemFree_v2(buffer));
        }
}

static void ipc(void)
{
    ask(ask_ipc);
}

static void memops(void)
{
    ask(ask_memops);
}

static void export(void)
{
    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CUdeviceptr buffer, next;
        int file = -1;

        MUST(cuMemAlloc_v2(&buffer, sizes[i]));
        printf("export %d", (int)cuMemGetHandleForAddressRange(
                                &file, buffer, sizes[i], CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        MUST(cuMemFree_v2(buffer));
        /* Somebody may still read through the descriptor. */
        MUST(cuMemAlloc_v2(&next, sizes[i]));
        printf(", another buffer %d\n", next != buffer);
        MUST(cuMemFree_v2(next));
        close(file);
    }
}

/* ---- async ---- */

#define ROUNDS 20

/* Each round's buffer is filled, copied out and freed in one stream's order while nothing waits. */
static void async(void)
{
    unsigned char *host;
    CUdeviceptr buffer;
    size_t wrong = 0;
    CUstream stream;

    warm_up(&rig, sizes, COUNT_OF(sizes));
    MUST(cuMemAllocHost_v2((void **)&host, ROUNDS * sizes[0]));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < ROUNDS; i++) {
        MUST(cuMemAlloc_v2(&buffer, sizes[0]));
        MUST(cuMemsetD8Async(buffer, (unsigned char)(i + 1), sizes[0], stream));
        MUST(cuMemcpyDtoHAsync_v2(host + i * sizes[0], buffer, sizes[0], stream));
        MUST(cuMemFreeAsync(buffer, stream));
    }
    printf("twice %d\n", (int)cuMemFreeAsync(buffer, stream));
    MUST(cuStreamSynchronize(stream));
    for (size_t i = 0; i < ROUNDS * sizes[0]; i++)
        wrong += host[i] != i / sizes[0] + 1;
    printf("wrong %zu\n", wrong);
    MUST(cuMemAlloc_v2(&buffer, sizes[0]));
    printf("interior %d\n", (int)cuMemFreeAsync(buffer + 8, stream));
    MUST(cuStreamDestroy_v2(stream));
    printf("bad stream %d\n", (int)cuMemFreeAsync(buffer, (CUstream)rig.graph));
    printf("free %d\n", (int)cuMemFree_v2(buffer));
    MUST(cuMemFreeHost(host));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"info", info},     {"fill", fill},     {"ipc", ipc},
                 {"memops", memops}, {"export", export}, {"async", async}};

    for (size_t i = 0; i < COUNT_OF(modes) && argc == 2; i++) {
        if (strcmp(argv[1], modes[i].name))
            continue;
        rig_up(&rig);
        return modes[i].run(), 0;
    }
    return 2;
}
