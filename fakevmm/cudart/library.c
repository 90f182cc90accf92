/* library.c: device code: what the compiler's start-up code registers, and libraries the
 * application loads itself. A registered image is loaded into a driver library when something in it
 * is first used; registering runs before main() and must touch neither the driver nor the
 * environment. Host addresses (of stubs and shadow variables) are looked up in one tree. It knows
 * nothing of launches and graphs. */
#include "runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>

/* What the compiler hands to __cudaRegisterFatBinary. */
struct fatbin_wrapper {
    unsigned magic, version;
    const void *container;
    const void *second_file;
};

/* One registered image. `library` is NULL until it is loaded. */
struct binary {
    const struct fatbin_wrapper *image;
    CUlibrary library;
    struct symbol *symbols;
    struct binary *next;
};

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_VARIABLE, SYMBOL_MANAGED };

/* One kernel or variable of an image, under its address in the host program. */
struct symbol {
    const void *host; /* first: the key of the tree */
    const char *name;
    enum symbol_kind kind;
    CUkernel kernel; /* SYMBOL_KERNEL: NULL until looked up */
    struct binary *binary;
    struct symbol *next;
};

/* A library that the application loaded. */
struct loaded {
    CUlibrary library;
    struct loaded *next;
};

/* Guards everything below. Held while the driver loads an image, so that two threads do not load it
 * twice; the driver does not call back from there. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *tree; /* of struct symbol, by host address */
static struct binary *binaries;
static struct loaded *loaded_libraries;

static int by_host(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct symbol *)a)->host;
    uintptr_t y = (uintptr_t)((const struct symbol *)b)->host;

    return (x > y) - (x < y);
}

/* Lock held. */
static struct symbol *find(const void *host)
{
    struct symbol key = {.host = host};
    struct symbol **found = tfind(&key, &tree, by_host);

    return found ? *found : NULL;
}

/* A program reaches a managed variable through a pointer, and what it calls the variable is the
 * memory that the pointer names. Lock held. */
static struct symbol *find_managed(const void *memory)
{
    for (struct binary *binary = binaries; binary && memory; binary = binary->next) {
        for (struct symbol *symbol = binary->symbols; symbol; symbol = symbol->next) {
            if (symbol->kind == SYMBOL_MANAGED && *(void *const *)symbol->host == memory)
                return symbol;
        }
    }
    return NULL;
}

/* ---- registration, called by the compiler's start-up code ---- */

void **rt___cudaRegisterFatBinary(void *image)
{
    struct binary *binary = calloc(1, sizeof *binary);

    if (!binary)
        return NULL;
    binary->image = image;
    pthread_mutex_lock(&lock);
    binary->next = binaries;
    binaries = binary;
    pthread_mutex_unlock(&lock);
    return (void **)binary;
}

/* Everything is loaded at first use, so the end of registration means nothing here. */
void rt___cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* A host address that is registered already keeps its first meaning. */
static void add_symbol(void **handle, const void *host, const char *name, enum symbol_kind kind)
{
    struct binary *binary = (struct binary *)handle;
    struct symbol *symbol = binary ? calloc(1, sizeof *symbol) : NULL;
    struct symbol **slot;

    if (!symbol)
        return;
    *symbol = (struct symbol){.host = host, .name = name, .kind = kind, .binary = binary};
    pthread_mutex_lock(&lock);
    slot = tsearch(symbol, &tree, by_host);
    if (slot && *slot == symbol) {
        symbol->next = binary->symbols;
        binary->symbols = symbol;
        symbol = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(symbol);
}

void rt___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                               int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                               int *warp_size)
{
    add_symbol(handle, host, name, SYMBOL_KERNEL);
}

void rt___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                          size_t bytes, int constant, int global)
{
    add_symbol(handle, host, name, SYMBOL_VARIABLE);
}

/* `host` is the address of the pointer through which the program reaches the variable. */
void rt___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                 int external, size_t bytes, int constant, int global)
{
    add_symbol(handle, host, name, SYMBOL_MANAGED);
}

/* At exit the driver may be gone already; then the library is gone, too, and its answer is ignored.
 */
void rt___cudaUnregisterFatBinary(void **handle)
{
    struct binary *binary = (struct binary *)handle, **link = &binaries;

    if (!binary)
        return;
    pthread_mutex_lock(&lock);
    while (*link && *link != binary)
        link = &(*link)->next;
    if (*link)
        *link = binary->next;
    for (struct symbol *symbol = binary->symbols, *next; symbol; symbol = next) {
        next = symbol->next;
        tdelete(symbol, &tree, by_host);
        free(symbol);
    }
    pthread_mutex_unlock(&lock);
    if (binary->library)
        (void)DRIVER(cuLibraryUnload, binary->library);
    free(binary);
}

/* ---- use ---- */

/* Lock held. */
static cudaError_t load(struct binary *binary)
{
    if (binary->library)
        return cudaSuccess;
    return DRIVER(cuLibraryLoadData, &binary->library, binary->image->container, NULL, NULL, 0,
                  NULL, NULL, 0);
}

/* Lock held. A name that the image lacks was registered for code that is not in it. */
static cudaError_t resolve_kernel(struct symbol *symbol)
{
    cudaError_t error = load(symbol->binary);

    if (error == cudaSuccess && !symbol->kernel)
        error = DRIVER(cuLibraryGetKernel, &symbol->kernel, symbol->binary->library, symbol->name);
    return error == cudaErrorSymbolNotFound ? cudaErrorInvalidDeviceFunction : error;
}

