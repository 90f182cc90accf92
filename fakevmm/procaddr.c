/* procaddr.c: cuGetProcAddress in both forms, from the table of exported functions. With
 * FAKEVMM_MODEL=gpa=distinct the answers are entry points of their own, with other addresses
 * than the exported symbols: whether they are equal on a GPU is not documented. It must not know
 * what the functions do. */
#include "door.h"
#include "settings.h"

#include <string.h>

/* The second set of entry points. */
#define FV(symbol, base, since, ptds, impl, params, args)                                          \
    static CUresult distinct_##symbol params FV_DOOR(symbol, ptds, impl, args)
#include "entries.def"
#undef FV

#define FV(symbol, base, since, ptds, impl, params, args) extern CUresult symbol params;
#include "entries.def"
#undef FV

static const struct {
    void *exported, *distinct;
} addresses[FV_ROWS] = {
#define FV(symbol, base, since, ptds, impl, params, args)                                          \
    {(void *)symbol, (void *)distinct_##symbol},
#include "entries.def"
#undef FV
};

/* Of two rows that fit, the one to answer: a per-thread twin before others, then the newest. */
static bool better(int row, int best)
{
    if (best < 0)
        return true;
    if (fv_symbols[row].ptds != fv_symbols[best].ptds)
        return fv_symbols[row].ptds;
    return fv_symbols[row].since > fv_symbols[best].since;
}

static CUdriverProcAddressQueryResult find(const char *base, int version, bool ptds, void **out)
{
    bool known = false;
    int best = -1;

    for (int row = 0; row < FV_ROWS; row++) {
        const struct fv_symbol *symbol = &fv_symbols[row];
        if (symbol->since > fv_settings()->driver || strcmp(symbol->base, base) != 0)
            continue;
        known = true;
        if (symbol->since <= version && (ptds || !symbol->ptds) && better(row, best))
            best = row;
    }
    if (best >= 0) {
        *out = fv_settings()->gpa_distinct ? addresses[best].distinct : addresses[best].exported;
        return CU_GET_PROC_ADDRESS_SUCCESS;
    }
    *out = NULL;
    return known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                 : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

CUresult fv_cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult found;

    if (!name || !out || version > fv_settings()->driver ||
        flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    found = find(name, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, out);
    if (status)
        *status = found;
    return found == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fv_cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    return fv_cuGetProcAddress_v2(name, out, version, flags, NULL);
}

/* The tables behind this call are private to the vendor's libraries; a fake has none of them. */
CUresult fv_cuGetExportTable(const void **table, const CUuuid *id)
{
    static bool said;

    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (!said)
        fv_say("cuGetExportTable has no tables: NVIDIA's own runtime library refuses this driver; "
               "build the program with nvcc -cudart shared");
    said = true;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
