/* FAKEVMM_JOURNAL: one line for each call, the same in every run of a program, wherever its memory
 * lies and whatever its handles are. */
#include "tests/fake/vmm_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char file[64];

/* Runs a body with a journal and answers what is in it, malloc'd. */
static char *journal_of(void (*body)(void), struct child *child)
{
    char *text = calloc(1, 1 << 20);
    FILE *in;

    strcpy(file, P_tmpdir "/journal_calls.XXXXXX");
    close(mkstemp(file));
    setenv("FAKEVMM_JOURNAL", file, 1);
    *child = in_child(body);
    unsetenv("FAKEVMM_JOURNAL");
    in = fopen(file, "r");
    T_NOT_NULL(in);
    T_GT(fread(text, 1, (1 << 20) - 1, in), 0);
    fclose(in);
    unlink(file);
    T_EQ(child->exit_code, 0);
    return text;
}

/* The journal has this line. */
static void has(const char *journal, const char *line)
{
    char whole[1024];

    snprintf(whole, sizeof whole, "\n%s\n", line);
    T_STR_HAS(journal, whole);
}

/* ---- what a line says ---- */

static void memory_calls(void)
{
    unsigned number = 1;

    start();
    allocate(64);
    CUdeviceptr plain = allocate(4096);
    OK(cuMemcpyHtoD_v2(plain + 16, &number, sizeof number));
    OK(cuMemsetD32Async(plain, 5, 8, CU_STREAM_LEGACY));
    OK(cuMemFree_v2(plain));
    T_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
    T_EQ(cuMemAlloc_v2(&plain, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(journal_calls, memory)
{
    static const char first[] = "{\"call\":\"cuInit\",\"args\":[0],\"out\":[],\"result\":";
    struct child child;
    char *journal = journal_of(memory_calls, &child);

    T_EQ(strncmp(journal, first, strlen(first)), 0);
    has(journal, "{\"call\":\"cuMemAlloc_v2\",\"args\":[\"out\",4096],\"out\":[\"mem#2+0\"],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuMemcpyHtoD_v2\",\"args\":[\"mem#2+16\",\"host\",4],\"out\":[],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuMemsetD32Async\",\"args\":[\"mem#2+0\",5,8,\"legacy\"],\"out\":[],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuMemFree_v2\",\"args\":[\"mem#2+0\"],\"out\":[],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuMemFree_v2\",\"args\":[null],\"out\":[],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuMemAlloc_v2\",\"args\":[\"out\",0],"
                 "\"result\":\"CUDA_ERROR_INVALID_VALUE\",\"thread\":1}");
    free(journal);
}

static void graph_calls(void)
{
    unsigned number = 0x01020304;

    start();
    CUdeviceptr plain = allocate(4096), at = plain + 64;
    CUDA_KERNEL_NODE_PARAMS put_it = {
        kernel("put"), 2, 1, 1, 32, 1, 1, 0, (void *[]){&at, &number}, NULL, NULL, NULL};
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = plain, .elementSize = 1, .width = 64, .height = 1};
    CUgraph graph;
    CUgraphNode nodes[2], both[2];
    CUgraphExec exec;
    CUstream stream = new_stream(0);
    size_t count = 2;

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &put_it));
    OK(cuGraphAddMemsetNode(&nodes[1], graph, nodes, 1, &fill, NULL));
    OK(cuGraphGetNodes(graph, both, &count));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    T_NE(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    OK(cuStreamSynchronize(stream));
}

TEST(journal_calls, graphs)
{
    struct child child;
    char *journal = journal_of(graph_calls, &child);

    has(journal, "{\"call\":\"cuModuleGetFunction\",\"args\":[\"out\",\"module#1\",\"put\"],"
                 "\"out\":[\"function#1\"],\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuGraphAddKernelNode_v2\",\"args\":[\"out\",\"graph#1\",null,0,"
                 "{\"func\":\"function#1\",\"gridDimX\":2,\"gridDimY\":1,\"gridDimZ\":1,"
                 "\"blockDimX\":32,\"blockDimY\":1,\"blockDimZ\":1,"
                 "\"kernelParams\":[\"mem#1+64\",\"04030201\"]}],\"out\":[\"node#1\"],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuGraphAddMemsetNode\",\"args\":[\"out\",\"graph#1\",[\"node#1\"],1,"
                 "{\"dst\":\"mem#1+0\",\"elementSize\":1,\"width\":64,\"height\":1},null],"
                 "\"out\":[\"node#2\"],\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuGraphGetNodes\",\"args\":[\"graph#1\",\"out\",\"out\"],"
                 "\"out\":[[\"node#1\",\"node#2\"],2],\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuGraphLaunch\",\"args\":[\"exec#1\",\"stream#1\"],\"out\":[],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    T_STR_HAS(journal,
              "{\"call\":\"cuGraphLaunch\",\"args\":[\"exec#none\",\"stream#1\"],\"result\"");
    free(journal);
}

static void launches(void)
{
    unsigned number = 9;

    start();
    CUdeviceptr plain = allocate(64);
    struct {
        CUdeviceptr p;
        unsigned v;
    } packed = {plain, 9};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUfunction function = kernel("put");
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&plain, &number}, NULL));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(cuCtxSynchronize());
}

TEST(journal_calls, launches)
{
    struct child child;
    char *journal = journal_of(launches, &child);

    has(journal, "{\"call\":\"cuLaunchKernel\",\"args\":[\"function#1\",1,1,1,1,1,1,0,null,"
                 "[\"mem#1+0\",\"09000000\"],null],\"out\":[],\"result\":\"CUDA_SUCCESS\","
                 "\"thread\":1}");
    has(journal, "{\"call\":\"cuLaunchKernel\",\"args\":[\"function#1\",1,1,1,1,1,1,0,null,"
                 "[\"mem#1+0\",\"09000000\"],\"extra\"],\"out\":[],\"result\":\"CUDA_SUCCESS\","
                 "\"thread\":1}");
    free(journal);
}

