/* cudart_faults.c: FAKEVMM_FAULT reaches every function of the runtime library that answers an
 * error. */
#include "tests/fake/cudart_kernels.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {
#define RT(need, symbol, impl, params, args) #symbol,
#define RT_PLAIN(type, fallback, symbol, params, args)
#include "fakevmm/cudart/entries.def"
#undef RT
#undef RT_PLAIN
};

typedef cudaError_t (*function)(void *, void *, void *, void *, void *, void *, void *, void *,
                                void *, void *, void *, void *, void *, void *, void *, void *);

/* With nothing for arguments: the call fails before the function sees them. */
static cudaError_t call(const char *name)
{
    function f = (function)dlsym(RTLD_DEFAULT, name);

    return f ? f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) : cudaErrorUnknown;
}

/* The answers of two calls in a child process with this setting, 1000 * first + second. */
static int answers(const char *setting, const char *name)
{
    int status, ends[2];
    int said = -1;
    pid_t child;

    T_EQ(pipe(ends), 0);
    child = fork();
    if (!child) {
        setenv("FAKEVMM_FAULT", setting, 1);
        said = 1000 * (int)call(name);
        said += (int)call(name);
        _exit(write(ends[1], &said, sizeof said) != sizeof said);
    }
    close(ends[1]);
    if (read(ends[0], &said, sizeof said) != sizeof said)
        said = -1;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? said : -1;
}

TEST(cudart_faults, every_function_is_reached)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char setting[160];

        snprintf(setting, sizeof setting, "%s:1:cudaErrorECCUncorrectable:persistent", names[i]);
        T_ASSERT(answers(setting, names[i]) == 214214, "%s", setting);
    }
}

static cudaError_t last_errors(void)
{
    void *memory;
    cudaError_t first = cudaMalloc(&memory, 16), second = cudaMalloc(&memory, 16);
    cudaError_t last = cudaGetLastError();

    return first == cudaSuccess && second == cudaErrorMemoryAllocation ? last : cudaErrorUnknown;
}

/* The nth call alone, by number, and it is the thread's last error. */
TEST(cudart_faults, one_call_fails_and_is_recorded)
{
    int status;
    pid_t child = fork();

    if (!child) {
        setenv("FAKEVMM_FAULT", "cuCtxGetLimit:9,cudaMalloc:2:2", 1);
        _exit(last_errors() != cudaErrorMemoryAllocation);
    }
    waitpid(child, &status, 0);
    T_EQ(status, 0);
}

TEST(cudart_faults, a_wrong_entry_ends_the_program)
{
    static const char *const wrong[] = {"cudaMallocc:1", "cudaMalloc", "cudaMalloc:0",
                                        "cudaMalloc:1:nonsense"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int status;
        pid_t child = fork();

        if (!child) {
            setenv("FAKEVMM_FAULT", wrong[i], 1);
            close(STDERR_FILENO);
            cudaFree(NULL);
            _exit(0);
        }
        waitpid(child, &status, 0);
        T_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s", wrong[i]);
    }
}
