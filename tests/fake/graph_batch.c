/* graph_batch.c: nodes of operations on memory: what they write, what they wait for, how far an
 * exec may change them. */
#include "tests/fake/graph_gate.h"

static CUstreamBatchMemOpParams write_op(CUdeviceptr address, unsigned value)
{
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                                  .address = address,
                                                  .value = value}};
    return op;
}

static CUstreamBatchMemOpParams wait_op(CUdeviceptr address, unsigned value, unsigned flags)
{
    CUstreamBatchMemOpParams op = {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                                 .address = address,
                                                 .value = value,
                                                 .flags = flags}};
    return op;
}

static CUDA_BATCH_MEM_OP_NODE_PARAMS batch(struct fixture *f, CUstreamBatchMemOpParams *ops,
                                           unsigned count)
{
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = f->context, .count = count, .paramArray = ops};
}

static CUgraphNode add_batch(struct fixture *f, CUgraphNode after, CUstreamBatchMemOpParams *ops,
                             unsigned count)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(f, ops, count);
    CUgraphNode node = NULL;
    OK(cuGraphAddBatchMemOpNode(&node, f->graph, &after, after != NULL, &params));
    return node;
}

TEST(graph_batch, writes_in_its_turn)
{
    struct fixture f = fixture_begin();
    CUstreamBatchMemOpParams ops[2] = {write_op(f.data, 5), write_op(f.data + 64, 6)};
    CUgraphNode node = add_batch(&f, NULL, ops, 2);
    ops[0].writeValue.value = 99; /* the array was copied */
    add_kernel(f.graph, node, f.mix, f.data, 2, 1);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 11);
    T_EQ(word_at(f.data + 64), 6);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_batch, a_wait_holds_its_branch_only)
{
    struct fixture f = fixture_begin();
    struct gate seen = {.open = true};
    CUstreamBatchMemOpParams op = wait_op(f.data, 1, CU_STREAM_WAIT_VALUE_EQ);
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    add_kernel(f.graph, add_batch(&f, NULL, &op, 1), f.put, f.data + 64, 7, 0);
    add_gate(f.graph, NULL, &seen);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&seen);
    T_EQ(cuStreamQuery(f.stream), CUDA_ERROR_NOT_READY);
    OK(cuStreamWriteValue32_v2(other, f.data, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data + 64), 7);
    OK(cuStreamSynchronize(other));
    OK(cuStreamDestroy_v2(other));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_batch, branches_signal_each_other)
{
    struct fixture f = fixture_begin();
    CUstreamBatchMemOpParams wait[2] = {wait_op(f.data, 3, CU_STREAM_WAIT_VALUE_GEQ),
                                        write_op(f.data + 4, 9)};
    CUstreamBatchMemOpParams signal[2] = {write_op(f.data, 3),
                                          wait_op(f.data + 4, 9, CU_STREAM_WAIT_VALUE_EQ)};
    CUgraphNode ends[2] = {add_batch(&f, NULL, wait, 2), add_batch(&f, NULL, signal, 2)}, join;
    OK(cuGraphAddEmptyNode(&join, f.graph, ends, 2));
    add_kernel(f.graph, join, f.put, f.data + 64, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data + 64), 1);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_batch, getters_and_setters)
{
    struct fixture f = fixture_begin();
    CUstreamBatchMemOpParams ops[2] = {write_op(f.data, 5), write_op(f.data, 6)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&f, ops, 2), got;
    CUgraphNode node = add_batch(&f, NULL, ops, 1), empty = add_empty(f.graph, NULL);
    OK(cuGraphBatchMemOpNodeGetParams(node, &got));
    T_EQ(got.count, 1);
    T_EQ(got.paramArray[0].writeValue.value, 5);
    T_ASSERT(got.ctx == f.context);
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    OK(cuGraphBatchMemOpNodeGetParams(node, &got));
    T_EQ(got.count, 2);
    T_EQ(got.paramArray[1].writeValue.value, 6);
    REFUSED(cuGraphBatchMemOpNodeGetParams(empty, &got));
    REFUSED(cuGraphBatchMemOpNodeSetParams(empty, &params));
    REFUSED(cuGraphBatchMemOpNodeSetParams(node, NULL));
    params.flags = 1;
    REFUSED(cuGraphBatchMemOpNodeSetParams(node, &params));
    params.flags = 0;
    params.paramArray = NULL;
    REFUSED(cuGraphBatchMemOpNodeSetParams(node, &params));
    fixture_end(&f);
}

TEST(graph_batch, an_exec_takes_addresses_values_and_kinds_of_wait)
{
    struct fixture f = fixture_begin();
    CUstreamBatchMemOpParams ops[2] = {write_op(f.data, 5),
                                       wait_op(f.data, 5, CU_STREAM_WAIT_VALUE_EQ)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(&f, ops, 2);
    CUgraphNode node = add_batch(&f, NULL, ops, 2);
    CUgraphExec exec = instantiate(f.graph);
    ops[0] = write_op(f.data + 64, 8);
    ops[1] = wait_op(f.data + 64, 7, CU_STREAM_WAIT_VALUE_GEQ);
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 0);
    T_EQ(word_at(f.data + 64), 8);
    params.count = 1;
    REFUSED(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    params.count = 2;
    ops[1] = write_op(f.data, 7);
    REFUSED(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params)); /* another operation */
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}
