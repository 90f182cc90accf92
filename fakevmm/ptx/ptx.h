/* ptx.h: reads PTX text and runs kernels. It knows no CUDA type and no driver object: memory is
 * reached through a struct of function pointers, results are its own enum. Thread-safe: a loaded
 * module is immutable, a run keeps its state on its own. */
#ifndef FAKEVMM_PTX_H
#define FAKEVMM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;

struct ptx_param {
    uint32_t offset, size; /* bytes within the packed parameters */
};

struct ptx_kernel {
    const char *name;
    unsigned param_count;
    const struct ptx_param *params;
    uint32_t param_bytes;          /* end of the last parameter */
    uint32_t static_shared;        /* bytes */
    uint32_t local_bytes;          /* per thread */
    uint32_t registers;            /* per thread, as declared */
    uint32_t max_threads;          /* from .maxntid or .reqntid, else 1024 */
    uint16_t cluster[3];           /* .reqnctapercluster, blocks; zeros: any or none */
    uint32_t max_cluster;          /* .maxclusterrank, blocks; 0: no limit of its own */
    bool explicit_cluster;         /* .explicitcluster: not without clusters */
    struct ptx_function *function; /* its module's; decoded once, at load */
};

/* A word inside a variable's initial bytes that holds the address of another variable. */
struct ptx_reloc {
    uint32_t offset;   /* of the 8 bytes to fill */
    unsigned variable; /* index */
    int64_t addend;
};

enum ptx_space { PTX_GLOBAL, PTX_CONST, PTX_SHARED };

/* A module-scope variable. Who runs kernels gives those in global and const space an address. */
struct ptx_variable {
    const char *name;
    enum ptx_space space;
    uint64_t size;
    uint32_t align;
    const unsigned char *data; /* `size` initial bytes, NULL: zeros */
    const struct ptx_reloc *relocs;
    unsigned reloc_count;
    bool external; /* .extern: defined in another module (shared: its size is the launch's) */
    bool managed;  /* .attribute(.managed): the host reads it too */
};

/* Parses `length` bytes of PTX text (copied). NULL on a syntax error or when memory is out, with
 * the line and the reason in `message`. An opcode the interpreter lacks is no error here: the
 * kernel that reaches it fails when it runs. */
struct ptx_module *ptx_load(const char *text, size_t length, char *message, size_t message_size);
/* No kernel of it may be running. */
void ptx_unload(struct ptx_module *module);
/* Kernels (.entry) in file order; NULL past the end. */
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, unsigned index);
const struct ptx_kernel *ptx_find(const struct ptx_module *module, const char *name);
/* Variables in file order; NULL past the end. */
const struct ptx_variable *ptx_variable_at(const struct ptx_module *module, unsigned index);
/* The compute capability of .target (75 for sm_75), 0 when missing. */
unsigned ptx_target(const struct ptx_module *module);

struct ptx_span {
    uint64_t base, end; /* device addresses */
    unsigned char *host;
    bool writable;
};

/* Memory as a kernel sees it. `span` gives the piece around an address that an access of `bytes`
 * bytes is made to, or false; a span may be kept for as long as `generation` answers the same, and
 * used for other accesses in it, for writes too if it is writable. Both are called from any thread.
 */
struct ptx_memory {
    bool (*span)(void *context, uint64_t address, unsigned bytes, bool write, struct ptx_span *out);
    uint64_t (*generation)(void *context);
    void *context;
};

/* What device functions that the driver defines come to. Called from any thread; any may be NULL:
 * a kernel that calls it fails as one that calls an undefined function. */
struct ptx_host {
    /* printf: one call's output, in order within a thread */
    void (*print)(void *context, const char *text, size_t length);
    /* cudaGraphSetConditional */
    void (*set_conditional)(void *context, uint64_t handle, unsigned value);
    /* malloc: 0 when there is no room; free: false when malloc has not given the address */
    uint64_t (*take)(void *context, uint64_t size);
    bool (*give)(void *context, uint64_t address);
    /* asked now and then: whether the launch is to end where it is */
    bool (*stopped)(void *context);
    void *context;
};

enum ptx_result {
    PTX_OK,
    PTX_ILLEGAL_ADDRESS,
    PTX_MISALIGNED,
    PTX_UNSUPPORTED, /* an opcode or a form the interpreter lacks */
    PTX_TRAP,
    PTX_ASSERT,         /* `message` is the assertion's */
    PTX_STACK_OVERFLOW, /* calls are nested too deep */
    PTX_BAD_CALL,       /* of an address where no function is */
    PTX_DEADLOCK,       /* threads wait for others that never come; a GPU would hang */
    PTX_NO_MEMORY
};

struct ptx_launch {
    unsigned grid[3], block[3];
    uint32_t dynamic_shared;     /* bytes */
    const unsigned char *params; /* param_bytes of the kernel */
    const uint64_t *addresses;   /* of each variable by index; NULL when the module has none */
    bool cooperative;            /* all blocks at once: they may wait for each other */
    unsigned cluster[3];         /* blocks per cluster, which divide the grid; zeros: none */
    uint64_t id;                 /* %gridid */
    struct ptx_memory memory;
    struct ptx_host host;
};

/* Runs every thread of the launch, on several threads of the host if it lasts. On an error
 * `message` names the kernel, the line of PTX and what happened (address and size of an access);
 * of several blocks that fail, the first in grid order is told of. */
enum ptx_result ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
                        char *message, size_t message_size);

enum ptx_image {
    PTX_IMAGE_TEXT,    /* there it is */
    PTX_IMAGE_INVALID, /* no image, or its sizes or compressed bytes make no sense */
    PTX_IMAGE_NO_PTX,  /* machine code only, or PTX for newer architectures only */
    PTX_IMAGE_NO_MEMORY
};

/* Finds the PTX inside what cuModuleLoadData accepts: text, or a fatbin container, or the wrapper
 * the compiler registers (both documented in docs/fatbin.md), with zstd and LZ4 blocks. When a
 * container has several, the newest architecture not above `max_arch`. For PTX_IMAGE_TEXT *text is
 * malloc'd and NUL-terminated, *length without the NUL; otherwise `message` has the reason. `image`
 * carries its own sizes; it must be readable for as long as they say, nothing behind that is read.
 */
enum ptx_image ptx_extract(const void *image, unsigned max_arch, char **text, size_t *length,
                           char *message, size_t message_size);
/* Whether `size` bytes, with a NUL behind them, hold all that the image says it has: for an image
 * whose size is known. */
bool ptx_is_whole(const void *image, size_t size);

#endif
