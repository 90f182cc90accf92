/* journal_values.c: arguments as JSON that two runs agree on: whatever differs from run to run, the
 * value of a handle or an address, is replaced by a number in order of first appearance. It must
 * not know which function an argument is of. */
#include "journal.h"
#include "hazard.h"
#include "module_parts.h"
#include "va.h"
#include "vmm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[FV_KINDS] = {
    [FV_CONTEXT] = "context", [FV_MODULE] = "module",
    [FV_LIBRARY] = "library", [FV_FUNCTION] = "function",
    [FV_KERNEL] = "kernel",   [FV_STREAM] = "stream",
    [FV_EVENT] = "event",     [FV_GRAPH] = "graph",
    [FV_NODE] = "node",       [FV_EXEC] = "exec",
    [FV_ARRAY] = "array",     [FV_MIPMAP] = "mipmap",
    [FV_MEMPOOL] = "mempool", [FV_USER_OBJECT] = "user_object",
    [FV_LINK] = "link",
};

void fv_write_text(struct fv_writer *writer, const char *text)
{
    fputc('"', writer->file);
    for (int i = 0; i < 200 && text[i]; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(writer->file, "\\%c", c);
        else if (c < ' ')
            fprintf(writer->file, "\\u%04x", c);
        else
            fputc(c, writer->file);
    }
    fputc('"', writer->file);
}

/* ---- handles and addresses ---- */

static const struct ptx_kernel *code_of(enum fv_kind kind, const void *handle)
{
    if (kind == FV_FUNCTION && fv_valid(FV_FUNCTION, handle))
        return ((const struct fv_function *)handle)->code;
    if (!fv_valid(FV_KERNEL, handle)) /* a CUkernel may stand in for a CUfunction */
        return NULL;
    const struct fv_kernel *kernel = handle;
    return ptx_kernel_at(kernel->library->code, kernel->index);
}

static void write_handle(struct fv_writer *writer, enum fv_kind kind, const void *handle)
{
    unsigned ordinal = fv_ordinal(kind, handle);

    if (!ordinal && kind == FV_FUNCTION && (ordinal = fv_ordinal(FV_KERNEL, handle)))
        kind = FV_KERNEL;
    if ((kind == FV_FUNCTION || kind == FV_KERNEL) && handle)
        writer->code = code_of(kind, handle);
    if (!handle)
        fputs("null", writer->file);
    else if (kind == FV_STREAM && handle == CU_STREAM_LEGACY)
        fputs("\"legacy\"", writer->file);
    else if (kind == FV_STREAM && handle == CU_STREAM_PER_THREAD)
        fputs("\"per-thread\"", writer->file);
    else if (ordinal)
        fprintf(writer->file, "\"%s#%u\"", kinds[kind], ordinal);
    else
        fprintf(writer->file, "\"%s#none\"", kinds[kind]);
}

/* An address inside memory that the driver knows, without quotes; false for another. Mapped memory
 * is named by its reservation: what is mapped there may change. */
static bool write_known(FILE *file, CUdeviceptr address)
{
    static unsigned reservations, mappings;
    struct fv_reservation *reservation = fv_reservation_at(address);
    struct fv_mapping *mapping = fv_va_find(address);

    if (reservation) {
        if (!reservation->ordinal)
            reservation->ordinal = ++reservations;
        fprintf(file, "va#%u+%llu", reservation->ordinal, address - reservation->base);
    } else if (mapping) {
        if (!mapping->ordinal)
            mapping->ordinal = ++mappings;
        fprintf(file, "mem#%u+%llu", mapping->ordinal, address - mapping->base);
    }
    return reservation || mapping;
}

static void write_address(struct fv_writer *writer, CUdeviceptr address)
{
    if (!address) {
        fputs("null", writer->file);
        return;
    }
    fputc('"', writer->file);
    if (!write_known(writer->file, address))
        fputs(fv_va_is_device(address) ? "device" : "host", writer->file);
    fputc('"', writer->file);
}

static void write_memory(struct fv_writer *writer, CUmemGenericAllocationHandle value)
{
    static unsigned handles;
    struct fv_handle *handle = fv_handle_of(value);

    if (!handle) {
        fputs(value ? "\"handle#none\"" : "null", writer->file);
        return;
    }
    if (!handle->ordinal)
        handle->ordinal = ++handles;
    fprintf(writer->file, "\"handle#%u\"", handle->ordinal);
}

/* ---- values ---- */

static void write_real(struct fv_writer *writer, const void *at)
{
    float value;

    memcpy(&value, at, sizeof value);
    fprintf(writer->file, isfinite(value) ? "%.9g" : "\"%g\"", (double)value);
}

/* A type without a row in types.def: an enum if it is small, a pointer or a struct otherwise. */
static void write_opaque(struct fv_writer *writer, const void *at, size_t size)
{
    if (size <= sizeof(int))
        fprintf(writer->file, "%lld", (long long)fv_number_at(at, size, true));
    else if (size == sizeof(void *) && !fv_number_at(at, size, false))
        fputs("null", writer->file);
    else
        fputs("\"opaque\"", writer->file);
}

