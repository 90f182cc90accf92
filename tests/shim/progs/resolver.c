/* resolver.c: prints what the resolvers answer, for every function of the driver's table:
 *
 *   dlsym NAME LIBRARY SYMBOL
 *   procaddress1 BASE VERSION FLAGS LIBRARY SYMBOL      (the 4-argument form)
 *   procaddress2 BASE VERSION FLAGS LIBRARY SYMBOL      (the 5-argument form)
 *
 * LIBRARY and SYMBOL are the owner of the address, "none none" for a null answer. The resolver's
 * own address comes from asking it about itself, as the CUDA runtime does.
 *
 *   resolver            all of that
 *   resolver default    dlsym through RTLD_DEFAULT and RTLD_NEXT only */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
    const char *symbol, *base;
    int since;
    int ptds;
};

static const struct name names[] = {
#define FV(symbol, base, since, ptds, impl, params, args) {#symbol, #base, since, ptds},
#include "fakevmm/entries.def"
};

#define NAMES (sizeof(names) / sizeof(*names))

static void print_owner(const void *address)
{
    Dl_info info;
    const char *slash;

    if (!address || !dladdr(address, &info)) {
        printf(" none none\n");
        return;
    }
    slash = strrchr(info.dli_fname, '/');
    printf(" %s %s\n", slash ? slash + 1 : info.dli_fname,
           info.dli_sname && info.dli_saddr == address ? info.dli_sname : "inside");
}

static void by_default(void)
{
    for (size_t i = 0; i < NAMES; i++) {
        printf("default %s", names[i].symbol);
        print_owner(dlsym(RTLD_DEFAULT, names[i].symbol));
        printf("next %s", names[i].symbol);
        print_owner(dlsym(RTLD_NEXT, names[i].symbol));
    }
}

static void by_handle(void *driver)
{
    for (size_t i = 0; i < NAMES; i++) {
        printf("dlsym %s", names[i].symbol);
        print_owner(dlsym(driver, names[i].symbol));
    }
}

static void by_procaddress(void *driver)
{
    CUresult (*v1)(const char *, void **, int, cuuint64_t) = NULL;
    CUresult (*v2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        dlsym(driver, "cuGetProcAddress_v2");
    void *self = NULL, *answer;
    CUdriverProcAddressQueryResult status;

    if (!v2 || v2("cuGetProcAddress", &self, 11030, 0, &status) != CUDA_SUCCESS)
        exit(1);
    memcpy(&v1, &self, sizeof(v1));
    if (v2("cuGetProcAddress", &self, 12000, 0, NULL) != CUDA_SUCCESS)
        exit(1);
    memcpy(&v2, &self, sizeof(v2));
    for (size_t i = 0; i < NAMES; i++) {
        cuuint64_t flags = names[i].ptds ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

        answer = NULL;
        if (v1(names[i].base, &answer, names[i].since, flags) != CUDA_SUCCESS)
            answer = NULL;
        printf("procaddress1 %s %d %d", names[i].base, names[i].since, (int)flags);
        print_owner(answer);
        answer = NULL;
        if (v2(names[i].base, &answer, names[i].since, flags, &status) != CUDA_SUCCESS)
            answer = NULL;
        printf("procaddress2 %s %d %d", names[i].base, names[i].since, (int)flags);
        print_owner(answer);
    }
}

int main(int argc, char **argv)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);

    if (!driver) {
        fprintf(stderr, "resolver: %s\n", dlerror());
        return 1;
    }
    if (argc > 1 && !strcmp(argv[1], "default"))
        return by_default(), 0;
    by_handle(driver);
    by_procaddress(driver);
    return 0;
}
