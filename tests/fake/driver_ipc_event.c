/* Events of two processes, by the documentation of cuIpcGetEventHandle and cuIpcOpenEventHandle.
 * The other process is a child, forked before any driver call. */
#include "tests/fake/driver_fixture.h"

#include <sys/socket.h>

/* In the other process, where tests' assertions cannot be used. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(STDERR_FILENO, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void put(int socket, const void *bytes, size_t size)
{
    MUST(write(socket, bytes, size) == (ssize_t)size);
}

static void get(int socket, void *bytes, size_t size)
{
    MUST(recv(socket, bytes, size, MSG_WAITALL) == (ssize_t)size);
}

/* Exports an event; records it behind a gate that opens when the other side has looked. */
static void export(int socket)
{
    CUipcEventHandle handle;
    CUcontext context;
    CUstream stream;
    atomic_bool open = false;
    CUevent event;
    char turn;

    MUST(cuInit(0) == CUDA_SUCCESS && cuCtxCreate_v2(&context, 0, 0) == CUDA_SUCCESS);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    MUST(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    MUST(cuIpcGetEventHandle(&handle, event) == CUDA_SUCCESS);
    MUST(cuLaunchHostFunc(stream, gate, &open) == CUDA_SUCCESS);
    MUST(cuEventRecord(event, stream) == CUDA_SUCCESS);
    put(socket, &handle, sizeof handle);
    get(socket, &turn, 1);
    atomic_store(&open, true);
    get(socket, &turn, 1); /* the other side has recorded it now */
    MUST(cuEventSynchronize(event) == CUDA_SUCCESS);
    put(socket, ".", 1);
    get(socket, &turn, 1);
    MUST(cuEventDestroy_v2(event) == CUDA_SUCCESS);
    _exit(0);
}

static int start_other(pid_t *pid)
{
    int ends[2];

    T_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fflush(NULL);
    *pid = fork();
    T_GE(*pid, 0);
    if (*pid == 0) {
        close(ends[0]);
        export(ends[1]);
    }
    close(ends[1]);
    return ends[0];
}

TEST(driver_ipc_event, two_processes_wait_for_each_other)
{
    CUipcEventHandle handle;
    atomic_bool open;
    CUevent event;
    char turn;
    float time;
    int status;
    pid_t pid;
    int socket = start_other(&pid);

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    get(socket, &handle, sizeof handle);
    OK(cuIpcOpenEventHandle(&event, handle));
    T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(stream, event, 0));
    T_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    put(socket, ".", 1);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    T_EQ(cuEventElapsedTime(&time, event, event), CUDA_ERROR_INVALID_HANDLE); /* without timing */

    close_gate(stream, &open);
    OK(cuEventRecord(event, stream));
    put(socket, ".", 1);
    T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    get(socket, &turn, 1);
    T_EQ(cuEventQuery(event), CUDA_SUCCESS);
    OK(cuEventDestroy_v2(event));
    put(socket, ".", 1);
    T_EQ(waitpid(pid, &status, 0), pid);
    T_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

TEST(driver_ipc_event, refusals)
{
    CUipcEventHandle handle;
    CUevent event;

    start();
    T_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuIpcGetEventHandle(&handle, new_event(CU_EVENT_DISABLE_TIMING)),
         CUDA_ERROR_INVALID_HANDLE);
    event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    T_EQ(cuIpcGetEventHandle(NULL, event), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcGetEventHandle(&handle, event));
    T_EQ(cuIpcOpenEventHandle(NULL, handle), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventDestroy_v2(event));
    T_EQ(cuIpcOpenEventHandle(&event, handle), CUDA_ERROR_MAP_FAILED);
    memset(&handle, 0, sizeof handle);
    T_EQ(cuIpcOpenEventHandle(&event, handle), CUDA_ERROR_INVALID_HANDLE);
}
