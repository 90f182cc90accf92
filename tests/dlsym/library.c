/* library.c: libfirst.so, libsecond.so and libalone.so, by the macro FIRST, SECOND or ALONE. */
#include "tests/dlsym/places.h"

#if defined(FIRST)
#define NAME "first"
#elif defined(SECOND)
#define NAME "second"
#else
#define NAME "alone"
#endif

EXPORT const char *vr_place(void);
EXPORT const char *vr_place(void)
{
    return NAME;
}

/* The barrier keeps dlsym from becoming a tail call, which would take the caller out of here. */
#define LOOK_UP(call)                                                                              \
    void *found = call;                                                                            \
    __asm__ volatile("" : "+r"(found));                                                            \
    return found

#if defined(FIRST)
EXPORT void *first_next(const char *name)
{
    LOOK_UP(dlsym(RTLD_NEXT, name));
}

EXPORT void *first_next_version(const char *name)
{
    LOOK_UP(dlvsym(RTLD_NEXT, name, "VR_1"));
}
#elif defined(SECOND)
EXPORT void *second_next(const char *name)
{
    LOOK_UP(dlsym(RTLD_NEXT, name));
}
#else
EXPORT void *alone_default(const char *name);
EXPORT void *alone_default(const char *name)
{
    LOOK_UP(dlsym(RTLD_DEFAULT, name));
}

EXPORT int vr_only_alone;
#endif
