/* Which answers the fake runtime records as the last error, errors that stay, and calls it lacks.
 */
#include "tests/fake/cudart_kernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static void wait_for_flag(void *data)
{
    while (!atomic_load((atomic_bool *)data))
        usleep(100);
}

TEST(cudart_errors, not_ready_is_not_recorded)
{
    atomic_bool go = false;
    cudaStream_t stream;

    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, wait_for_flag, &go));
    T_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
    OK(cudaPeekAtLastError());
    atomic_store(&go, true);
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

static void *last_error_of_a_thread(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)cudaGetLastError();
}

TEST(cudart_errors, the_last_error_is_the_threads)
{
    pthread_t thread;
    void *other = NULL;

    T_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    T_EQ(pthread_create(&thread, NULL, last_error_of_a_thread, NULL), 0);
    T_EQ(pthread_join(thread, &other), 0);
    T_EQ((uintptr_t)other, cudaSuccess);
    T_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(cudart_errors, the_last_of_several_is_kept)
{
    void *memory = NULL;

    T_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    T_EQ(cudaMalloc(NULL, 16), cudaErrorInvalidValue);
    OK(cudaMalloc(&memory, 16));
    OK(cudaFree(memory));
    T_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaGetLastError());
}

/* "Any further CUDA work will return the same error." */
TEST(cudart_errors, an_illegal_address_stays)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t add = NULL;
    unsigned *nowhere = NULL, value = 1;
    void *args[] = {&nowhere, &value}, *memory = NULL;

    OK(cudaLibraryLoadData(&library, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&add, library, "add"));
    OK(cudaLaunchKernel((void *)add, ONE_BLOCK(1), args, 0, NULL));
    T_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    T_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    T_EQ(cudaMalloc(&memory, 16), cudaErrorIllegalAddress);
    T_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    T_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
}

/* What a call prints on stderr, in `out`. */
static void stderr_of(void (*call)(void), char *out, size_t bytes)
{
    int kept = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    size_t length;

    T_NOT_NULL(file);
    T_GE(kept, 0);
    fflush(stderr);
    T_GE(dup2(fileno(file), STDERR_FILENO), 0);
    call();
    fflush(stderr);
    T_GE(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    rewind(file);
    length = fread(out, 1, bytes - 1, file);
    out[length] = '\0';
    fclose(file);
}

static void texture_twice(void)
{
    cudaTextureObject_t texture = 0;

    T_EQ(cudaCreateTextureObject(&texture, NULL, NULL, NULL), cudaErrorNotSupported);
    T_EQ(cudaCreateTextureObject(&texture, NULL, NULL, NULL), cudaErrorNotSupported);
}

TEST(cudart_errors, a_call_that_is_missing_says_so_once)
{
    char text[512];
    const char *first;

    stderr_of(texture_twice, text, sizeof text);
    first = strstr(text, "cudaCreateTextureObject");
    T_NOT_NULL(first);
    T_NULL(strstr(first + 1, "cudaCreateTextureObject"));
    T_EQ(cudaGetLastError(), cudaErrorNotSupported);
}