static void mappings(void)
{
    start();
    CUdeviceptr base = map_new(GRANULE);
    OK(put(base + 8, 1));
}

TEST(journal_calls, mappings)
{
    struct child child;
    char *journal = journal_of(mappings, &child);

    has(journal, "{\"call\":\"cuMemCreate\",\"args\":[\"out\",2097152,{\"type\":1,"
                 "\"location.type\":1},0],\"out\":[\"handle#1\"],\"result\":\"CUDA_SUCCESS\","
                 "\"thread\":1}");
    has(journal, "{\"call\":\"cuMemMap\",\"args\":[\"va#1+0\",2097152,0,\"handle#1\",0],\"out\":[],"
                 "\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    has(journal, "{\"call\":\"cuMemSetAccess\",\"args\":[\"va#1+0\",2097152,[{\"location.type\":1,"
                 "\"flags\":3}],1],\"out\":[],\"result\":\"CUDA_SUCCESS\",\"thread\":1}");
    T_STR_HAS(journal, "[\"va#1+8\",\"01000000\"]");
    free(journal);
}

static void fail_one(void)
{
    CUcontext context;

    OK(cuInit(0));
    T_EQ(cuCtxGetCurrent(&context), CUDA_ERROR_UNKNOWN);
}

/* A call that never reached its function is a call too. */
TEST(journal_calls, faults)
{
    struct child child;
    char *journal;

    setenv("FAKEVMM_FAULT", "cuCtxGetCurrent:1:CUDA_ERROR_UNKNOWN", 1);
    journal = journal_of(fail_one, &child);
    unsetenv("FAKEVMM_FAULT");
    has(journal, "{\"call\":\"cuCtxGetCurrent\",\"args\":[\"out\"],"
                 "\"result\":\"CUDA_ERROR_UNKNOWN\",\"thread\":1}");
    free(journal);
}

/* ---- the same in every run ---- */

static void churn(void)
{
    unsigned v = 3;

    start();
    CUfunction function = kernel("put");
    for (int i = 0; i < 20; i++) {
        CUdeviceptr plain = allocate(4096), mapped = map_new(GRANULE);
        launch(function, NULL, (void *[]){&plain, &v});
        launch(function, NULL, (void *[]){&mapped, &v});
        child_say("%llx %llx\n", plain, mapped);
        OK(cuCtxSynchronize());
        OK(cuMemFree_v2(plain));
        OK(cuMemUnmap(mapped, GRANULE));
        OK(cuMemAddressFree(mapped, GRANULE));
    }
}

TEST(journal_calls, addresses_do_not_show)
{
    struct child late, soon;
    char *a, *b;

    setenv("FAKEVMM_VA", "churn", 1);
    a = journal_of(churn, &late);
    setenv("FAKEVMM_VA", "lifo", 1);
    b = journal_of(churn, &soon);
    unsetenv("FAKEVMM_VA");
    T_NE(strcmp(late.said, soon.said), 0);
    T_STR_EQ(a, b);
    free(a);
    free(b);
}

/* ---- threads and processes ---- */

static void *allocate_much(void *context)
{
    cuCtxSetCurrent(context);
    for (int i = 0; i < 200; i++)
        cuMemFree_v2(allocate(64));
    return NULL;
}

static void two_threads(void)
{
    CUcontext context = start();
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, allocate_much, context);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static int lines_with(const char *journal, const char *end)
{
    int count = 0;

    for (const char *line = journal; *line;) {
        size_t length = strcspn(line, "\n");
        T_EQ(strncmp(line, "{\"call\":\"", 9), 0); /* lines are whole */
        T_EQ(line[length - 1], '}');
        count += length > strlen(end) && !strncmp(line + length - strlen(end), end, strlen(end));
        line += length + 1;
    }
    return count;
}

TEST(journal_calls, threads)
{
    struct child child;
    char *journal = journal_of(two_threads, &child);

    T_EQ(lines_with(journal, "\"thread\":1}"), 2);
    T_EQ(lines_with(journal, "\"thread\":2}"), 401);
    T_EQ(lines_with(journal, "\"thread\":3}"), 401);
    free(journal);
}

static void say_process(void)
{
    OK(cuInit(0));
    child_say("%ld", (long)getpid());
}

TEST(journal_calls, name_with_the_process)
{
    char folder[] = P_tmpdir "/journal_calls.XXXXXX", *pattern, *path;
    struct child child;

    T_NOT_NULL(mkdtemp(folder));
    T_GT(asprintf(&pattern, "%s/journal.%%p", folder), 0);
    setenv("FAKEVMM_JOURNAL", pattern, 1);
    child = in_child(say_process);
    T_EQ(child.exit_code, 0);
    T_GT(asprintf(&path, "%s/journal.%s", folder, child.said), 0);
    T_EQ(unlink(path), 0);
    T_EQ(rmdir(folder), 0);
    free(pattern);
    free(path);
}

TEST(journal_calls, file_that_cannot_be_written)
{
    struct child child;

    setenv("FAKEVMM_JOURNAL", "/no such folder/journal", 1);
    child = in_child(say_process);
    unsetenv("FAKEVMM_JOURNAL");
    T_EQ(child.exit_code, 0);
    T_STR_HAS(child.err, "FAKEVMM_JOURNAL=/no such folder/journal: cannot write");
}
