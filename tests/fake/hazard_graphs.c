/* cuda.h leaves it to the caller that no two threads use one graph object at a time, not even to
 * read it; who does is found under FAKEVMM_STRICT=1. */
#include <pthread.h>

#include "tests/fake/driver_fixture.h"

#define STRICT_EXIT 97
#define NODES       2000 /* so that a call on the whole graph lasts */
#define ROUNDS      300  /* of slow calls */
#define CALLS       50   /* of quick ones, at least */

static CUgraph graph, other;
static CUgraphNode node;
static CUgraphExec exec;
static CUcontext context;
static atomic_bool done;
static atomic_int calls;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static CUgraph make_graph(CUgraphNode *first)
{
    CUgraph made;
    CUgraphNode added;

    OK(cuGraphCreate(&made, 0));
    OK(cuGraphAddEmptyNode(first, made, NULL, 0));
    for (int i = 1; i < NODES; i++)
        OK(cuGraphAddEmptyNode(&added, made, NULL, 0));
    return made;
}

/* What takes long. */
static void clone_graph(void)
{
    CUgraph clone;

    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(clone));
}

static void update_exec(void)
{
    CUgraphExecUpdateResultInfo info;

    OK(cuGraphExecUpdate_v2(exec, graph, &info));
}

/* What the other thread does meanwhile. */
static void count_nodes(void)
{
    size_t count;

    OK(cuGraphGetNodes(graph, NULL, &count));
}

static void ask_node(void)
{
    CUgraphNodeType type;

    OK(cuGraphNodeGetType(node, &type));
}

static void launch_exec(void)
{
    OK(cuGraphLaunch(exec, NULL));
}

static void count_nodes_of_another(void)
{
    size_t count;

    OK(cuGraphGetNodes(other, NULL, &count));
}

static struct pair {
    void (*slow)(void), (*quick)(void);
    bool in_turns;
} now;

static void in_turn(void (*call)(void))
{
    if (now.in_turns)
        pthread_mutex_lock(&turn);
    call();
    if (now.in_turns) {
        pthread_mutex_unlock(&turn);
        sched_yield();
    }
}

static void *repeat(void *unused)
{
    OK(cuCtxSetCurrent(context));
    while (!atomic_load(&done)) {
        in_turn(now.quick);
        atomic_fetch_add(&calls, 1);
    }
    return unused;
}

static void both(void)
{
    pthread_t thread;
    CUgraphNode unused;

    context = start();
    graph = make_graph(&node);
    other = make_graph(&unused);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    T_EQ(pthread_create(&thread, NULL, repeat, NULL), 0);
    for (int i = 0; i < ROUNDS || atomic_load(&calls) < CALLS; i++)
        in_turn(now.slow);
    atomic_store(&done, true);
    T_EQ(pthread_join(thread, NULL), 0);
    OK(cuCtxSynchronize());
}

static struct child strictly(struct pair pair)
{
    now = pair;
    setenv("FAKEVMM_STRICT", "1", 1);
    return in_child(both);
}

static void found(struct pair pair, const char *slow, const char *quick)
{
    struct child child = strictly(pair);
    char *line = strstr(child.err, "fakevmm: hazard: ");

    T_EQ(child.exit_code, STRICT_EXIT);
    T_NOT_NULL(line);
    T_STR_HAS(line, "in another thread");
    T_STR_HAS(line, slow);
    T_STR_HAS(line, quick);
}

static void not_found(struct pair pair)
{
    struct child child = strictly(pair);

    T_STR_EQ(child.err, "");
    T_EQ(child.exit_code, 0);
}

TEST(hazard_graphs, two_threads)
{
    found((struct pair){clone_graph, count_nodes, false}, "cuGraphClone", "cuGraphGetNodes");
    found((struct pair){clone_graph, ask_node, false}, "cuGraphClone", "cuGraphNodeGetType");
    found((struct pair){update_exec, launch_exec, false}, "cuGraphExecUpdate_v2", "cuGraphLaunch");
}

TEST(hazard_graphs, one_after_the_other)
{
    not_found((struct pair){clone_graph, count_nodes, true});
    not_found((struct pair){clone_graph, ask_node, true});
    not_found((struct pair){update_exec, launch_exec, true});
}

/* The exec is a graph of its own. */
TEST(hazard_graphs, two_graphs)
{
    not_found((struct pair){clone_graph, count_nodes_of_another, false});
    not_found((struct pair){clone_graph, launch_exec, false});
}

TEST(hazard_graphs, only_when_asked_for)
{
    struct child child;

    now = (struct pair){clone_graph, count_nodes, false};
    child = in_child(both);
    T_EQ(child.exit_code, 0);
    T_STR_EQ(child.err, "");
}
