/* graph_bind.c: how far an exec's node may be changed: what its operands are tied to (device memory
 * or not, whose device, whose context), and which new parameters fit it.
 * Whether memory without an owning context (VMM) fits beside cuMemAlloc memory of the same device
 * is a switch of FAKEVMM_MODEL. */
#include "graph_exec.h"
#include "settings.h"
#include "va.h"

static struct fv_binding bind(CUdeviceptr address)
{
    const struct fv_mapping *mapping = fv_va_find(address);
    if (!mapping)
        return (struct fv_binding){.mapped = false};
    return (struct fv_binding){true, mapping->phys->device->ordinal, mapping->context};
}

void fv_params_bind(const struct fv_params *params, struct fv_binding *source,
                    struct fv_binding *target)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        *target = bind(params->memset.dst);
        return;
    }
    if (params->type != CU_GRAPH_NODE_TYPE_MEMCPY)
        return;
    *source = bind(params->copy_plan.from.at);
    *target = bind(params->copy_plan.to.at);
}

static bool same_binding(const struct fv_binding *a, const struct fv_binding *b)
{
    if (a->mapped != b->mapped || a->device != b->device)
        return false;
    if (a->context == b->context)
        return true;
    return !fv_settings()->copynode_refuse && (!a->context || !b->context);
}

static bool operands_fit(const struct fv_step *step, const struct fv_params *new)
{
    struct fv_binding source = {0}, target = {0};
    fv_params_bind(new, &source, &target);
    return new->context == step->context &&same_binding(&step->source, &source) &&
           same_binding(&step->target, &target);
}

static bool flat(const CUDA_MEMCPY3D *copy)
{
    return copy->Height <= 1 && copy->Depth <= 1;
}

/* Two-dimensional fills keep every dimension; others stay one-dimensional. */
static bool same_dimensions(const CUDA_MEMSET_NODE_PARAMS_v1 *old,
                            const CUDA_MEMSET_NODE_PARAMS_v1 *new)
{
    if (old->height != new->height)
        return false;
    return old->height <= 1 || (old->width == new->width && old->pitch == new->pitch &&
                                old->elementSize == new->elementSize);
}

bool fv_step_takes_setter(const struct fv_step *step, const struct fv_params *old,
                          const struct fv_params *new)
{
    switch (step->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return new->context == step->context;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return flat(&old->copy) && flat(&new->copy) &&
               new->copy.WidthInBytes &&new->copy.Height &&new->copy.Depth &&operands_fit(step,
                                                                                          new);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return new->memset.width &&new->memset.height &&same_dimensions(&old->memset,
                                                                        &new->memset) &&
               operands_fit(step, new);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return fv_batch_takes(old, new);
    default: return true;
    }
}

bool fv_step_takes_update(const struct fv_step *step, const struct fv_params *old,
                          const struct fv_params *new)
{
    switch (step->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return old->copy.srcMemoryType == new->copy.srcMemoryType &&
               old->copy.dstMemoryType == new->copy.dstMemoryType &&
               old->copy.Height == new->copy.Height &&
               old->copy.Depth == new->copy.Depth &&operands_fit(step, new);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return same_dimensions(&old->memset, &new->memset) && operands_fit(step, new);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return fv_batch_takes(old, new);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return old->context == new->context &&
               old->conditional.set.type == new->conditional.set.type &&
               old->conditional.set.size == new->conditional.set.size;
    default: return true;
    }
}
