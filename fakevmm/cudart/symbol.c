/* symbol.c: device variables under the host address that the compiler gave them. Which variable
 * that is, library.c knows; this file finds the bytes and copies. */
#include "runtime.h"

cudaError_t rt_cudaGetSymbolAddress(void **out, const void *symbol)
{
    CUdeviceptr address;
    cudaError_t error = out ? rt_variable_of(symbol, &address, NULL) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        *out = (void *)address;
    return error;
}

cudaError_t rt_cudaGetSymbolSize(size_t *out, const void *symbol)
{
    return out ? rt_variable_of(symbol, NULL, out) : cudaErrorInvalidValue;
}

/* The `count` bytes at `offset` of a variable. `wrong` is the host end that a copy in this
 * direction cannot have: into a variable nothing comes "to the host", out of it nothing comes "from
 * the host". */
static cudaError_t range(const void *symbol, size_t offset, size_t count, enum cudaMemcpyKind kind,
                         enum cudaMemcpyKind wrong, void **out)
{
    CUdeviceptr address;
    size_t bytes;
    cudaError_t error;

    if (kind == wrong || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    error = rt_variable_of(symbol, &address, &bytes);
    if (error != cudaSuccess)
        return error;
    if (offset > bytes || count > bytes - offset)
        return cudaErrorInvalidValue;
    *out = (void *)(address + offset);
    return cudaSuccess;
}

cudaError_t rt_range_to(const void *symbol, size_t offset, size_t count, enum cudaMemcpyKind kind,
                        void **out)
{
    return range(symbol, offset, count, kind, cudaMemcpyDeviceToHost, out);
}

cudaError_t rt_range_from(const void *symbol, size_t offset, size_t count, enum cudaMemcpyKind kind,
                          void **out)
{
    return range(symbol, offset, count, kind, cudaMemcpyHostToDevice, out);
}

cudaError_t rt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                  enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_to(symbol, offset, count, kind, &at);

    return error == cudaSuccess ? rt_cudaMemcpy(at, src, count, kind) : error;
}

cudaError_t rt_cudaMemcpyToSymbol_ptds(const void *symbol, const void *src, size_t count,
                                       size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_to(symbol, offset, count, kind, &at);

    return error == cudaSuccess ? rt_cudaMemcpy_ptds(at, src, count, kind) : error;
}

cudaError_t rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                       size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *at;
    cudaError_t error = rt_range_to(symbol, offset, count, kind, &at);

    return error == cudaSuccess ? rt_cudaMemcpyAsync(at, src, count, kind, stream) : error;
}

cudaError_t rt_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_from(symbol, offset, count, kind, &at);

    return error == cudaSuccess ? rt_cudaMemcpy(dst, at, count, kind) : error;
}

cudaError_t rt_cudaMemcpyFromSymbol_ptds(void *dst, const void *symbol, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_from(symbol, offset, count, kind, &at);

    return error == cudaSuccess ? rt_cudaMemcpy_ptds(dst, at, count, kind) : error;
}

cudaError_t rt_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *at;
    cudaError_t error = rt_range_from(symbol, offset, count, kind, &at);

    return error == cudaSuccess ? rt_cudaMemcpyAsync(dst, at, count, kind, stream) : error;
}
