/* link.c: the driver's linker: collects texts, joins them, and keeps the result for
 * cuModuleLoadData. The "cubin" it gives back is PTX. It must not know how texts are joined
 * (link_text.c). */
#include "link.h"
#include "device.h"
#include "module_parts.h"

#include <stdlib.h>
#include <string.h>

struct fv_link {
    struct fv_jit_log log;
    char **texts;
    unsigned count, room;
    char *image; /* NULL until it is complete */
};

FV_FITS(struct fv_link);

/* ---- life ---- */

CUresult fv_cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *out)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_jit_log log;
    struct fv_link *link;

    if (result != CUDA_SUCCESS)
        return result;
    result = out ? fv_jit_options(count, options, values, &log) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    link = fv_new(FV_LINK);
    if (!link)
        return CUDA_ERROR_OUT_OF_MEMORY;
    link->log = log;
    *out = (CUlinkState)link;
    return CUDA_SUCCESS;
}

CUresult fv_cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *out)
{
    return fv_cuLinkCreate_v2(count, options, values, out);
}

CUresult fv_cuLinkDestroy(CUlinkState handle)
{
    struct fv_link *link = (struct fv_link *)handle;

    if (!fv_valid(FV_LINK, link))
        return CUDA_ERROR_INVALID_HANDLE;
    while (link->count)
        free(link->texts[--link->count]);
    free(link->texts);
    free(link->image);
    fv_delete(FV_LINK, link);
    return CUDA_SUCCESS;
}

/* ---- inputs ---- */

/* Takes over the text, on success only. */
static CUresult add(struct fv_link *link, char *text)
{
    if (link->count == link->room) {
        unsigned room = link->room ? 2 * link->room : 4;
        char **more = realloc(link->texts, room * sizeof *more);

        if (!more)
            return CUDA_ERROR_OUT_OF_MEMORY;
        link->texts = more;
        link->room = room;
    }
    link->texts[link->count++] = text;
    return CUDA_SUCCESS;
}

/* Each text has to be correct by itself. */
static CUresult add_image(struct fv_link *link, const void *image)
{
    struct ptx_module *code;
    char *text;
    CUresult result = fv_image_text(image, &link->log, &text);

    if (result != CUDA_SUCCESS)
        return result;
    result = fv_image_parse(text, &link->log, &code);
    if (result == CUDA_SUCCESS) {
        ptx_unload(code);
        result = add(link, text);
    }
    if (result != CUDA_SUCCESS)
        free(text);
    return result;
}

/* The options that belong to the whole link are refused for one input. */
static CUresult check_options(unsigned count, const CUjit_option *options, void **values)
{
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_WALL_TIME:
        case CU_JIT_INFO_LOG_BUFFER:
        case CU_JIT_ERROR_LOG_BUFFER:
        case CU_JIT_TARGET_FROM_CUCONTEXT:
        case CU_JIT_TARGET: return CUDA_ERROR_INVALID_VALUE;
        default:
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult check_type(CUjitInputType type)
{
    if ((unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY)
        return CUDA_SUCCESS;
    fv_say("the linker takes PTX and fatbins, not input type %d", (int)type);
    return type == CU_JIT_INPUT_CUBIN ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_NOT_SUPPORTED;
}

/* Text need not end with a NUL. */
static CUresult add_bytes(struct fv_link *link, const void *data, size_t size)
{
    char *image = size < SIZE_MAX ? malloc(size + 1) : NULL;
    CUresult result = CUDA_ERROR_INVALID_IMAGE;

    if (!image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(image, data, size);
    image[size] = '\0';
    if (ptx_is_whole(image, size))
        result = add_image(link, image);
    free(image);
    return result;
}

CUresult fv_cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size,
                             const char *name, unsigned count, CUjit_option *options, void **values)
{
    struct fv_link *link = (struct fv_link *)handle;
    CUresult result;

    if (!fv_valid(FV_LINK, link))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_options(count, options, values);
    if (result == CUDA_SUCCESS)
        result = check_type(type);
    return result == CUDA_SUCCESS ? add_bytes(link, data, size) : result;
}

CUresult fv_cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char *path,
                             unsigned count, CUjit_option *options, void **values)
{
    struct fv_link *link = (struct fv_link *)handle;
    CUresult result;
    char *image;

    if (!fv_valid(FV_LINK, link))
        return CUDA_ERROR_INVALID_HANDLE;
    result = path ? check_options(count, options, values) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = check_type(type);
    if (result == CUDA_SUCCESS)
        result = fv_image_read(path, &image);
    if (result != CUDA_SUCCESS)
        return result;
    result = add_image(link, image);
    free(image);
    return result;
}

CUresult fv_cuLinkAddData(CUlinkState link, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned count, CUjit_option *options, void **values)
{
    return fv_cuLinkAddData_v2(link, type, data, size, name, count, options, values);
}

CUresult fv_cuLinkAddFile(CUlinkState link, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values)
{
    return fv_cuLinkAddFile_v2(link, type, path, count, options, values);
}

/* ---- the result ---- */

CUresult fv_cuLinkComplete(CUlinkState handle, void **out, size_t *size)
{
    struct fv_link *link = (struct fv_link *)handle;
    struct ptx_module *code;
    CUresult result;
    char *text;

    if (!fv_valid(FV_LINK, link))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !link->count)
        return CUDA_ERROR_INVALID_VALUE;
    text = fv_link_texts(link->texts, link->count);
    if (!text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_image_parse(text, &link->log, &code);
    if (result != CUDA_SUCCESS) {
        free(text);
        return result;
    }
    ptx_unload(code);
    free(link->image);
    link->image = text;
    *out = text;
    if (size)
        *size = strlen(text) + 1;
    return CUDA_SUCCESS;
}
