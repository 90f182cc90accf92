/* graph_objects.c: user objects: who holds references, and that the destructor is called once the
 * last one has gone, by no call of the application's. */
#include "tests/fake/graph_gate.h"

struct object {
    atomic_int destroyed;
    atomic_int refused; /* what a driver call in the destructor answers */
};

static void CUDA_CB destroy(void *data)
{
    struct object *object = data;
    CUevent event;
    atomic_store(&object->refused, cuEventCreate(&event, 0));
    atomic_fetch_add(&object->destroyed, 1);
}

static CUuserObject new_object(struct object *object, unsigned count)
{
    CUuserObject handle = NULL;
    OK(cuUserObjectCreate(&handle, object, destroy, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return handle;
}

static void await(struct object *object)
{
    while (!atomic_load(&object->destroyed))
        sched_yield();
}

TEST(graph_objects, the_last_reference_destroys_it)
{
    struct fixture f = fixture_begin();
    struct object object = {0};
    CUuserObject handle = new_object(&object, 2);
    OK(cuUserObjectRetain(handle, 3));
    OK(cuUserObjectRelease(handle, 4));
    T_EQ(atomic_load(&object.destroyed), 0);
    OK(cuUserObjectRelease(handle, 1));
    await(&object);
    T_EQ(atomic_load(&object.refused), CUDA_ERROR_NOT_PERMITTED);
    REFUSED(cuUserObjectRetain(handle, 1));
    fixture_end(&f);
}

TEST(graph_objects, arguments_are_checked)
{
    struct fixture f = fixture_begin();
    struct object object = {0};
    CUuserObject handle;
    REFUSED(cuUserObjectCreate(NULL, &object, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    REFUSED(cuUserObjectCreate(&handle, &object, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    REFUSED(cuUserObjectCreate(&handle, &object, destroy, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    REFUSED(cuUserObjectCreate(&handle, &object, destroy, 1, 0));
    handle = new_object(&object, 1);
    REFUSED(cuUserObjectRetain(handle, 0));
    REFUSED(cuUserObjectRetain(handle, 0x80000000u));
    REFUSED(cuUserObjectRelease(handle, 0));
    REFUSED(cuUserObjectRetain(NULL, 1));
    REFUSED(cuGraphRetainUserObject(f.graph, handle, 0, 0));
    REFUSED(cuGraphRetainUserObject(f.graph, handle, 1, 2));
    REFUSED(cuGraphRetainUserObject(f.graph, NULL, 1, 0));
    REFUSED(cuGraphRetainUserObject(NULL, handle, 1, 0));
    REFUSED(cuGraphReleaseUserObject(f.graph, handle, 1)); /* it has none */
    OK(cuUserObjectRelease(handle, 1));
    await(&object);
    fixture_end(&f);
}

TEST(graph_objects, a_graph_holds_references_of_its_own)
{
    struct fixture f = fixture_begin();
    struct object object = {0};
    CUuserObject handle = new_object(&object, 1);
    OK(cuGraphRetainUserObject(f.graph, handle, 2, 0));
    OK(cuUserObjectRelease(handle, 1));
    OK(cuGraphReleaseUserObject(f.graph, handle, 1));
    REFUSED(cuGraphReleaseUserObject(f.graph, handle, 2));
    T_EQ(atomic_load(&object.destroyed), 0);
    OK(cuGraphReleaseUserObject(f.graph, handle, 1));
    await(&object);
    fixture_end(&f);
}

TEST(graph_objects, moved_references_end_with_the_graph)
{
    struct fixture f = fixture_begin();
    struct object object = {0};
    CUgraph graph, clone;
    CUuserObject handle = new_object(&object, 1);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphRetainUserObject(graph, handle, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphClone(&clone, graph)); /* has its own */
    OK(cuGraphDestroy(graph));
    T_EQ(atomic_load(&object.destroyed), 0);
    OK(cuGraphDestroy(clone));
    await(&object);
    fixture_end(&f);
}

TEST(graph_objects, an_exec_and_its_launches_hold_them)
{
    struct fixture f = fixture_begin();
    struct object object = {0};
    struct gate gate = {0};
    CUgraph graph;
    CUuserObject handle = new_object(&object, 1);
    OK(cuGraphCreate(&graph, 0));
    add_gate(graph, NULL, &gate);
    OK(cuGraphRetainUserObject(graph, handle, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate);
    OK(cuGraphExecDestroy(exec));
    T_EQ(atomic_load(&object.destroyed), 0); /* the launch is still running */
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    await(&object);
    fixture_end(&f);
}

TEST(graph_objects, references_of_child_graphs_are_the_childs)
{
    struct fixture f = fixture_begin();
    struct object object = {0};
    CUgraph child;
    CUgraphNode node;
    CUuserObject handle = new_object(&object, 1);
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphRetainUserObject(child, handle, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphAddChildGraphNode(&node, f.graph, NULL, 0, child));
    OK(cuGraphDestroy(child));
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphDestroyNode(node));
    T_EQ(atomic_load(&object.destroyed), 0); /* the exec's */
    OK(cuGraphExecDestroy(exec));
    await(&object);
    fixture_end(&f);
}

TEST(graph_objects, an_update_replaces_them)
{
    struct fixture f = fixture_begin();
    struct object old = {0}, new = {0};
    CUgraph newer;
    CUgraphExecUpdateResultInfo info;
    CUuserObject first = new_object(&old, 1), second = new_object(&new, 1);
    OK(cuGraphCreate(&newer, 0));
    OK(cuGraphRetainUserObject(f.graph, first, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphRetainUserObject(newer, second, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphReleaseUserObject(f.graph, first, 1));
    T_EQ(atomic_load(&old.destroyed), 0);
    OK(cuGraphExecUpdate_v2(exec, newer, &info));
    await(&old);
    OK(cuGraphDestroy(newer));
    T_EQ(atomic_load(&new.destroyed), 0);
    OK(cuGraphExecDestroy(exec));
    await(&new);
    fixture_end(&f);
}
