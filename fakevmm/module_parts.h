/* module_parts.h: what module.c, library.c, image.c and function.c share and nobody else sees. */
#ifndef FAKEVMM_MODULE_PARTS_H
#define FAKEVMM_MODULE_PARTS_H

#include "module.h"
#include "ptx/ptx.h"

struct fv_device;

enum { FV_MODULE_DEVICES = 32 };

/* Code in a context: its functions, and its variables in device memory. Functions come with the
 * module, in file order, and go in reverse order, so that a module loaded again gets the same
 * function values (pool.c hands out last what was freed first). */
struct fv_module {
    struct ptx_module *code; /* its own, or its library's */
    struct fv_context *context;
    struct fv_library *library; /* NULL: loaded by cuModuleLoad* */
    struct fv_function **functions;
    unsigned function_count;
    uint64_t *addresses; /* of each variable, 0 for those without one */
    unsigned variable_count;
    unsigned long long id; /* never reused; handles are */
    unsigned running;      /* graphs that are in a kernel of it */
    bool ending;           /* none may begin one */
};

struct fv_kernel {
    struct fv_library *library;
    unsigned index; /* of the function in a module of the library */
    /* by device: how functions of it start out there */
    struct fv_tuning tuning[FV_MODULE_DEVICES];
};

struct fv_library {
    struct ptx_module *code;
    struct fv_kernel **kernels;
    unsigned kernel_count;
    unsigned long long id;
};

/* Options of a load call that this library heeds: where to put the compiler's complaint. */
struct fv_jit_log {
    char *text;
    size_t size;
    void **used; /* where the caller passed the size: gets the bytes written */
};

/* ---- image.c: from an image to code ---- */

CUresult fv_image_load(const void *image, const struct fv_jit_log *log, struct ptx_module **out);
/* The two halves of it: the PTX inside an image, malloc'd and NUL-terminated, and code from that.
 */
CUresult fv_image_text(const void *image, const struct fv_jit_log *log, char **text);
CUresult fv_image_parse(const char *text, const struct fv_jit_log *log, struct ptx_module **out);
/* The file's bytes, NUL-terminated, malloc'd. CUDA_ERROR_FILE_NOT_FOUND, CUDA_ERROR_INVALID_IMAGE
 * if the image goes on behind them. */
CUresult fv_image_read(const char *path, char **out);
/* Finds the log among a load call's options. CUDA_ERROR_INVALID_VALUE when they are malformed. */
CUresult fv_jit_options(unsigned count, const CUjit_option *options, void **values,
                        struct fv_jit_log *log);

/* ---- module.c ---- */

/* A module around `code` in a context; owns the code unless a library is given. On failure the code
 * is still the caller's. */
CUresult fv_module_new(struct fv_context *context, struct ptx_module *code,
                       struct fv_library *library, struct fv_module **out);
/* No work may use it any more. */
void fv_module_delete(struct fv_module *module);
/* From now on no graph begins a kernel of the context's or the library's modules (the other is
 * NULL). True while one is in such a kernel. */
bool fv_modules_end(const struct fv_context *context, const struct fv_library *library);
unsigned long long fv_module_next_id(void);

/* ---- module_variables.c ---- */

/* Gives a new module's variables their memory. After a failure too, drop follows. */
CUresult fv_module_place_variables(struct fv_module *module);
void fv_module_drop_variables(struct fv_module *module);
/* The address and size of a variable; either may be NULL. CUDA_ERROR_NOT_FOUND. */
CUresult fv_module_variable(const struct fv_module *module, const char *name, bool managed_only,
                            CUdeviceptr *address, size_t *bytes);

/* ---- library.c ---- */

/* The module of a library in a context; loads it there when it is not yet. */
CUresult fv_library_module(struct fv_library *library, struct fv_context *context,
                           struct fv_module **out);

/* ---- function.c ---- */

/* How a function starts out. */
struct fv_tuning fv_tuning_default(const struct ptx_kernel *code);
/* An attribute; CUDA_ERROR_INVALID_VALUE for one that does not exist. */
CUresult fv_attribute(const struct ptx_module *module, const struct ptx_kernel *code,
                      const struct fv_device *device, const struct fv_tuning *tuning,
                      CUfunction_attribute attribute, int *value);
/* CUDA_ERROR_INVALID_VALUE for one that does not exist or cannot be set, or for a bad value;
 * CUDA_ERROR_NOT_PERMITTED for a cluster where the code has one. */
CUresult fv_set_attribute(struct fv_tuning *tuning, const struct ptx_kernel *code,
                          const struct fv_device *device, CUfunction_attribute attribute,
                          int value);
CUresult fv_check_cache_config(CUfunc_cache config);
CUresult fv_param_info(const struct ptx_kernel *code, size_t index, size_t *offset, size_t *size);

#endif