cudaError_t rt_kernel_of(const void *func, CUkernel *out)
{
    cudaError_t error = cudaSuccess;
    struct symbol *symbol;

    if (!func)
        return cudaErrorInvalidDeviceFunction;
    pthread_mutex_lock(&lock);
    symbol = find(func);
    if (symbol && symbol->kind != SYMBOL_KERNEL)
        error = cudaErrorInvalidDeviceFunction;
    else if (symbol)
        error = resolve_kernel(symbol);
    if (error == cudaSuccess)
        *out = symbol ? symbol->kernel : (CUkernel)(uintptr_t)func;
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t rt_function_of(const void *func, CUfunction *out)
{
    CUkernel kernel;
    cudaError_t error = rt_kernel_of(func, &kernel);

    if (error != cudaSuccess)
        return error;
    error = DRIVER(cuKernelGetFunction, out, kernel);
    return error == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : error;
}

static cudaError_t global_of(struct binary *binary, const char *name, CUdeviceptr *address,
                             size_t *bytes)
{
    cudaError_t error = load(binary);

    if (error == cudaSuccess)
        error = DRIVER(cuLibraryGetGlobal, address, bytes, binary->library, name);
    return error == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : error;
}

static cudaError_t managed_of(struct binary *binary, const char *name, CUdeviceptr *address,
                              size_t *bytes)
{
    cudaError_t error = load(binary);

    if (error == cudaSuccess)
        error = DRIVER(cuLibraryGetManaged, address, bytes, binary->library, name);
    return error == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : error;
}

cudaError_t rt_variable_of(const void *host, CUdeviceptr *address, size_t *bytes)
{
    cudaError_t error = cudaErrorInvalidSymbol;
    struct symbol *symbol;

    pthread_mutex_lock(&lock);
    symbol = find(host);
    if (!symbol)
        symbol = find_managed(host);
    if (symbol && symbol->kind == SYMBOL_VARIABLE)
        error = global_of(symbol->binary, symbol->name, address, bytes);
    else if (symbol && symbol->kind == SYMBOL_MANAGED)
        error = managed_of(symbol->binary, symbol->name, address, bytes);
    pthread_mutex_unlock(&lock);
    return error;
}

/* Run before the program first touches a managed variable: gives each pointer its memory. 1: done.
 */
char rt___cudaInitModule(void **handle)
{
    struct binary *binary = (struct binary *)handle;
    cudaError_t error = rt_driver_load();

    if (error == cudaSuccess)
        error = rt_context(NULL);
    pthread_mutex_lock(&lock);
    for (struct symbol *symbol = binary->symbols; symbol && error == cudaSuccess;
         symbol = symbol->next) {
        if (symbol->kind == SYMBOL_MANAGED)
            error = managed_of(binary, symbol->name, (CUdeviceptr *)(uintptr_t)symbol->host, NULL);
    }
    pthread_mutex_unlock(&lock);
    return error == cudaSuccess;
}

/* ---- the way back ---- */

static bool is_kernel(CUkernel candidate, CUfunction function, CUkernel kernel)
{
    CUfunction of = NULL;

    if (!function)
        return candidate == kernel;
    return DRIVER(cuKernelGetFunction, &of, candidate) == cudaSuccess && of == function;
}

/* Lock held. */
static const void *stub_of(CUfunction function, CUkernel kernel)
{
    for (struct binary *binary = binaries; binary; binary = binary->next) {
        for (struct symbol *symbol = binary->symbols; symbol; symbol = symbol->next) {
            if (symbol->kernel && is_kernel(symbol->kernel, function, kernel))
                return symbol->host;
        }
    }
    return NULL;
}

static CUkernel kernel_in(CUlibrary library, CUfunction function, CUkernel kernel)
{
    CUkernel found = NULL, *kernels = NULL;
    unsigned count = 0;

    if (DRIVER(cuLibraryGetKernelCount, &count, library) == cudaSuccess)
        kernels = calloc(count, sizeof *kernels);
    if (!kernels || DRIVER(cuLibraryEnumerateKernels, kernels, count, library) != cudaSuccess)
        count = 0;
    for (unsigned i = 0; i < count && !found; i++) {
        if (is_kernel(kernels[i], function, kernel))
            found = kernels[i];
    }
    free(kernels);
    return found;
}

cudaError_t rt_func_of(CUfunction function, CUkernel kernel, void **out)
{
    const void *func;

    pthread_mutex_lock(&lock);
    func = stub_of(function, kernel);
    for (struct loaded *it = loaded_libraries; it && !func; it = it->next)
        func = kernel_in(it->library, function, kernel);
    pthread_mutex_unlock(&lock);
    if (!func)
        return cudaErrorInvalidDeviceFunction;
    *out = (void *)(uintptr_t)func;
    return cudaSuccess;
}

/* When memory is out the library works all the same; only the way back does not find it. */
void rt_library_note(CUlibrary library)
{
    struct loaded *it = malloc(sizeof *it);

    if (!it)
        return;
    it->library = library;
    pthread_mutex_lock(&lock);
    it->next = loaded_libraries;
    loaded_libraries = it;
    pthread_mutex_unlock(&lock);
}

void rt_library_forget(CUlibrary library)
{
    struct loaded **link = &loaded_libraries, *found;

    pthread_mutex_lock(&lock);
    while (*link && (*link)->library != library)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    free(found);
}
