/* coredump.c: settings of GPU core dumps, for the process and for a context. They are kept and
 * given back; no dump is ever written. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024 };

struct fv_coredump {
    bool on_exception, trigger_host, lightweight, user_trigger;
    unsigned flags; /* CUCoredumpGenerationFlags */
    char file[TEXT_BYTES], pipe[TEXT_BYTES];
};

static struct fv_coredump *process_settings(void)
{
    static struct fv_coredump settings;
    char host[256] = "";

    if (settings.file[0])
        return &settings;
    gethostname(host, sizeof host - 1);
    settings.trigger_host = true;
    snprintf(settings.file, TEXT_BYTES, "core.cuda.%s.%ld", host, (long)getpid());
    snprintf(settings.pipe, TEXT_BYTES, "corepipe.cuda.%s.%ld", host, (long)getpid());
    return &settings;
}

/* Where a setting lies, and how long it can be; NULL for one that does not exist. */
static void *locate(struct fv_coredump *settings, CUcoredumpSettings attribute, size_t *bytes)
{
    *bytes = sizeof(bool);
    switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION: return &settings->on_exception;
    case CU_COREDUMP_TRIGGER_HOST: return &settings->trigger_host;
    case CU_COREDUMP_LIGHTWEIGHT: return &settings->lightweight;
    case CU_COREDUMP_ENABLE_USER_TRIGGER: return &settings->user_trigger;
    case CU_COREDUMP_GENERATION_FLAGS: *bytes = sizeof settings->flags; return &settings->flags;
    case CU_COREDUMP_FILE: *bytes = TEXT_BYTES; return settings->file;
    case CU_COREDUMP_PIPE: *bytes = TEXT_BYTES; return settings->pipe;
    default: return NULL;
    }
}

static bool is_text(CUcoredumpSettings attribute)
{
    return attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE;
}

/* Without a place for the value: how much room it takes. */
static CUresult get(struct fv_coredump *settings, CUcoredumpSettings attribute, void *out,
                    size_t *size)
{
    size_t bytes;
    const void *at = locate(settings, attribute, &bytes);

    if (!at || !size)
        return CUDA_ERROR_INVALID_VALUE;
    if (out && *size < (is_text(attribute) ? strlen(at) + 1 : bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (out)
        memcpy(out, at, is_text(attribute) ? strlen(at) + 1 : bytes);
    *size = bytes;
    return CUDA_SUCCESS;
}

static CUresult set(struct fv_coredump *settings, CUcoredumpSettings attribute, const void *value,
                    const size_t *size)
{
    const unsigned known = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT;
    size_t bytes;
    void *at = locate(settings, attribute, &bytes);

    if (!at || !value || !size)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_text(attribute)) {
        size_t length = strnlen(value, *size);

        if (length >= TEXT_BYTES)
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(at, value, length);
        ((char *)at)[length] = '\0';
        return CUDA_SUCCESS;
    }
    if (*size != bytes ||
        (attribute == CU_COREDUMP_GENERATION_FLAGS && *(const unsigned *)value & ~known))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(at, value, bytes);
    return CUDA_SUCCESS;
}

/* ---- the process's ---- */

CUresult fv_cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void *out, size_t *size)
{
    return get(process_settings(), attribute, out, size);
}

CUresult fv_cuCoredumpSetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size)
{
    return set(process_settings(), attribute, value, size);
}

/* ---- a context's, which are the process's until the first is set ---- */

CUresult fv_cuCoredumpGetAttribute(CUcoredumpSettings attribute, void *out, size_t *size)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    return get(context->coredump ? context->coredump : process_settings(), attribute, out, size);
}

CUresult fv_cuCoredumpSetAttribute(CUcoredumpSettings attribute, void *value, size_t *size)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (attribute == CU_COREDUMP_ENABLE_USER_TRIGGER || attribute == CU_COREDUMP_PIPE)
        return CUDA_ERROR_NOT_PERMITTED; /* the process's alone */
    if (!context->coredump) {
        context->coredump = malloc(sizeof *context->coredump);
        if (!context->coredump)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *context->coredump = *process_settings();
    }
    return set(context->coredump, attribute, value, size);
}

void fv_coredump_drop_context(struct fv_context *context)
{
    free(context->coredump);
    context->coredump = NULL;
}
