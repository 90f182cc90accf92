/* cuGetProcAddress by its documentation, and all that a real runtime asks of it. */
#include "tests/fake/driver_fixture.h"

#include <dlfcn.h>

/* The exported name of an entry point that cuGetProcAddress has answered. */
static const char *name_of(void *entry)
{
    Dl_info info;

    T_NE(dladdr(entry, &info), 0);
    return info.dli_sname;
}

static void *ask(const char *name, int version, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    void *entry = NULL;

    OK(cuGetProcAddress_v2(name, &entry, version, flags, &status));
    T_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
    T_NOT_NULL(entry);
    return entry;
}

#define ANSWERS(name, version, flags, symbol) T_STR_EQ(name_of(ask(name, version, flags)), symbol)

TEST(driver_procaddr, the_version_chooses_the_abi)
{
    ANSWERS("cuMemAlloc", 2000, 0, "cuMemAlloc");
    ANSWERS("cuMemAlloc", 3010, 0, "cuMemAlloc");
    ANSWERS("cuMemAlloc", 3020, 0, "cuMemAlloc_v2");
    ANSWERS("cuMemAlloc", 13000, 0, "cuMemAlloc_v2");
    ANSWERS("cuGraphExecKernelNodeSetParams", 10010, 0, "cuGraphExecKernelNodeSetParams");
    ANSWERS("cuGraphExecKernelNodeSetParams", 11080, 0, "cuGraphExecKernelNodeSetParams");
    ANSWERS("cuGraphExecKernelNodeSetParams", 12000, 0, "cuGraphExecKernelNodeSetParams_v2");
    ANSWERS("cuGraphExecUpdate", 10020, 0, "cuGraphExecUpdate");
    ANSWERS("cuGraphExecUpdate", 12000, 0, "cuGraphExecUpdate_v2");
    ANSWERS("cuCtxGetDevice", 2000, 0, "cuCtxGetDevice");
    ANSWERS("cuCtxGetDevice", 13000, 0, "cuCtxGetDevice_v2");
}

