/* Several devices and several processes through the fake runtime: peer access, copies between
 * devices, the choice of a device, memory of another process. */
#include "tests/fake/cudart_kernels.h"

#include <sys/wait.h>
#include <unistd.h>

static void *on_device(int device, size_t bytes)
{
    void *memory = NULL;

    OK(cudaSetDevice(device));
    OK(cudaMalloc(&memory, bytes));
    return memory;
}

TEST(cudart_peer, access_is_enabled_once)
{
    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cudaSetDevice(0));
    T_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    T_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    T_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    OK(cudaDeviceDisablePeerAccess(1));
    T_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    T_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice); /* itself */
    T_EQ(cudaDeviceEnablePeerAccess(7, 0), cudaErrorInvalidDevice);
    T_EQ(cudaDeviceDisablePeerAccess(-1), cudaErrorInvalidDevice);
}

TEST(cudart_peer, memory_is_copied_between_devices)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    void *a, *b;
    cudaStream_t stream;

    setenv("FAKEVMM_DEVICES", "2", 1);
    b = on_device(1, sizeof in);
    a = on_device(0, sizeof in);
    OK(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(b, 1, a, 0, sizeof in));
    OK(cudaMemcpy(out, b, sizeof out, cudaMemcpyDefault));
    T_MEM_EQ(in, out, sizeof in);
    OK(cudaMemset(a, 0, sizeof in));
    OK(cudaStreamCreate(&stream));
    OK(cudaMemcpyPeerAsync(a, 0, b, 1, sizeof in, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(out, a, sizeof out, cudaMemcpyDeviceToHost));
    T_MEM_EQ(in, out, sizeof in);
    T_EQ(cudaMemcpyPeer(b, 2, a, 0, sizeof in), cudaErrorInvalidDevice);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

TEST(cudart_peer, boxes_are_copied_between_devices)
{
    char in[24], out[24] = {0};
    void *a, *b;
    struct cudaMemcpy3DPeerParms copy = {.extent = {2, 3, 2}, .srcPos = {1, 0, 0}};

    setenv("FAKEVMM_DEVICES", "2", 1);
    for (int i = 0; i < 24; i++)
        in[i] = (char)i;
    b = on_device(1, sizeof in);
    a = on_device(0, sizeof in);
    OK(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemset(b, 0, sizeof in));
    copy.srcPtr = (struct cudaPitchedPtr){a, 4, 4, 3};
    copy.srcDevice = 0;
    copy.dstPtr = (struct cudaPitchedPtr){b, 4, 4, 3};
    copy.dstDevice = 1;
    OK(cudaMemcpy3DPeer(&copy));
    OK(cudaMemcpy(out, b, sizeof out, cudaMemcpyDefault));
    T_EQ(out[0], in[1]);
    T_EQ(out[1], in[2]);
    T_EQ(out[2], 0);
    T_EQ(out[12 + 9], in[12 + 10]); /* second slice, third row */
    copy.dstDevice = 5;
    T_EQ(cudaMemcpy3DPeer(&copy), cudaErrorInvalidDevice);
    T_EQ(cudaMemcpy3DPeer(NULL), cudaErrorInvalidValue);
    OK(cudaFree(a));
    OK(cudaFree(b));
}

TEST(cudart_peer, a_device_is_taken_from_the_list_of_valid_ones)
{
    int device = -1, order[] = {1, 0}, wrong[] = {1, 9};

    setenv("FAKEVMM_DEVICES", "2", 1);
    T_EQ(cudaSetValidDevices(wrong, 2), cudaErrorInvalidDevice);
    T_EQ(cudaSetValidDevices(order, 3), cudaErrorInvalidValue);
    T_EQ(cudaSetValidDevices(NULL, 1), cudaErrorInvalidValue);
    OK(cudaSetValidDevices(order, 2));
    OK(cudaFree(NULL));
    OK(cudaGetDevice(&device));
    T_EQ(device, 1);
    OK(cudaSetDevice(0)); /* a choice of its own goes before the list */
    OK(cudaGetDevice(&device));
    T_EQ(device, 0);
}

TEST(cudart_peer, no_list_means_every_device_in_order)
{
    int device = -1, order[] = {1};

    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cudaSetValidDevices(order, 1));
    OK(cudaSetValidDevices(NULL, 0));
    OK(cudaFree(NULL));
    OK(cudaGetDevice(&device));
    T_EQ(device, 0);
}

TEST(cudart_peer, the_device_that_matches_is_chosen)
{
    struct cudaDeviceProp wanted;
    int device = -1;

    OK(cudaGetDeviceProperties(&wanted, 0));
    OK(cudaChooseDevice(&device, &wanted));
    T_EQ(device, 0);
    T_EQ(cudaChooseDevice(NULL, &wanted), cudaErrorInvalidValue);
    T_EQ(cudaChooseDevice(&device, NULL), cudaErrorInvalidValue);
}

/* ---- another process ---- */

/* Reads a handle from the pipe, opens it, adds one to the first number in it; the exit status is 0
 * or the error. */
static int increment(int input)
{
    cudaIpcMemHandle_t handle;
    int value = 0;
    void *memory = NULL;
    cudaError_t error = cudaErrorUnknown;

    if (read(input, &handle, sizeof handle) == sizeof handle)
        error = cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess);
    if (error == cudaSuccess)
        error = cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
    value++;
    if (error == cudaSuccess)
        error = cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaIpcCloseMemHandle(memory);
    return error == cudaSuccess ? 0 : 1 + (int)error % 200;
}

TEST(cudart_peer, another_process_opens_memory)
{
    int ends[2], status = -1, value = 41;
    cudaIpcMemHandle_t handle;
    void *memory = NULL;
    pid_t child;

    T_EQ(pipe(ends), 0);
    child = fork(); /* before any CUDA call */
    if (child == 0)
        _exit(increment(ends[0]));
    OK(cudaMalloc(&memory, 1 << 21));
    OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
    OK(cudaIpcGetMemHandle(&handle, memory));
    T_EQ(write(ends[1], &handle, sizeof handle), (ssize_t)sizeof handle);
    T_EQ(waitpid(child, &status, 0), child);
    T_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
    OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    T_EQ(value, 42);
    T_EQ(cudaIpcGetMemHandle(&handle, &value), cudaErrorInvalidValue);
    OK(cudaFree(memory));
}
