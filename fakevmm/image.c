/* image.c: loads what an application hands over as device code: PTX text or fatbins, from memory or
 * from a file. It must not know what is done with the code. */
#include "device.h"
#include "module_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 400 };

static unsigned device_arch(void)
{
    const struct fv_device *device = fv_device(0);

    return 10u *
               (unsigned)fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           (unsigned)fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

/* ---- what went wrong, for people ---- */

static void write_log(const struct fv_jit_log *log, const char *message)
{
    size_t length = strlen(message);

    if (log->text && log->size)
        snprintf(log->text, log->size, "%s", message);
    if (length >= log->size)
        length = log->size ? log->size - 1 : 0;
    if (log->used)
        *log->used = (void *)(uintptr_t)length;
}

static CUresult refuse(const struct fv_jit_log *log, const char *message, CUresult result)
{
    fv_say("cannot load code: %s", message);
    write_log(log, message);
    return result;
}

CUresult fv_jit_options(unsigned count, const CUjit_option *options, void **values,
                        struct fv_jit_log *log)
{
    *log = (struct fv_jit_log){.size = 0};
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: log->text = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->size = (unsigned)(uintptr_t)values[i];
            log->used = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        case CU_JIT_WALL_TIME: values[i] = NULL; break; /* nothing to tell, no time spent */
        default:
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* ---- loading ---- */

CUresult fv_image_parse(const char *text, const struct fv_jit_log *log, struct ptx_module **out)
{
    char message[MESSAGE_BYTES];
    struct ptx_module *code = ptx_load(text, strlen(text), message, sizeof message);

    if (!code)
        return refuse(log, message, CUDA_ERROR_INVALID_PTX);
    if (ptx_target(code) > device_arch()) {
        snprintf(message, sizeof message, "PTX for sm_%u, the device is sm_%u", ptx_target(code),
                 device_arch());
        ptx_unload(code);
        return refuse(log, message, CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    *out = code;
    return CUDA_SUCCESS;
}

CUresult fv_image_text(const void *image, const struct fv_jit_log *log, char **text)
{
    char message[MESSAGE_BYTES];
    size_t length;

    write_log(log, "");
    switch (ptx_extract(image, device_arch(), text, &length, message, sizeof message)) {
    case PTX_IMAGE_TEXT: return CUDA_SUCCESS;
    case PTX_IMAGE_NO_PTX: return refuse(log, message, CUDA_ERROR_NO_BINARY_FOR_GPU);
    case PTX_IMAGE_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return refuse(log, message, CUDA_ERROR_INVALID_IMAGE);
    }
}

CUresult fv_image_load(const void *image, const struct fv_jit_log *log, struct ptx_module **out)
{
    char *text;
    CUresult result = fv_image_text(image, log, &text);

    if (result != CUDA_SUCCESS)
        return result;
    result = fv_image_parse(text, log, out);
    free(text);
    return result;
}

/* ---- files ---- */

static char *read_whole(FILE *file, size_t *length)
{
    char *text = NULL;
    long size;

    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
        return NULL;
    text = calloc(1, (size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        return NULL;
    }
    *length = (size_t)size;
    return text;
}

CUresult fv_image_read(const char *path, char **out)
{
    FILE *file = fopen(path, "rb");
    size_t size;
    char *image;

    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    image = read_whole(file, &size);
    fclose(file);
    if (!image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!ptx_is_whole(image, size)) {
        fv_say("cannot load code: %s is shorter than it says", path);
        free(image);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *out = image;
    return CUDA_SUCCESS;
}