TEST(driver_procaddr, asked_about_itself)
{
    CUresult (*four)(const char *, void **, int, cuuint64_t);
    CUresult (*five)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    void *entry = NULL;

    ANSWERS("cuGetProcAddress", 11030, 0, "cuGetProcAddress");
    ANSWERS("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
    *(void **)&four = ask("cuGetProcAddress", 11030, 0);
    *(void **)&five = ask("cuGetProcAddress", 12000, 0);
    OK(four("cuInit", &entry, 2000, 0));
    T_STR_EQ(name_of(entry), "cuInit");
    OK(five("cuMemFree", &entry, 3020, 0, NULL));
    T_STR_EQ(name_of(entry), "cuMemFree_v2");
}

TEST(driver_procaddr, flags_choose_the_per_thread_twin)
{
    ANSWERS("cuGraphLaunch", 10000, CU_GET_PROC_ADDRESS_DEFAULT, "cuGraphLaunch");
    ANSWERS("cuGraphLaunch", 10000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, "cuGraphLaunch");
    ANSWERS("cuGraphLaunch", 10000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
            "cuGraphLaunch_ptsz");
    ANSWERS("cuMemcpyHtoD", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
            "cuMemcpyHtoD_v2_ptds");
    /* Without a twin (in that version) the ordinary function. */
    ANSWERS("cuMemcpyHtoD", 3020, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuMemcpyHtoD_v2");
    ANSWERS("cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuMemAlloc_v2");
}

TEST(driver_procaddr, what_is_not_found)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *entry = &status;

    T_EQ(cuGetProcAddress_v2("cuNoSuchCall", &entry, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
    T_NULL(entry);
    T_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    entry = &status;
    T_EQ(cuGetProcAddress_v2("cuGraphLaunch", &entry, 9000, 0, &status), CUDA_ERROR_NOT_FOUND);
    T_NULL(entry);
    T_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    /* A name with its suffix is none here, nor is the empty one that the runtime begins with. */
    T_EQ(cuGetProcAddress_v2("cuMemAlloc_v2", &entry, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
    T_EQ(cuGetProcAddress_v2("", &entry, 0, 0, &status), CUDA_ERROR_NOT_FOUND);
    T_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    T_EQ(cuGetProcAddress("cuNoSuchCall", &entry, 13000, 0), CUDA_ERROR_NOT_FOUND);
    T_NULL(entry);
}

TEST(driver_procaddr, invalid_arguments)
{
    void *entry;

    T_EQ(cuGetProcAddress_v2("cuInit", &entry, 13010, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuGetProcAddress_v2("cuInit", &entry, 13000, 8, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuGetProcAddress_v2(NULL, &entry, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuGetProcAddress_v2("cuInit", NULL, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
}

TEST(driver_procaddr, an_older_driver)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *entry;
    int version;

    setenv("FAKEVMM_DRIVER", "11080", 1);
    OK(cuDriverGetVersion(&version));
    T_EQ(version, 11080);
    OK(cuGetProcAddress("cuGraphExecUpdate", &entry, 11080, 0));
    T_STR_EQ(name_of(entry), "cuGraphExecUpdate");
    T_EQ(cuGetProcAddress("cuGraphExecUpdate", &entry, 12000, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuGetProcAddress("cuFuncGetParamInfo", &entry, 11080, 0), CUDA_ERROR_NOT_FOUND);
    /* The library can't hide names it exports; what the driver lacks does not work. */
    T_EQ(cuGetProcAddress_v2("cuInit", &entry, 11080, 0, &status), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(driver_procaddr, driver_12_4)
{
    setenv("FAKEVMM_DRIVER", "12040", 1);
    ANSWERS("cuFuncGetParamInfo", 12040, 0, "cuFuncGetParamInfo");
    ANSWERS("cuCtxGetDevice", 12040, 0, "cuCtxGetDevice");
}

TEST(driver_procaddr, pointers_equal_the_exported_symbols)
{
    T_PTR_EQ(ask("cuMemAlloc", 13000, 0), (void *)cuMemAlloc_v2);
    T_PTR_EQ(ask("cuInit", 2000, 0), dlsym(RTLD_DEFAULT, "cuInit"));
}

TEST(driver_procaddr, pointers_may_differ_from_the_exported_symbols)
{
    CUresult (*init)(unsigned);

    setenv("FAKEVMM_MODEL", "gpa=distinct", 1);
    *(void **)&init = ask("cuInit", 2000, 0);
    T_ASSERT((void *)init != (void *)cuInit);
    T_ASSERT(ask("cuMemAlloc", 13000, 0) != (void *)cuMemAlloc_v2);
    T_PTR_EQ(ask("cuInit", 13000, 0), (void *)init);
    OK(init(0));
    CUdevice device;
    OK(cuDeviceGet(&device, 0)); /* one driver behind both */
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

TEST(driver_procaddr, all_that_the_runtime_asks)
{
    static const struct {
        const char *name;
        int version, flags;
    } lookups[] = {
#define LOOKUP(name, version, flags) {#name, version, flags},
#include "tests/fake/driver_lookups.def"
    };
    size_t count = sizeof lookups / sizeof lookups[0];

    T_EQ(count, 410);
    for (size_t i = 0; i < count; i++) {
        void *entry = ask(lookups[i].name, lookups[i].version, (cuuint64_t)lookups[i].flags);
        const char *symbol = name_of(entry);
        bool twin = ends_with(symbol, "_ptsz") || ends_with(symbol, "_ptds");
        T_ASSERT(strncmp(symbol, lookups[i].name, strlen(lookups[i].name)) == 0, "%s is %s",
                 lookups[i].name, symbol);
        T_ASSERT(twin == (lookups[i].flags == 2), "%s with flags %d is %s", lookups[i].name,
                 lookups[i].flags, symbol);
    }
}

TEST(driver_procaddr, private_tables_are_refused)
{
    const CUuuid id = {.bytes = "no such table"};
    const void *table = &id;

    T_NE(cuGetExportTable(&table, &id), CUDA_SUCCESS);
    T_NULL(table);
}
