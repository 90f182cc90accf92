/* Memory shared between two processes: legacy handles for cuMemAlloc memory, and file descriptors
 * for VMM handles. Each side is a child, forked before any driver call. */
#include "tests/fake/vmm_fixture.h"

#include <sys/socket.h>

/* The other process: what both say to each other goes through a socket. */
struct other {
    pid_t pid;
    int socket;
};

static struct other start_other(void (*run)(int socket))
{
    struct other other;
    int ends[2];

    T_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fflush(NULL);
    other.pid = fork();
    T_GE(other.pid, 0);
    if (other.pid == 0) {
        close(ends[0]);
        run(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    other.socket = ends[0];
    return other;
}

static void end_other(struct other *other)
{
    int status;

    close(other->socket);
    T_EQ(waitpid(other->pid, &status, 0), other->pid);
    T_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

/* In the other process, where tests' assertions cannot be used. */
static void must(bool holds, int line)
{
    if (holds)
        return;
    dprintf(STDERR_FILENO, "%s:%d: does not hold in the other process\n", __FILE__, line);
    _exit(1);
}
#define MUST(condition) must(condition, __LINE__)

static void put_bytes(int socket, const void *bytes, size_t size)
{
    MUST(write(socket, bytes, size) == (ssize_t)size);
}

static void get_bytes(int socket, void *bytes, size_t size)
{
    MUST(recv(socket, bytes, size, MSG_WAITALL) == (ssize_t)size);
}

static void wait_turn(int socket)
{
    char turn;

    get_bytes(socket, &turn, 1);
}

static void give_turn(int socket)
{
    put_bytes(socket, ".", 1);
}

static void start_there(void)
{
    CUcontext context;

    MUST(cuInit(0) == CUDA_SUCCESS);
    MUST(cuCtxCreate_v2(&context, 0, 0) == CUDA_SUCCESS);
}

/* ---- legacy handles ---- */

/* Allocates `size`, fills it with 1, sends the handle; expects 2 at its end later. */
static void export_size(int socket, size_t size)
{
    CUipcMemHandle handle, again;
    CUdeviceptr p;
    unsigned word = 0;

    start_there();
    MUST(cuMemAlloc_v2(&p, size) == CUDA_SUCCESS);
    MUST(cuMemsetD32_v2(p, 1, size / 4) == CUDA_SUCCESS);
    MUST(cuCtxSynchronize() == CUDA_SUCCESS);
    MUST(cuIpcGetMemHandle(&handle, p) == CUDA_SUCCESS);
    MUST(cuIpcGetMemHandle(&again, p) == CUDA_SUCCESS);
    MUST(memcmp(&handle, &again, sizeof handle) == 0);
    put_bytes(socket, &handle, sizeof handle);
    wait_turn(socket);
    MUST(cuMemcpyDtoH_v2(&word, p + size - 4, 4) == CUDA_SUCCESS);
    MUST(word == 2);
    MUST(cuMemsetD32_v2(p, 3, 1) == CUDA_SUCCESS);
    MUST(cuCtxSynchronize() == CUDA_SUCCESS);
    give_turn(socket);
    wait_turn(socket);
    MUST(cuMemFree_v2(p) == CUDA_SUCCESS);
    give_turn(socket);
    wait_turn(socket);
}

static void export_small(int socket)
{
    export_size(socket, 4096);
}

static void export_large(int socket)
{
    export_size(socket, 4 * MIB);
}

static CUdeviceptr open_handle(CUipcMemHandle handle)
{
    CUdeviceptr address = 0;

    OK(cuIpcOpenMemHandle_v2(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return address;
}

static void share(void (*exporter)(int socket), size_t size)
{
    struct other other = start_other(exporter);
    CUipcMemHandle handle;
    CUdeviceptr base = 0;
    size_t found = 0;

    start();
    get_bytes(other.socket, &handle, sizeof handle);
    CUdeviceptr p = open_handle(handle);
    T_EQ(word_at(p + size - 4), 1);
    OK(put(p + size - 4, 2));
    give_turn(other.socket);
    wait_turn(other.socket);
    T_EQ(word_at(p), 3);
    OK(cuMemGetAddressRange_v2(&base, &found, p + 8));
    T_EQ(base, p);
    T_EQ(found, size);
    T_EQ(open_handle(handle), p); /* counted */
    T_EQ(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcCloseMemHandle(p));
    T_EQ(word_at(p), 3);
    OK(cuIpcCloseMemHandle(p));
    T_EQ(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemcpyDtoD_v2(p, p + 8, 4), CUDA_ERROR_INVALID_VALUE);
    give_turn(other.socket);
    wait_turn(other.socket);
    T_EQ(cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_HANDLE); /* its owner has freed it */
    give_turn(other.socket);
    end_other(&other);
}

TEST(ipc_memory, small_allocation)
{
    share(export_small, 4096);
}

TEST(ipc_memory, large_allocation)
{
    share(export_large, 4 * MIB);
}

static void export_and_end(int socket)
{
    CUipcMemHandle handle;
    CUdeviceptr p;

    start_there();
    MUST(cuMemAlloc_v2(&p, 64) == CUDA_SUCCESS);
    MUST(cuIpcGetMemHandle(&handle, p) == CUDA_SUCCESS);
    put_bytes(socket, &handle, sizeof handle);
    wait_turn(socket);
}

/* What is open stays; what is not can no longer be opened. */
TEST(ipc_memory, after_the_exporter_has_ended)
{
    struct other other = start_other(export_and_end);
    CUipcMemHandle handle;
    CUcontext second;
    CUdeviceptr p, q;

    start();
    get_bytes(other.socket, &handle, sizeof handle);
    p = open_handle(handle);
    OK(cuCtxCreate_v2(&second, 0, 0)); /* one context of a device may open a process's handles */
    T_EQ(cuIpcOpenMemHandle_v2(&q, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy_v2(second));
    give_turn(other.socket);
    end_other(&other);
    set_word(p, 5);
    T_EQ(word_at(p), 5);
    OK(cuIpcCloseMemHandle(p));
    T_EQ(cuIpcOpenMemHandle_v2(&q, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_HANDLE);
}

TEST(ipc_memory, goes_with_its_context)
{
    struct other other = start_other(export_and_end);
    CUipcMemHandle handle;
    CUdeviceptr p;

    CUcontext context = start();
    get_bytes(other.socket, &handle, sizeof handle);
    p = open_handle(handle);
    OK(cuCtxDestroy_v2(context));
    start();
    T_EQ(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
    T_NE(open_handle(handle), 0);
    give_turn(other.socket);
    end_other(&other);
}

TEST(ipc_memory, arguments)
{
    CUipcMemHandle handle, garbage;
    CUdeviceptr p, pool_memory;

    start();
    p = allocate(64);
    memset(&garbage, 7, sizeof garbage);
    T_EQ(cuIpcGetMemHandle(NULL, p), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuIpcGetMemHandle(&handle, p + (1 << 30)), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuIpcGetMemHandle(&handle, map_new(GRANULE)), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocAsync(&pool_memory, 64, NULL));
    T_EQ(cuIpcGetMemHandle(&handle, pool_memory), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcGetMemHandle(&handle, p));
    T_EQ(cuIpcOpenMemHandle_v2(&p, handle, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuIpcOpenMemHandle_v2(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuIpcOpenMemHandle_v2(&p, garbage, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_CONTEXT); /* it is this process's own */
    T_EQ(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
}

/* Getting a handle moves the bytes while nothing runs; nothing may get lost. */
TEST(ipc_memory, work_goes_on_while_handles_are_taken)
{
    CUipcMemHandle handle;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned round = 0; round < 20; round++) {
        CUdeviceptr p = allocate(64), q = allocate(64);
        CUfunction function = kernel("put");
        for (unsigned i = 0; i < 10; i++)
            launch(function, stream, (void *[]){&p, &i});
        OK(cuIpcGetMemHandle(&handle, p));
        OK(cuMemcpyDtoDAsync_v2(q, p, 64, stream));
        OK(cuStreamSynchronize(stream));
        T_EQ(word_at(q), 9);
    }
}

/* ---- file descriptors ---- */

static CUmemAllocationProp shareable(void)
{
    CUmemAllocationProp prop = prop_on(0);

    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}

static void send_file(int socket, int file)
{
    char data = 'f', room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
    struct iovec part = {&data, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *control = CMSG_FIRSTHDR(&message);

    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(control), &file, sizeof file);
    MUST(sendmsg(socket, &message, 0) == 1);
}

static int receive_file(int socket)
{
    char data, room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct iovec part = {&data, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int file;

    T_EQ(recvmsg(socket, &message, 0), 1);
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

static CUdeviceptr map_handle(CUmemGenericAllocationHandle handle)
{
    CUmemAccessDesc access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr base = 0;

    MUST(cuMemAddressReserve(&base, GRANULE, 0, 0, 0) == CUDA_SUCCESS);
    MUST(cuMemMap(base, GRANULE, 0, handle, 0) == CUDA_SUCCESS);
    MUST(cuMemSetAccess(base, GRANULE, &access, 1) == CUDA_SUCCESS);
    return base;
}

static void export_file(int socket)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle;
    unsigned word = 0;
    int file;

    start_there();
    MUST(cuMemCreate(&handle, GRANULE, &prop, 0) == CUDA_SUCCESS);
    CUdeviceptr p = map_handle(handle);
    MUST(cuMemsetD32_v2(p, 21, 1) == CUDA_SUCCESS);
    MUST(cuCtxSynchronize() == CUDA_SUCCESS);
    MUST(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) ==
         CUDA_SUCCESS);
    send_file(socket, file);
    close(file);
    wait_turn(socket);
    MUST(cuMemcpyDtoH_v2(&word, p, 4) == CUDA_SUCCESS);
    MUST(word == 22);
}

TEST(ipc_memory, handle_as_a_file)
{
    struct other other = start_other(export_file);
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop;

    start();
    int file = receive_file(other.socket);
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    T_EQ(prop.location.id, 0);
    T_EQ(prop.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUdeviceptr p = map_handle(handle);
    OK(cuMemRelease(handle));
    T_EQ(word_at(p), 21);
    OK(put(p, 22));
    give_turn(other.socket);
    end_other(&other);
    T_EQ(word_at(p), 22);
    OK(cuMemUnmap(p, GRANULE));
}

TEST(ipc_memory, file_arguments)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle, plain, imported;
    int file = -1;

    start();
    plain = create_on(0, GRANULE);
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    T_EQ(cuMemExportToShareableHandle(&file, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemExportToShareableHandle(NULL, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)-1,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)STDIN_FILENO,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)0,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
         CUDA_ERROR_INVALID_VALUE);
}

/* The importer holds the memory, whatever becomes of the handle it was exported from. */
TEST(ipc_memory, file_in_one_process)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle, imported;
    int file = -1;

    start();
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    CUdeviceptr p = map_handle(handle);
    set_word(p, 4);
    OK(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)file,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    CUdeviceptr q = map_handle(imported);
    T_EQ(word_at(q), 4);
    set_word(q, 5);
    T_EQ(word_at(p), 5);
    OK(cuMemUnmap(p, GRANULE));
    OK(cuMemRelease(handle));
    T_EQ(word_at(q), 5);
}
