/* process.c: what a process may go through around its CUDA calls. One mode per run:
 *
 *   process fork     a child of fork sends a setter (the driver refuses it) and launches; then the
 * parent goes on. Prints "child N", the driver's answer to the child's setter process sticky   a
 * kernel faults, a launch reports it; then a setter that was answered before must reach the driver.
 * Prints "reach N" process threads  threads make the first calls of the process at once, each on an
 * exec of its own. Prints "reach N" and "updates N" process unseen   an exec is found by no record
 * of ours: null and foreign handles are the driver's */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static void forked(void)
{
    struct rig rig = {0};
    int status;
    pid_t child;

    rig_up(&rig);
    MUST(rig_setter(&rig));
    MUST(rig_setter(&rig));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        CUresult answer = rig_setter(&rig);

        cuGraphLaunch(rig.exec, NULL);
        printf("child %d\n", (int)answer);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
    MUST(rig_setter(&rig));
    MUST(cuGraphLaunch(rig.exec, NULL));
    MUST(cuCtxSynchronize());
}

static void sticky(void)
{
    struct rig rig = {0};

    rig_up(&rig);
    rig.p = 8; /* nobody's address */
    MUST(rig_setter(&rig));
    MUST(rig_setter(&rig)); /* answered by the library */
    MUST(cuGraphLaunch(rig.exec, NULL));
    if (cuCtxSynchronize() != CUDA_ERROR_ILLEGAL_ADDRESS)
        exit(1);
    if (cuGraphLaunch(rig.exec, NULL) != CUDA_ERROR_ILLEGAL_ADDRESS)
        exit(1);
    rig_setter(&rig);
    printf("reach 2\n");
}

#define THREADS 8
#define ROUNDS  50

static pthread_barrier_t start;

static void *worker(void *argument)
{
    struct rig *rig = argument;

    pthread_barrier_wait(&start);
    rig_up(rig);
    for (int i = 0; i < ROUNDS; i++) {
        rig->b = 2 + i / 25; /* changes once */
        MUST(rig_setter(rig));
        MUST(cuGraphLaunch(rig->exec, NULL));
    }
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(rig->exec));
    return NULL;
}

static void threads(void)
{
    static struct rig rigs[THREADS];
    pthread_t thread[THREADS];

    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, worker, &rigs[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("reach %d\nupdates %d\n", 2 * THREADS, ROUNDS * THREADS);
}

static void unseen(void)
{
    struct rig rig = {0};
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params;

    rig_up(&rig);
    params = rig_params(rig.store, args);
    MUST(rig_setter(&rig));
    printf("null exec %d\n", cuGraphExecKernelNodeSetParams_v2(NULL, rig.kernel[0], &params));
    printf("null node %d\n", cuGraphExecKernelNodeSetParams_v2(rig.exec, NULL, &params));
    printf("null params %d\n", cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[0], NULL));
    printf("foreign exec %d\n",
           cuGraphExecKernelNodeSetParams_v2((CUgraphExec)rig.graph, rig.kernel[0], &params));
    printf("destroy null %d\n", cuGraphExecDestroy(NULL));
    printf("launch null %d\n", cuGraphLaunch(NULL, NULL));
    MUST(rig_setter(&rig));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"fork", forked}, {"sticky", sticky}, {"threads", threads}, {"unseen", unseen}};

    for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(*modes); i++) {
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run(), 0;
    }
    return 2;
}
