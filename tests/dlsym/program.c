/* program.c: what a caller of dlsym may rely on (dlsym(3), dlerror(3)), and what becomes of a
 * driver function's name. tests/shim/dlsym.sh runs it alone, under the library, and under the
 * library with libbehind.so after it; VR_OURS, VR_OFF and VR_BEHIND say which, VR_LIBS where the
 * libraries are. It needs no fake GPU, so that it also runs on another architecture. Each test is a
 * process of its own: the first dlsym in it is the library's first, too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include "tests/dlsym/places.h"
#include "tests/unit/vr_test.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

/* Weak: where they are not, nothing is preloaded. */
extern void *behind_caller(void) __attribute__((weak));
extern int behind_calls(void) __attribute__((weak));

static bool with(const char *what)
{
    return getenv(what) != NULL;
}

static void *open_library(const char *name)
{
    char path[1024];
    void *handle;

    snprintf(path, sizeof path, "%s/%s", getenv("VR_LIBS") ? getenv("VR_LIBS") : ".", name);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    T_ASSERT(handle, "%s", dlerror());
    return handle;
}

/* The file that an address is in. */
static const char *owner(const void *address)
{
    Dl_info info;

    T_ASSERT(address && dladdr(address, &info), "%p is in no object", address);
    return info.dli_fname;
}

static void is_place(void *function, const char *place)
{
    T_NOT_NULL(function);
    T_STR_EQ(((place_t)function)(), place);
}

/* ---- the caller's place ---- */

TEST(next, from_the_program)
{
    is_place(dlsym(RTLD_NEXT, "vr_place"), "first");
}

TEST(next, from_a_library)
{
    is_place(first_next("vr_place"), "second");
}

TEST(next, from_the_last_library)
{
    T_NULL(second_next("vr_place"));
    T_STR_HAS(dlerror(), "vr_place");
}

TEST(next, again_after_the_first_call)
{
    is_place(first_next("vr_place"), "second");
    is_place(dlsym(RTLD_NEXT, "vr_place"), "first");
    is_place(first_next("vr_place"), "second");
    T_NULL(second_next("vr_place"));
}

/* A driver function that nobody has, on the way that notes the caller. */
TEST(next, a_driver_name_nobody_has)
{
    T_NULL(first_next("cuNobodyHasThis"));
    T_STR_HAS(dlerror(), "cuNobodyHasThis");
    is_place(first_next("vr_place"), "second");
}

/* From the program, what is preloaded is next. */
TEST(next, a_driver_name_from_the_program)
{
    void *found = dlsym(RTLD_NEXT, "cuMemAlloc_v2");

    if (with("VR_OURS") || with("VR_OFF"))
        T_STR_HAS(owner(found), "libvaremap.so");
    else
        T_NULL(found);
}

/* From a library after what is preloaded, nothing is: the library must notice that it was passed by
 * (tests/shim/dlsym.sh looks at the log). */
TEST(next, a_driver_name_from_a_library)
{
    T_NULL(first_next("cuMemAlloc_v2"));
}

TEST(next, by_version)
{
    is_place(first_next_version("vr_place"), "second");
    is_place(dlvsym(RTLD_NEXT, "vr_place", "VR_1"), "first");
    T_NULL(dlvsym(RTLD_NEXT, "vr_place", "VR_2"));
    T_NULL(first_next_version("cuNobodyHasThis"));
    T_STR_HAS(dlerror(), "cuNobodyHasThis");
    is_place(first_next_version("vr_place"), "second");
}

TEST(default_scope, from_the_program)
{
    is_place(dlsym(RTLD_DEFAULT, "vr_place"), "first");
    open_library("libalone.so");
    T_NULL(dlsym(RTLD_DEFAULT, "vr_only_alone"));
}

/* A library that was opened RTLD_LOCAL finds its own symbols, and no other caller does. */
TEST(default_scope, from_a_local_library)
{
    void *alone = open_library("libalone.so");
    lookup_t look_up = (lookup_t)dlsym(alone, "alone_default");

    T_NOT_NULL((void *)look_up);
    T_NOT_NULL(look_up("vr_only_alone"));
    is_place(look_up("vr_place"), "first");
    T_PTR_EQ(look_up("vr_only_alone"), dlsym(alone, "vr_only_alone"));
}

/* ---- the state of dlerror ---- */

TEST(error, is_clear_after_a_hooked_name)
{
    void *driver = open_library("libdriver.so");

    T_NOT_NULL(dlsym(driver, "cuMemAlloc_v2"));
    T_NULL(dlerror());
}

