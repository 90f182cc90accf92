/* journal.h: values as the journal writes them. Owned by journal_values.c. The lock is held. */
#ifndef FAKEVMM_JOURNAL_H
#define FAKEVMM_JOURNAL_H

#include "params.h"

#include <stdio.h>

struct ptx_kernel;

/* Where values are written, and what the ones before them say about the ones that follow. */
struct fv_writer {
    FILE *file;
    const struct ptx_kernel *code; /* the kernel that was named last, or NULL */
};

/* A value of a type, as JSON: a number; "graph#2" for a handle; "mem#1+64" for an address; null. */
void fv_write_value(struct fv_writer *writer, const struct fv_type *type, const void *at,
                    size_t size);
/* An object of the fields that are not zero. */
void fv_write_struct(struct fv_writer *writer, const char *owner, const void *at);
/* The arguments of the kernel that was named last, a string for each. */
void fv_write_launch(struct fv_writer *writer, void *const *params, void *const *extra);
/* A JSON string of at most 200 characters of a text. */
void fv_write_text(struct fv_writer *writer, const char *text);

#endif
