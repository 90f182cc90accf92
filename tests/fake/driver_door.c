/* The driver as a process sees it: before cuInit, after exit, in a forked child; injected faults,
 * counts, malformed settings, names of errors. */
#include "tests/fake/driver_fixture.h"

static char counts_file[64];

static const char *use_counts_file(void)
{
    snprintf(counts_file, sizeof counts_file, "/tmp/driver_door.XXXXXX");
    int file = mkstemp(counts_file);
    T_GE(file, 0);
    close(file);
    setenv("FAKEVMM_COUNTS", counts_file, 1);
    return counts_file;
}

static const char *read_counts(void)
{
    static char text[8192];
    FILE *file = fopen(counts_file, "r");

    T_NOT_NULL(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(counts_file);
    return text;
}

/* ---- before and after ---- */

TEST(driver_door, refuses_before_init)
{
    CUcontext context;
    CUdevice device;
    CUdeviceptr address;
    int version = 0;
    const char *name = NULL;

    T_EQ(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
    T_EQ(cuMemAlloc_v2(&address, 1), CUDA_ERROR_NOT_INITIALIZED);
    T_EQ(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    T_EQ(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    /* These need no driver. */
    OK(cuDriverGetVersion(&version));
    T_EQ(version, 13000);
    OK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name));
    T_STR_EQ(name, "CUDA_ERROR_NOT_INITIALIZED");
    T_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
}

static void say_result(void)
{
    CUdevice device;
    int version = 0;

    child_say("device %d version %d", cuDeviceGet(&device, 0), cuDriverGetVersion(&version));
}

static void init_between_handlers(void)
{
    atexit(say_result); /* runs after the driver's handler */
    cuInit(0);
}

static void handler_after_init(void)
{
    cuInit(0);
    atexit(say_result); /* runs before it */
}

TEST(driver_door, is_gone_for_handlers_older_than_init)
{
    struct child child = in_child(init_between_handlers);

    T_EQ(child.exit_code, 0);
    T_STR_EQ(child.said, "device 4 version 0"); /* CUDA_ERROR_DEINITIALIZED */
    child = in_child(handler_after_init);
    T_STR_EQ(child.said, "device 0 version 0");
}

static void exit_with_work(void)
{
    static atomic_bool open;

    start();
    CUstream stream = new_stream(0);
    close_gate(stream, &open);
    OK(cuMemsetD8Async(allocate(1 << 20), 1, 1 << 20, stream));
}

TEST(driver_door, exit_does_not_wait_for_a_host_function)
{
    T_EQ(in_child(exit_with_work).exit_code, 0);
}

static void use_in_child(void)
{
    CUdevice device;
    CUdeviceptr address;

    child_say("%d %d %d %d", cuInit(0), cuDeviceGet(&device, 0), cuMemAlloc_v2(&address, 1),
              cuCtxSynchronize());
#ifdef __SANITIZE_ADDRESS__
    _exit(0); /* the leak checker may hang in the child of a process with threads */
#endif
}

TEST(driver_door, forked_child_is_refused)
{
    start();
    OK(cuMemsetD8_v2(allocate(4096), 1, 4096)); /* workers run */
    struct child child = in_child(use_in_child);
    T_EQ(child.exit_code, 0);
    T_STR_EQ(child.said, "3 3 3 3"); /* CUDA_ERROR_NOT_INITIALIZED */
    OK(cuCtxSynchronize());
}

static void start_in_child(void)
{
    start();
}

TEST(driver_door, child_of_an_idle_process_may_start)
{
    int version;

    OK(cuDriverGetVersion(&version));
    T_EQ(in_child(start_in_child).exit_code, 0);
}

/* ---- counts ---- */

static void late_call(void)
{
    int version;

    cuDriverGetVersion(&version);
}

static void make_calls(void)
{
    CUresult (*get)(int *, CUdevice_attribute, CUdevice) = NULL;
    int value;

    atexit(late_call);
    start();
    for (int i = 0; i < 3; i++)
        OK(cuCtxSynchronize());
    OK(cuGetProcAddress_v2("cuDeviceGetAttribute", (void **)&get, 13000, 0, NULL));
    OK(get(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    T_EQ(cuCtxDestroy_v2(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_counts(void)
{
    use_counts_file();
    T_EQ(in_child(make_calls).exit_code, 0);
    /* Failed calls count; calls that the library makes itself do not. */
    T_STR_EQ(read_counts(), "{\n"
                            "  \"cuCtxCreate_v2\": 1,\n"
                            "  \"cuCtxDestroy_v2\": 1,\n"
                            "  \"cuCtxSynchronize\": 3,\n"
                            "  \"cuDeviceGetAttribute\": 2,\n"
                            "  \"cuDriverGetVersion\": 1,\n"
                            "  \"cuGetProcAddress_v2\": 1,\n"
                            "  \"cuInit\": 1\n"
                            "}\n");
}

TEST(driver_door, counts_calls_under_the_exported_name)
{
    check_counts();
}

TEST(driver_door, counts_calls_through_other_pointers_too)
{
    setenv("FAKEVMM_MODEL", "gpa=distinct", 1);
    check_counts();
}

static void print_pid(void)
{
    cuInit(0);
    child_say("%ld", (long)getpid());
}

TEST(driver_door, counts_file_may_name_the_process)
{
    char pattern[96];

    use_counts_file();
    unlink(counts_file);
    snprintf(pattern, sizeof pattern, "%s.%%p.json", counts_file);
    setenv("FAKEVMM_COUNTS", pattern, 1);
    struct child child = in_child(print_pid);
    size_t used = strlen(counts_file);
    snprintf(counts_file + used, sizeof counts_file - used, ".%.16s.json", child.said);
    T_STR_EQ(read_counts(), "{\n  \"cuInit\": 1\n}\n");
}

/* ---- faults ---- */

TEST(driver_door, fault_on_the_nth_call)
{
    CUdeviceptr address;
    size_t before, after, total;

    setenv("FAKEVMM_FAULT", "cuMemAlloc_v2:2:CUDA_ERROR_OUT_OF_MEMORY,cuCtxSynchronize:1:719", 1);
    start();
    OK(cuMemAlloc_v2(&address, 4096));
    OK(cuMemGetInfo_v2(&before, &total));
    T_EQ(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemGetInfo_v2(&after, &total));
    T_EQ(before, after); /* the implementation was not reached */
    OK(cuMemAlloc_v2(&address, 4096));
    T_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    OK(cuCtxSynchronize());
}

TEST(driver_door, persistent_fault)
{
    CUdeviceptr address;

    setenv("FAKEVMM_FAULT", "cuMemAlloc_v2:2:CUDA_ERROR_OUT_OF_MEMORY:persistent", 1);
    start();
    OK(cuMemAlloc_v2(&address, 4096));
    for (int i = 0; i < 3; i++)
        T_EQ(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(driver_door, fault_without_an_error_is_an_error)
{
    setenv("FAKEVMM_FAULT", "cuInit:1", 1);
    T_NE(cuInit(0), CUDA_SUCCESS);
    OK(cuInit(0));
}

TEST(driver_door, fault_names_one_entry_point)
{
    CUresult (*second)(CUcontext) = NULL;

    setenv("FAKEVMM_FAULT", "cuCtxSynchronize:1:persistent", 1);
    start();
    OK(cuGetProcAddress_v2("cuCtxSynchronize", (void **)&second, 13000, 0, NULL));
    T_NE(cuCtxSynchronize(), CUDA_SUCCESS);
    OK(second(NULL)); /* cuCtxSynchronize_v2 */
}

/* ---- settings ---- */

static void init_only(void)
{
    cuInit(0);
}

static void check_refused(const char *name, const char *value)
{
    setenv(name, value, 1);
    struct child child = in_child(init_only);
    unsetenv(name);
    T_EQ(child.exit_code, 2);
    T_STR_HAS(child.err, name);
    T_STR_HAS(child.err, value);
    T_STR_HAS(child.err, "use ");
}

TEST(driver_door, malformed_settings_stop_the_program)
{
    check_refused("FAKEVMM_FAULT", "cuNoSuchCall:1");
    check_refused("FAKEVMM_FAULT", "cuInit");
    check_refused("FAKEVMM_FAULT", "cuInit:0");
    check_refused("FAKEVMM_FAULT", "cuInit:one");
    check_refused("FAKEVMM_FAULT", "cuMemAlloc_v2:1:CUDA_ERROR_NO_SUCH");
    check_refused("FAKEVMM_FAULT", "cuMemAlloc_v2:1:12345");
    check_refused("FAKEVMM_FAULT", "cuMemAlloc_v2:1,");
    check_refused("FAKEVMM_VA", "fifo");
    check_refused("FAKEVMM_MODEL", "gpa=maybe");
    check_refused("FAKEVMM_MODEL", "gpa=same,colour=red");
    check_refused("FAKEVMM_DEVICES", "-1");
    check_refused("FAKEVMM_DEVICES", "two");
    check_refused("FAKEVMM_MEMORY", "80GB");
    check_refused("FAKEVMM_MEMORY", "0");
    check_refused("FAKEVMM_DRIVER", "12010");
}

TEST(driver_door, empty_settings_are_unset)
{
    setenv("FAKEVMM_VA", "", 1);
    setenv("FAKEVMM_DRIVER", "", 1);
    setenv("FAKEVMM_FAULT", "", 1);
    T_EQ(in_child(init_only).exit_code, 0);
}

TEST(driver_door, device_settings)
{
    size_t bytes = 0, available, total;
    int count = 0;

    setenv("FAKEVMM_DEVICES", "3", 1);
    setenv("FAKEVMM_MEMORY", "512M", 1);
    start();
    OK(cuDeviceGetCount(&count));
    T_EQ(count, 3);
    OK(cuDeviceTotalMem_v2(&bytes, 2));
    T_EQ(bytes, 512 << 20);
    OK(cuMemGetInfo_v2(&available, &total));
    T_EQ(total, 512 << 20);
}

TEST(driver_door, no_device)
{
    setenv("FAKEVMM_DEVICES", "0", 1);
    T_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

/* ---- what is missing, and names ---- */

static void call_missing(void)
{
    start();
    T_EQ(cuMulticastUnbind(0, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMulticastUnbind(0, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(driver_door, names_what_is_missing_once)
{
    struct child child = in_child(call_missing);

    T_EQ(child.exit_code, 0);
    const char *line = strstr(child.err, "cuMulticastUnbind is not implemented\n");
    T_NOT_NULL(line);
    T_NULL(strstr(line + 1, "cuMulticastUnbind"));
}

TEST(driver_door, names_of_errors)
{
    const char *text = NULL;

    OK(cuGetErrorName(CUDA_SUCCESS, &text));
    T_STR_EQ(text, "CUDA_SUCCESS");
    OK(cuGetErrorName(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, &text));
    T_STR_EQ(text, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE");
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    T_STR_EQ(text, "out of memory");
    T_EQ(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    T_NULL(text);
    T_EQ(cuGetErrorString((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    T_NULL(text);
}
