/* resolver.c: prints what the resolvers answer, for every function of the driver's table:
 *
 *   dlsym NAME LIBRARY SYMBOL
 *   procaddress1 BASE VERSION FLAGS LIBRARY SYMBOL      (the 4-argument form)
 *   procaddress2 BASE VERSION FLAGS LIBRARY SYMBOL      (the 5-argument form)
 *
 * LIBRARY and SYMBOL are the owner of the address, "none none" for a null answer. The resolver's
 * own address comes from asking it about itself, as the CUDA runtime does.
 *
 *   resolver                 all of that
 *   resolver default         dlsym through RTLD_DEFAULT and RTLD_NEXT only
 *   resolver flags           cuGetProcAddress alone, for each name at several versions with each
 * flag; also the result and the status, and what is asked without a status resolver dlvsym VERSION
 * dlvsym with a handle, RTLD_DEFAULT and RTLD_NEXT resolver dlsym           where this program's
 * dlsym and dlvsym are: as bound, by look-ups without and with each version that glibc gave them */
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

static void ask_flag(CUresult (*ask)(const char *, void **, int, cuuint64_t,
                                     CUdriverProcAddressQueryResult *),
                     const char *base, int version, cuuint64_t flag)
{
    CUdriverProcAddressQueryResult status = -1;
    void *answer = NULL, *again = NULL;
    CUresult result = ask(base, &answer, version, flag, &status);
    CUresult second = ask(base, &again, version, flag, NULL);

    printf("flags %s %d %d result %d status %d %s", base, version, (int)flag, (int)result,
           (int)status, second == result && again == answer ? "same" : "differs");
    print_owner(answer);
}

static void by_flags(void *driver)
{
    CUresult (*ask)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        dlsym(driver, "cuGetProcAddress_v2");

    for (size_t i = 0; ask && i < NAMES; i++) {
        for (cuuint64_t flag = 0; flag < 4; flag++) {
            ask_flag(ask, names[i].base, names[i].since, flag);
            ask_flag(ask, names[i].base, names[i].since - 1, flag);
            ask_flag(ask, names[i].base, 13000, flag);
            ask_flag(ask, names[i].base, 99000, flag);
        }
    }
}

static void by_dlvsym(void *driver, const char *version)
{
    for (size_t i = 0; i < NAMES; i++) {
        printf("dlvsym %s", names[i].symbol);
        print_owner(dlvsym(driver, names[i].symbol, version));
        printf("default %s", names[i].symbol);
        print_owner(dlvsym(RTLD_DEFAULT, names[i].symbol, version));
        printf("next %s", names[i].symbol);
        print_owner(dlvsym(RTLD_NEXT, names[i].symbol, version));
    }
}

#ifdef __aarch64__
#define FIRST_VERSION "GLIBC_2.17"
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif

/* The same function, bound as by a program that was linked before glibc 2.34. */
extern void *old_dlsym(void *, const char *);
__asm__(".symver old_dlsym, dlsym@" FIRST_VERSION);

static void dlsym_itself(void)
{
    static const char *const functions[] = {"dlsym", "dlvsym"};

    printf("bound dlsym");
    print_owner((void *)dlsym);
    printf("bound_old dlsym");
    print_owner((void *)old_dlsym);
    printf("bound dlvsym");
    print_owner((void *)dlvsym);
    for (int i = 0; i < 2; i++) {
        printf("unversioned %s", functions[i]);
        print_owner(dlsym(RTLD_DEFAULT, functions[i]));
        printf("next %s", functions[i]);
        print_owner(dlsym(RTLD_NEXT, functions[i]));
        printf("first %s", functions[i]);
        print_owner(dlvsym(RTLD_NEXT, functions[i], FIRST_VERSION));
        printf("2.34 %s", functions[i]);
        print_owner(dlvsym(RTLD_NEXT, functions[i], "GLIBC_2.34"));
        printf("1.0 %s", functions[i]);
        print_owner(dlvsym(RTLD_NEXT, functions[i], "GLIBC_1.0"));
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
    if (argc > 1 && !strcmp(argv[1], "flags"))
        return by_flags(driver), 0;
    if (argc > 2 && !strcmp(argv[1], "dlvsym"))
        return by_dlvsym(driver, argv[2]), 0;
    if (argc > 1 && !strcmp(argv[1], "dlsym"))
        return dlsym_itself(), 0;
    by_handle(driver);
    by_procaddress(driver);
    return 0;
}
