/* errors.c: names and descriptions of CUresult values. It must not know who returns them. */
#include "door.h"

#include <string.h>

static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
#define E(error, text)                                                                             \
    {                                                                                              \
        error, #error, text                                                                        \
    }
    E(CUDA_SUCCESS, "no error"),
    E(CUDA_ERROR_INVALID_VALUE, "an argument is invalid"),
    E(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    E(CUDA_ERROR_NOT_INITIALIZED, "the driver is not initialized"),
    E(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"),
    E(CUDA_ERROR_PROFILER_DISABLED, "profiling is disabled in this run"),
    E(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "the profiler is not initialized"),
    E(CUDA_ERROR_PROFILER_ALREADY_STARTED, "the profiler has been started already"),
    E(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "the profiler has been stopped already"),
    E(CUDA_ERROR_STUB_LIBRARY, "the loaded driver is a stub library"),
    E(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call needs a newer driver"),
    E(CUDA_ERROR_DEVICE_UNAVAILABLE, "the devices are busy or unavailable"),
    E(CUDA_ERROR_NO_DEVICE, "no CUDA device was found"),
    E(CUDA_ERROR_INVALID_DEVICE, "the device ordinal is invalid"),
    E(CUDA_ERROR_DEVICE_NOT_LICENSED, "the device is not licensed"),
    E(CUDA_ERROR_INVALID_IMAGE, "the kernel image is invalid"),
    E(CUDA_ERROR_INVALID_CONTEXT, "the context is invalid"),
    E(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "the context is current already"),
    E(CUDA_ERROR_MAP_FAILED, "mapping failed"),
    E(CUDA_ERROR_UNMAP_FAILED, "unmapping failed"),
    E(CUDA_ERROR_ARRAY_IS_MAPPED, "the array is mapped"),
    E(CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped already"),
    E(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image fits the device"),
    E(CUDA_ERROR_ALREADY_ACQUIRED, "the resource is acquired already"),
    E(CUDA_ERROR_NOT_MAPPED, "the resource is not mapped"),
    E(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is not mapped as an array"),
    E(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "the resource is not mapped as a pointer"),
    E(CUDA_ERROR_ECC_UNCORRECTABLE, "an ECC error could not be corrected"),
    E(CUDA_ERROR_UNSUPPORTED_LIMIT, "the device does not support this limit"),
    E(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "the context is in use by another thread"),
    E(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the two devices cannot access each other"),
    E(CUDA_ERROR_INVALID_PTX, "the PTX code is invalid"),
    E(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "the graphics context is invalid"),
    E(CUDA_ERROR_NVLINK_UNCORRECTABLE, "an NVLink error could not be corrected"),
    E(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler was not found"),
    E(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX code needs a newer toolchain"),
    E(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX compilation is disabled"),
    E(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the execution affinity is not supported"),
    E(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
      "the code synchronizes on the device in an unsupported way"),
    E(CUDA_ERROR_CONTAINED, "the device has contained an error"),
    E(CUDA_ERROR_INVALID_SOURCE, "the kernel source is invalid"),
    E(CUDA_ERROR_FILE_NOT_FOUND, "the file was not found"),
    E(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a shared object lacks a symbol"),
    E(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a shared object failed to initialize"),
    E(CUDA_ERROR_OPERATING_SYSTEM, "a call of the operating system failed"),
    E(CUDA_ERROR_INVALID_HANDLE, "the handle is invalid"),
    E(CUDA_ERROR_ILLEGAL_STATE, "the resource is in a state that does not allow this"),
    E(CUDA_ERROR_LOSSY_QUERY, "the answer would lose information"),
    E(CUDA_ERROR_NOT_FOUND, "the name was not found"),
    E(CUDA_ERROR_NOT_READY, "the work has not finished yet"),
    E(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory address was accessed"),
    E(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch asks for too many resources"),
    E(CUDA_ERROR_LAUNCH_TIMEOUT, "the kernel ran for too long"),
    E(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "the launch uses another texturing mode"),
    E(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is enabled already"),
    E(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not enabled"),
    E(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is active"),
    E(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed"),
    E(CUDA_ERROR_ASSERT, "a kernel has hit an assertion"),
    E(CUDA_ERROR_TOO_MANY_PEERS, "there is no room for another peer"),
    E(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is registered already"),
    E(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"),
    E(CUDA_ERROR_HARDWARE_STACK_ERROR, "a kernel has corrupted its stack"),
    E(CUDA_ERROR_ILLEGAL_INSTRUCTION, "a kernel has met an illegal instruction"),
    E(CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel has used a misaligned address"),
    E(CUDA_ERROR_INVALID_ADDRESS_SPACE, "a kernel has used an address of the wrong space"),
    E(CUDA_ERROR_INVALID_PC, "a kernel has jumped to an invalid address"),
    E(CUDA_ERROR_LAUNCH_FAILED, "the kernel failed"),
    E(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "the cooperative launch has too many blocks"),
    E(CUDA_ERROR_TENSOR_MEMORY_LEAK, "a kernel has leaked tensor memory"),
    E(CUDA_ERROR_NOT_PERMITTED, "the call is not permitted here"),
    E(CUDA_ERROR_NOT_SUPPORTED, "the call is not supported"),
    E(CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready yet"),
    E(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the driver's parts have different versions"),
    E(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "the device does not support compatibility mode"),
    E(CUDA_ERROR_MPS_CONNECTION_FAILED, "the MPS server cannot be reached"),
    E(CUDA_ERROR_MPS_RPC_FAILURE, "a request to the MPS server failed"),
    E(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is not ready"),
    E(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "the MPS server has no room for another client"),
    E(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "the MPS server has no room for a connection"),
    E(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS server has ended this client"),
    E(CUDA_ERROR_CDP_NOT_SUPPORTED, "launches from the device are not supported"),
    E(CUDA_ERROR_CDP_VERSION_MISMATCH, "the versions of device-side launching differ"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a capturing stream does not allow this"),
    E(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has become invalid"),
    E(CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures would be merged"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture was not begun on this stream"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "the capture has a fork that was not joined"),
    E(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "a dependency would leave the capture"),
    E(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream would depend on a capture"),
    E(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture"),
    E(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture belongs to another thread"),
    E(CUDA_ERROR_TIMEOUT, "the wait has timed out"),
    E(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph differs too much for an update"),
    E(CUDA_ERROR_EXTERNAL_DEVICE, "an external device has failed"),
    E(CUDA_ERROR_INVALID_CLUSTER_SIZE, "the cluster size is invalid"),
    E(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function is not loaded"),
    E(CUDA_ERROR_INVALID_RESOURCE_TYPE, "the resource has the wrong type"),
    E(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resource configuration is invalid"),
    E(CUDA_ERROR_KEY_ROTATION, "an encryption key is being changed"),
    E(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef E
};

#define COUNT ((int)(sizeof errors / sizeof errors[0]))

static int index_of(CUresult error)
{
    for (int i = 0; i < COUNT; i++)
        if (errors[i].error == error)
            return i;
    return -1;
}

const char *fv_error_name(CUresult error)
{
    int index = index_of(error);

    return index < 0 ? NULL : errors[index].name;
}

bool fv_error_from_name(const char *name, CUresult *out)
{
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(errors[i].name, name) == 0) {
            *out = errors[i].error;
            return true;
        }
    }
    return false;
}

CUresult fv_cuGetErrorName(CUresult error, const char **out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = fv_error_name(error);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuGetErrorString(CUresult error, const char **out)
{
    int index = index_of(error);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = index < 0 ? NULL : errors[index].text;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
