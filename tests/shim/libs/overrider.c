/* overrider.c: a preloaded library that overrides dlsym with a call, as many do: it looks the next
 * dlsym up by its version, and goes on to it. Prints "overridden" at exit if it was called for a
 * driver function. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#ifdef __aarch64__
#define FIRST_VERSION "GLIBC_2.17"
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif

static volatile int calls;

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    static void *(*next)(void *, const char *);
    void *found;

    if (!next)
        next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", FIRST_VERSION);
    found = next ? next(handle, name) : NULL;
    calls += !strncmp(name, "cuGraph", 7);
    return found;
}

__attribute__((destructor)) static void report(void)
{
    if (calls)
        fprintf(stderr, "overridden\n");
}