void fv_write_value(struct fv_writer *writer, const struct fv_type *type, const void *at,
                    size_t size)
{
    void *pointer = NULL;

    if (size == sizeof pointer)
        memcpy(&pointer, at, size);
    switch (type->class) {
    case FV_IS_NUMBER:
        fprintf(writer->file, type->negative ? "%lld" : "%llu",
                (long long)fv_number_at(at, size, type->negative));
        break;
    case FV_IS_REAL: write_real(writer, at); break;
    case FV_IS_HANDLE: write_handle(writer, type->kind, pointer); break;
    case FV_IS_MEMORY: write_memory(writer, (CUmemGenericAllocationHandle)pointer); break;
    case FV_IS_ADDRESS: write_address(writer, (CUdeviceptr)pointer); break;
    case FV_IS_STRUCT: fv_write_struct(writer, type->name, at); break;
    default: write_opaque(writer, at, size); break;
    }
}

/* ---- the arguments of a kernel ---- */

/* In pieces of eight bytes, so that addresses are found wherever the compiler put them. */
static void write_param(struct fv_writer *writer, const unsigned char *bytes, size_t size)
{
    fputc('"', writer->file);
    for (size_t at = 0; at < size; at += 8) {
        size_t length = size - at < 8 ? size - at : 8;
        CUdeviceptr word = (CUdeviceptr)fv_number_at(bytes + at, length, false);
        if (at)
            fputc(' ', writer->file);
        if (length == 8 && word && write_known(writer->file, word))
            continue;
        for (size_t i = 0; i < length; i++)
            fprintf(writer->file, "%02x", bytes[at + i]);
    }
    fputc('"', writer->file);
}

void fv_write_launch(struct fv_writer *writer, void *const *params, void *const *extra)
{
    const struct ptx_kernel *code = writer->code;
    const struct fv_function function = {.code = code};
    unsigned char *bytes = NULL;

    if (!code || fv_pack_params(&function, params, extra, &bytes) != CUDA_SUCCESS) {
        fputs("null", writer->file);
        return;
    }
    fputc('[', writer->file);
    for (unsigned i = 0; i < code->param_count; i++) {
        if (i)
            fputc(',', writer->file);
        write_param(writer, bytes + code->params[i].offset, code->params[i].size);
    }
    fputc(']', writer->file);
    free(bytes);
}

/* ---- structs ---- */

/* What a CUgraphNodeParams holds, by its type. */
static const char *const node_structs[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = "CUDA_KERNEL_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_MEMCPY] = "CUDA_MEMCPY_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_MEMSET] = "CUDA_MEMSET_NODE_PARAMS_v2",
    [CU_GRAPH_NODE_TYPE_HOST] = "CUDA_HOST_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_GRAPH] = "CUDA_CHILD_GRAPH_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "CUDA_EVENT_RECORD_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "CUDA_EVENT_RECORD_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "CUDA_MEM_ALLOC_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "CUDA_MEM_FREE_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "CUDA_BATCH_MEM_OP_NODE_PARAMS",
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CUDA_CONDITIONAL_NODE_PARAMS",
};

static void write_node_params(struct fv_writer *writer, const CUgraphNodeParams *params)
{
    unsigned type = (unsigned)params->type;
    const char *owner =
        type < sizeof node_structs / sizeof node_structs[0] ? node_structs[type] : NULL;

    fprintf(writer->file, "{\"type\":%u", type);
    if (owner) {
        fputs(",\"params\":", writer->file);
        fv_write_struct(writer, owner, &params->kernel); /* all begin at the same place */
    }
    fputc('}', writer->file);
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static void write_field(struct fv_writer *writer, const struct fv_field *field,
                        const unsigned char *at)
{
    void **launch[2];

    fprintf(writer->file, "\"%s\":", field->name);
    if (strcmp(field->type, "LAUNCH") == 0) {
        memcpy(launch, at, sizeof launch);
        fv_write_launch(writer, launch[0], launch[1]);
        return;
    }
    fv_write_value(writer, fv_type_named(field->type, strlen(field->type)), at, field->size);
}

void fv_write_struct(struct fv_writer *writer, const char *owner, const void *at)
{
    const char *separator = "";
    size_t count;
    const struct fv_field *fields = fv_fields_of(owner, &count);

    if (strcmp(owner, "CUgraphNodeParams") == 0) {
        write_node_params(writer, at);
        return;
    }
    writer->code = NULL;
    fputc('{', writer->file);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)at + fields[i].offset;
        if (is_zero(bytes, fields[i].size))
            continue;
        fputs(separator, writer->file);
        write_field(writer, &fields[i], bytes);
        separator = ",";
    }
    fputc('}', writer->file);
}