TEST(error, names_what_was_asked_for)
{
    void *driver = open_library("libdriver.so");

    T_NULL(dlsym(driver, "cuGraphLaunch"));
    T_STR_HAS(dlerror(), "cuGraphLaunch");
    T_NULL(dlerror());
    T_NULL(dlsym(driver, "vr_no_such_name"));
    T_STR_HAS(dlerror(), "vr_no_such_name");
}

/* Whether a later success takes an unread error away is libc's affair: it shows in what the same
 * calls leave for a name that we do not touch. */
TEST(error, an_unread_one_goes_as_it_does_without_us)
{
    void *driver = open_library("libdriver.so");
    bool kept;

    T_NULL(dlsym(driver, "vr_no_such_name"));
    T_NOT_NULL(dlsym(driver, "cuInit"));
    kept = dlerror() != NULL;
    T_NULL(dlsym(driver, "vr_no_such_name"));
    T_NOT_NULL(dlsym(driver, "cuMemAlloc_v2"));
    T_EQ(dlerror() != NULL, kept);
}

/* ---- the jump ---- */

TEST(jump, the_next_dlsym_sees_the_caller)
{
    if (!with("VR_BEHIND"))
        T_SKIP("only with another dlsym behind");
    is_place(first_next("vr_place"), "second");
    T_STR_HAS(owner(behind_caller()), "libfirst.so");
    first_next("cuMemAlloc_v2");
    T_STR_HAS(owner(behind_caller()), "libfirst.so");
    is_place(dlsym(RTLD_DEFAULT, "vr_place"), "first");
    T_STR_HAS(owner(behind_caller()), "program");
    T_EQ(behind_calls(), 3);
}

/* ---- driver names ---- */

TEST(driver, by_its_handle)
{
    void *driver = open_library("libdriver.so");
    const char *ours = with("VR_OURS") ? "libvaremap.so" : "libdriver.so";

    T_STR_HAS(owner(dlsym(driver, "cuMemAlloc_v2")), ours);
    T_STR_HAS(owner(dlsym(driver, "cuGetProcAddress_v2")), ours);
    T_STR_HAS(owner(dlsym(driver, "cuInit")), "libdriver.so");
}

/* A driver has no versions, so that none is found. */
TEST(driver, by_version)
{
    void *driver = open_library("libdriver.so");

    T_NULL(dlvsym(driver, "cuInit", "VR_1"));
    T_STR_HAS(dlerror(), "VR_1");
    T_NULL(dlvsym(driver, "cuMemAlloc_v2", "VR_1"));
    T_STR_HAS(dlerror(), "VR_1");
}

TEST(driver, by_procaddress)
{
    CUresult (*resolve)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        dlsym(open_library("libdriver.so"), "cuGetProcAddress_v2");
    void *answer = NULL;

    T_EQ(resolve("cuMemAlloc", &answer, 3020, 0, NULL), CUDA_SUCCESS);
    T_STR_HAS(owner(answer), with("VR_OURS") ? "libvaremap.so" : "libdriver.so");
    T_EQ(resolve("cuInit", &answer, 2000, 0, NULL), CUDA_SUCCESS);
    T_STR_HAS(owner(answer), "libdriver.so");
    T_EQ(resolve("cuMemAlloc", &answer, 2000, 0, NULL), CUDA_ERROR_NOT_FOUND);
}

TEST(driver, calls_arrive_and_answers_come_back)
{
    void *driver = open_library("libdriver.so");
    CUresult (*allocate)(CUdeviceptr *, size_t) = dlsym(driver, "cuMemAlloc_v2");
    CUresult (*release)(CUdeviceptr) = dlsym(driver, "cuMemFree_v2");
    CUdeviceptr address = 0;

    T_EQ(allocate(&address, 4096), CUDA_SUCCESS);
    T_EQ(address, 0x700001000);
    T_EQ(allocate(&address, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(release(address), CUDA_SUCCESS);
    T_EQ(release(0), CUDA_ERROR_INVALID_VALUE);
}

enum { THREADS = 8 };

static void *race(void *start)
{
    void *driver = open_library("libdriver.so");

    pthread_barrier_wait(start);
    return dlsym(driver, "cuMemAlloc_v2");
}

TEST(driver, threads_at_the_first_call)
{
    pthread_barrier_t start;
    pthread_t thread[THREADS];
    void *found[THREADS];

    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&thread[i], NULL, race, &start), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], &found[i]);
    for (int i = 0; i < THREADS; i++)
        T_PTR_EQ(found[i], found[0]);
    T_STR_HAS(owner(found[0]), with("VR_OURS") ? "libvaremap.so" : "libdriver.so");
}
