/* graph_instantiate.c: making an exec: the forms of the call, their flags, what they say when a
 * graph cannot be instantiated. */
#include "tests/fake/graph_gate.h"

TEST(graph_instantiate, a_cycle_is_an_invalid_structure)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, a), error = NULL;
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    char log[64] = "";
    OK(cuGraphAddDependencies(f.graph, &b, &a, 1));
    REFUSED(cuGraphInstantiateWithFlags(&exec, f.graph, 0));
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &params));
    T_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    T_ASSERT(params.hErrNode_out == a || params.hErrNode_out == b);
    REFUSED(cuGraphInstantiate_v2(&exec, f.graph, &error, log, sizeof log));
    T_ASSERT(error == a || error == b);
    T_ASSERT(log[0] != 0);
    fixture_end(&f);
}

TEST(graph_instantiate, all_forms_of_instantiate_make_an_exec)
{
    struct fixture f = fixture_begin();
    CUgraphExec exec;
    CUgraphNode error = (CUgraphNode)&f;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                                     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
                                            .hUploadStream = f.stream,
                                            .hErrNode_out = error,
                                            .result_out = CUDA_GRAPH_INSTANTIATE_ERROR};
    char log[64] = "";
    cuuint64_t flags = 99;
    add_kernel(f.graph, NULL, f.mix, f.data, 10, 1);
    OK(cuGraphInstantiate(&exec, f.graph, &error, log, sizeof log));
    run(exec, f.stream);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiate_v2(&exec, f.graph, NULL, NULL, 0));
    run(exec, f.stream);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithParams(&exec, f.graph, &params));
    T_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    T_NULL(params.hErrNode_out);
    OK(cuGraphExecGetFlags(exec, &flags));
    T_EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY); /* without the upload flag */
    run(exec, f.stream);
    T_EQ(word_at(f.data), 111);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_instantiate, flags_are_checked)
{
    struct fixture f = fixture_begin();
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 1024};
    add_kernel(f.graph, NULL, f.mix, f.data, 10, 1);
    REFUSED(cuGraphInstantiateWithFlags(&exec, f.graph, 1024));
    REFUSED(cuGraphInstantiateWithFlags(&exec, f.graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    REFUSED(cuGraphInstantiateWithFlags(&exec, f.graph,
                                        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                            CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &params));
    T_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, NULL));
    REFUSED(cuGraphInstantiateWithFlags(NULL, f.graph, 0));
    REFUSED(cuGraphInstantiateWithFlags(&exec, NULL, 0));
    fixture_end(&f);
}

TEST(graph_instantiate, device_launch_takes_work_of_one_context)
{
    struct fixture f = fixture_begin();
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
    struct gate gate = {.open = true};
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &params)); /* nothing to do */
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 8, 0);
    OK(cuGraphInstantiateWithParams(&exec, f.graph, &params));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 8);
    OK(cuGraphExecDestroy(exec));
    CUgraphNode host = add_gate(f.graph, node, &gate);
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &params));
    T_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    T_PTR_EQ(params.hErrNode_out, host);
    OK(cuGraphDestroyNode(host));

    CUcontext other;
    OK(cuCtxCreate_v2(&other, 0, f.device));
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = f.data, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    CUgraphNode fill;
    OK(cuGraphAddMemsetNode(&fill, f.graph, NULL, 0, &set, other));
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &params));
    T_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
    T_PTR_EQ(params.hErrNode_out, fill);
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxSetCurrent(f.context));
    fixture_end(&f);
}

TEST(graph_instantiate, an_empty_graph_runs)
{
    struct fixture f = fixture_begin();
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}
