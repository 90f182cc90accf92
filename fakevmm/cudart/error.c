/* error.c: names and descriptions of errors. Pure tables: it works without a driver. */
#include "runtime.h"

static const char unknown[] = "unrecognized error code";

const char *rt_cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define E(name, description)                                                                       \
    case name:                                                                                     \
        return #name;
#include "errors.def"
#undef E
    default: return unknown;
    }
}

const char *rt_cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define E(name, description)                                                                       \
    case name:                                                                                     \
        return description;
#include "errors.def"
#undef E
    default: return unknown;
    }
}
