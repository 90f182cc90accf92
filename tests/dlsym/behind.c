/* behind.c: libbehind.so, another library that overrides dlsym, preloaded after libvaremap.so. It
 * notes who called it. The real one is libc's, found past every other by its version. */
#include "tests/dlsym/places.h"

static void *caller;
static int calls;

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    static void *(*real)(void *, const char *);

    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_" DLSYM_VERSION);
    caller = __builtin_return_address(0);
    calls++;
    return real(handle, name);
}

EXPORT void *behind_caller(void)
{
    return caller;
}

EXPORT int behind_calls(void)
{
    return calls;
}
