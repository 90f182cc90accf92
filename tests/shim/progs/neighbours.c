/* neighbours.c: a program beside other libraries that have to do with driver functions.
 *
 *   neighbours plain           a setter, a launch, the result: prints "result N"
 *   neighbours namesake LIB    the same, after looking cuGraphLaunch up in LIB, which is no driver
 *   neighbours alike LIB       the same, after calling functions of LIB whose names begin like a
 *                              driver's
 *   neighbours apart LIB       two equal setters of its own, and between and after them the results
 *                              of LIB, which is opened with RTLD_DEEPBIND and has an exec of its
 * own neighbours behind LIB      two equal setters of its own with one between them that LIB sends
 *                              past us; the result must be that of the last one
 *   neighbours converted       setters of both forms, of which the first is answered by the second:
 *                              the result must be that of the last one */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include "rig.h"

static unsigned long long launch(struct rig *rig)
{
    unsigned long long result = 0;

    MUST(cuGraphLaunch(rig->exec, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH_v2(&result, rig->buffer, sizeof(result)));
    return result;
}

static void *library(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);

    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static void namesake(const char *path)
{
    int (*other)(void *, void *) = (int (*)(void *, void *))dlsym(library(path), "cuGraphLaunch");

    printf("namesake %d\n", other ? other(NULL, NULL) : -1);
}

static void alike(const char *path)
{
    static const char *const names[] = {"cudnnCreate", "curl_easy_init", "cublasCreate_v2",
                                        "cuThing"};

    printf("alike ");
    for (int i = 0; i < 4; i++) {
        int (*function)(void) = (int (*)(void))dlsym(library(path), names[i]);

        printf("%d ", function ? function() : -1);
    }
}

static unsigned long long (*apart_result)(unsigned long long);

static void apart(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);

    if (!handle)
        exit(1);
    apart_result = (unsigned long long (*)(unsigned long long))dlsym(handle, "apart_result");
    printf("apart %llu %llu ", apart_result(10), apart_result(11));
}

static void behind(struct rig *rig, const char *path)
{
    CUresult (*set)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *) =
        (CUresult(*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *))dlsym(
            library(path), "behind_set");
    unsigned long long other = 50;
    void *args[] = {&rig->p, &rig->a, &other};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig->store, args);

    for (int node = 0; node < 2; node++)
        MUST(set(rig->exec, rig->kernel[node], &params));
}

static void converted(struct rig *rig)
{
    unsigned long long other = 50;
    void *args[] = {&rig->p, &rig->a, &rig->b}, *others[] = {&rig->p, &rig->a, &other};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig->store, args),
                               between = rig_params(rig->store, others);

    /* It would hide the other's result. */
    MUST(cuGraphNodeSetEnabled(rig->exec, rig->kernel[1], 0));
    MUST(cuGraphExecKernelNodeSetParams(rig->exec, rig->kernel[0],
                                        (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params));
    MUST(cuGraphExecKernelNodeSetParams_v2(rig->exec, rig->kernel[0], &between));
    MUST(cuGraphExecKernelNodeSetParams_v2(rig->exec, rig->kernel[0], &params));
}

int main(int argc, char **argv)
{
    struct rig rig = {0};
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params;

    if (argc > 2 && !strcmp(argv[1], "namesake"))
        namesake(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "alike"))
        alike(argv[2]);
    rig_up(&rig);
    if (argc > 1 && !strcmp(argv[1], "converted")) {
        converted(&rig);
        printf("result %llu\n", launch(&rig));
        return 0;
    }
    params = rig_params(rig.store, args);
    for (int round = 0; round < 2; round++) {
        for (int node = 0; node < 2; node++)
            MUST(cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[node], &params));
        if (!round && argc > 2 && !strcmp(argv[1], "behind"))
            behind(&rig, argv[2]);
        if (!round && argc > 2 && !strcmp(argv[1], "apart"))
            apart(argv[2]);
    }
    if (apart_result)
        printf("%llu %llu ", apart_result(12), apart_result(12));
    printf("result %llu\n", launch(&rig));
    return 0;
}
