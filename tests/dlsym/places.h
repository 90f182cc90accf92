/* places.h: what the libraries of the dlsym tests offer each other. `vr_place` is defined by
 * several of them; which one a caller finds shows where the loader thinks it is. */
#ifndef VR_PLACES_H
#define VR_PLACES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

/* Of each library: its name. */
typedef const char *(*place_t)(void);

/* libfirst.so and libsecond.so, linked to the program in this order: dlsym(RTLD_NEXT, name) from
 * within each. */
void *first_next(const char *name);
void *second_next(const char *name);
/* The same with dlvsym. All that these libraries define has version VR_1 (places.map). */
void *first_next_version(const char *name);

/* libalone.so, opened RTLD_LOCAL: dlsym(RTLD_DEFAULT, name) from within. */
typedef void *(*lookup_t)(const char *name);

/* libbehind.so, preloaded after libvaremap.so: the return address that its own dlsym saw last, and
 * how often it was called. */
void *behind_caller(void);
int behind_calls(void);

#endif
