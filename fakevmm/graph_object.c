/* graph_object.c: user objects: resources of the application that live until nobody refers to them,
 * and the references that graphs, execs and launches hold. The last reference calls the
 * application's destructor, from a worker, never from the call that gave it up. */
#include "graph.h"
#include "stream.h"

#include <limits.h>
#include <stdlib.h>

struct user_object {
    void *data;
    CUhostFn destroy;
    unsigned long long refs; /* the application's and those of sets */
};

FV_FITS(struct user_object);

/* Immutable while more than one holds it. */
struct fv_objects {
    unsigned refs;
    size_t count;
    struct held {
        struct user_object *object;
        unsigned long long count;
    } at[];
};

static CUresult object_of(CUuserObject handle, struct user_object **out)
{
    if (!fv_valid(FV_USER_OBJECT, handle))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct user_object *)handle;
    return CUDA_SUCCESS;
}

static bool count_fits(unsigned count)
{
    return count && count <= INT_MAX;
}

static void release(struct user_object *object, unsigned long long count)
{
    object->refs -= count;
    if (object->refs)
        return;
    if (!fv_call_host_later(object->destroy, object->data))
        fv_say("out of memory: a user object's destructor is not called");
    fv_delete(FV_USER_OBJECT, object);
}

/* ---- sets ---- */

struct fv_objects *fv_objects_get(struct fv_objects *objects)
{
    if (objects)
        objects->refs++;
    return objects;
}

void fv_objects_put(struct fv_objects *objects)
{
    if (!objects || --objects->refs)
        return;
    for (size_t i = 0; i < objects->count; i++)
        release(objects->at[i].object, objects->at[i].count);
    free(objects);
}

/* A copy with references of its own and room for one more entry. */
static struct fv_objects *copy(const struct fv_objects *from)
{
    size_t count = from ? from->count : 0;
    struct fv_objects *objects = calloc(1, sizeof *objects + (count + 1) * sizeof *objects->at);
    if (!objects)
        return NULL;
    objects->refs = 1;
    objects->count = count;
    for (size_t i = 0; i < count; i++) {
        objects->at[i] = from->at[i];
        objects->at[i].object->refs += objects->at[i].count;
    }
    return objects;
}

static struct held *find(struct fv_objects *objects, const struct user_object *object)
{
    for (size_t i = 0; objects && i < objects->count; i++)
        if (objects->at[i].object == object)
            return &objects->at[i];
    return NULL;
}

/* Gives the graph `count` references, which are counted already. */
static CUresult add(struct fv_graph *graph, struct user_object *object, unsigned count)
{
    struct fv_objects *objects = copy(graph->objects);
    if (!objects)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct held *held = find(objects, object);
    if (!held) {
        held = &objects->at[objects->count++];
        held->object = object;
    }
    held->count += count;
    fv_objects_put(graph->objects);
    graph->objects = objects;
    return CUDA_SUCCESS;
}

static CUresult take_away(struct fv_graph *graph, struct user_object *object, unsigned count)
{
    const struct held *had = find(graph->objects, object);
    if (!had || had->count < count)
        return CUDA_ERROR_INVALID_VALUE;
    struct fv_objects *objects = copy(graph->objects);
    if (!objects)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct held *held = find(objects, object);
    held->count -= count;
    if (!held->count)
        *held = objects->at[--objects->count];
    fv_objects_put(graph->objects);
    graph->objects = objects;
    release(object, count);
    return CUDA_SUCCESS;
}

/* ---- the driver's calls ---- */

CUresult fv_cuUserObjectCreate(CUuserObject *out, void *data, CUhostFn destroy, unsigned count,
                               unsigned flags)
{
    if (!out || !destroy || !count_fits(count) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct user_object *object = fv_new(FV_USER_OBJECT);
    if (!object)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *object = (struct user_object){data, destroy, count};
    *out = (CUuserObject)object;
    return CUDA_SUCCESS;
}

CUresult fv_cuUserObjectRetain(CUuserObject handle, unsigned count)
{
    struct user_object *object;
    CUresult result = object_of(handle, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count_fits(count))
        return CUDA_ERROR_INVALID_VALUE;
    object->refs += count;
    return CUDA_SUCCESS;
}

CUresult fv_cuUserObjectRelease(CUuserObject handle, unsigned count)
{
    struct user_object *object;
    CUresult result = object_of(handle, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count_fits(count) || count > object->refs)
        return CUDA_ERROR_INVALID_VALUE;
    release(object, count);
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count,
                                    unsigned flags)
{
    struct fv_graph *graph;
    struct user_object *object;
    CUresult result = fv_graph_of(graph_handle, &graph);
    if (result == CUDA_SUCCESS)
        result = object_of(handle, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count_fits(count) || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_GRAPH_USER_OBJECT_MOVE)
        return count > object->refs ? CUDA_ERROR_INVALID_VALUE : add(graph, object, count);
    object->refs += count;
    result = add(graph, object, count);
    if (result != CUDA_SUCCESS)
        object->refs -= count;
    return result;
}

CUresult fv_cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count)
{
    struct fv_graph *graph;
    struct user_object *object;
    CUresult result = fv_graph_of(graph_handle, &graph);
    if (result == CUDA_SUCCESS)
        result = object_of(handle, &object);
    if (result != CUDA_SUCCESS)
        return result;
    return count_fits(count) ? take_away(graph, object, count) : CUDA_ERROR_INVALID_VALUE;
}
