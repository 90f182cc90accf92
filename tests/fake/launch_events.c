/* Events that a launch records by an attribute. cuda.h: a programmatic event is "guaranteed to only
 * trigger after all block in the associated kernel trigger the event", and may be observed "long
 * after the associated kernel has completed"; either event "must disable timing" and not be an
 * interprocess one. */
#include "tests/fake/module_fixture.h"

static const char text[] =
    PTX(".visible .entry add(.param .u64 p) { .reg .b64 %p; ld.param.u64 %p, [p];\n"
        "red.global.add.u32 [%p], 1; ret; }\n");

static const CUlaunchAttributeID kinds[] = {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                            CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};

struct world {
    CUfunction function;
    CUdeviceptr memory;
    CUstream stream;
};

static struct world begin(void)
{
    struct world world;

    start();
    world.function = function_of(load_module(text), "add");
    world.memory = allocate(4096);
    world.stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD32_v2(world.memory, 0, 1024));
    OK(cuCtxSynchronize());
    return world;
}

static CUresult launch_recording(const struct world *world, CUlaunchAttributeID kind, CUevent event,
                                 int flags)
{
    CUdeviceptr address = world->memory;
    void *params[] = {&address};
    CUlaunchAttribute attribute = {.id = kind};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, world->stream, &attribute, 1};

    if (kind == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
        attribute.value.programmaticEvent.event = event;
        attribute.value.programmaticEvent.flags = flags;
    } else {
        attribute.value.launchCompletionEvent.event = event;
        attribute.value.launchCompletionEvent.flags = flags;
    }
    return cuLaunchKernelEx(&config, world->function, params, NULL);
}

TEST(launch_events, stand_for_the_kernel)
{
    struct world world = begin();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);

    for (unsigned i = 0; i < 2; i++) {
        atomic_bool open = false;

        close_gate(world.stream, &open);
        OK(launch_recording(&world, kinds[i], event, 0));
        T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY); /* the kernel has not begun */
        OK(cuStreamWaitEvent(other, event, 0));
        T_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
        atomic_store(&open, true);
        OK(cuEventSynchronize(event));
        OK(cuStreamSynchronize(other));
        OK(cuStreamSynchronize(world.stream));
        T_EQ(read_u32(world.memory), i + 1);
    }
}

TEST(launch_events, of_the_wrong_kind)
{
    struct world world = begin();
    CUevent timed = new_event(0),
            shared = new_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS),
            plain = new_event(CU_EVENT_DISABLE_TIMING);

    for (unsigned i = 0; i < 2; i++) {
        T_EQ(launch_recording(&world, kinds[i], timed, 0), CUDA_ERROR_INVALID_VALUE);
        T_EQ(launch_recording(&world, kinds[i], shared, 0), CUDA_ERROR_INVALID_VALUE);
        T_EQ(launch_recording(&world, kinds[i], plain, CU_EVENT_RECORD_EXTERNAL),
             CUDA_ERROR_INVALID_VALUE);
        T_EQ(launch_recording(&world, kinds[i], NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    }
    OK(cuCtxSynchronize());
    T_EQ(read_u32(world.memory), 0); /* a launch that fails launches nothing */
}

/* In a capture the event stands for the kernel's node. */
TEST(launch_events, in_a_capture)
{
    struct world world = begin();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING), back = new_event(CU_EVENT_DISABLE_TIMING);
    size_t nodes = 0, edges = 0;
    CUgraphExec exec;
    CUgraph graph;

    OK(cuStreamBeginCapture_v2(world.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(launch_recording(&world, kinds[0], event, 0));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuMemsetD32Async(world.memory + 64, 7, 1, other));
    OK(cuEventRecord(back, other));
    OK(cuStreamWaitEvent(world.stream, back, 0));
    OK(cuStreamEndCapture(world.stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    T_EQ(nodes, 2);
    T_EQ(edges, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, world.stream));
    OK(cuStreamSynchronize(world.stream));
    T_EQ(read_u32(world.memory), 1);
    T_EQ(read_u32(world.memory + 64), 7);
}
