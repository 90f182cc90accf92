/* params.h: what the parameters of the exported functions are: numbers, handles, device addresses,
 * structs. Read off the text of entries.def, so that nobody keeps a second list. Owned by params.c.
 */
#ifndef FAKEVMM_PARAMS_H
#define FAKEVMM_PARAMS_H

#include "door.h"

#define FV_MAX_PARAMS 16

enum fv_class {
    FV_IS_OPAQUE,  /* a type that nobody has described */
    FV_IS_NUMBER,  /* an integer or an enum */
    FV_IS_REAL,    /* a floating-point number */
    FV_IS_HANDLE,  /* of the kind in `kind` */
    FV_IS_MEMORY,  /* a CUmemGenericAllocationHandle */
    FV_IS_ADDRESS, /* a device address, or a host address that the driver may know */
    FV_IS_TEXT,    /* a C string */
    FV_IS_STRUCT   /* of the layout in `fields` */
};

struct fv_field;

/* A type by its name. */
struct fv_type {
    const char *name;
    enum fv_class class;
    size_t size;
    bool negative; /* a number that can be below zero */
    enum fv_kind kind;
};

struct fv_param {
    const struct fv_type *type; /* what it is, or what it points to */
    int depth;                  /* how many times it is pointed to */
    bool constant;              /* what it points to is only read */
};

/* The type of that name; one of class FV_IS_OPAQUE if nobody has described it. */
const struct fv_type *fv_type_named(const char *name, size_t length);
/* The parameters of a function, and how many. Lock not needed. */
int fv_params_of(enum fv_row row, struct fv_param params[FV_MAX_PARAMS]);

/* A part of a struct. */
struct fv_field {
    const char *owner, *type, *name;
    size_t offset, size;
};
/* The fields that follow each other in the table and belong to a struct; NULL when there are none.
 * *count gets their number. */
const struct fv_field *fv_fields_of(const char *owner, size_t *count);

/* The number of `size` bytes (1, 2, 4 or 8) at an address, with its sign if it can have one. */
int64_t fv_number_at(const void *at, size_t size, bool negative);

#endif
