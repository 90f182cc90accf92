/* life.c: a process's beginning, end and children around its CUDA calls. One mode per run; each
 * prints "updates N" and "launches N" of its own process, and what else its comment says.
 *
 * The modes are the functions below that the table names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static struct rig rig;
static int launches;

static void launch(void)
{
    MUST(cuGraphLaunch(rig.exec, NULL));
    launches++;
}

static void some_work(void)
{
    rig_up(&rig);
    for (int i = 0; i < 3; i++)
        MUST(rig_setter(&rig));
    launch();
    MUST(cuCtxSynchronize());
}

static void tell(void)
{
    printf("updates %u\nlaunches %d\n", rig.sent, launches);
    fflush(stdout);
}

/* Prints the child's exit code. */
static void await(pid_t child)
{
    int status = -1;

    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(1);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* ---- children ---- */

/* vfork, and a program in the child. */
static void vforked(void)
{
    pid_t child;

    some_work();
    child = vfork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(127);
    }
    await(child);
    some_work();
    tell();
}

/* The system call, which runs no handlers of fork; the child calls CUDA and goes through exit. */
static void cloned(void)
{
    pid_t child;

    some_work();
    fflush(stdout);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        struct rig other = rig;

        exit((int)rig_setter(&other));
    }
    await(child);
    some_work();
    tell();
}

static atomic_bool enough;

static void *busy(void *argument)
{
    struct rig *mine = argument;

    MUST(cuCtxSetCurrent(mine->context));
    while (!enough) {
        MUST(rig_setter(mine));
        MUST(cuGraphLaunch(mine->exec, NULL));
    }
    return NULL;
}

/* fork while 8 threads are inside hooks: each child calls CUDA, and is not blocked by a lock that
 * another thread held. */
static void forked_busy(void)
{
    static struct rig rigs[8];
    pthread_t thread[8];

    for (int i = 0; i < 8; i++) {
        rig_up(&rigs[i]);
        pthread_create(&thread[i], NULL, busy, &rigs[i]);
    }
    fflush(stdout);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct rig other = rigs[0];
            CUdeviceptr p;
            int answer = (int)rig_setter(&other);

            cuMemAlloc_v2(&p, 256);
            cuGraphLaunch(other.exec, NULL);
            _exit(answer);
        }
        await(child);
    }
    enough = true;
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

/* ---- the end ---- */

static void end_now(void)
{
    some_work();
    tell();
    _exit(3);
}

static void end_quickly(void)
{
    some_work();
    tell();
    quick_exit(4);
}

static void end_killed(void)
{
    some_work();
    tell();
    raise(SIGKILL);
}

static bool late;

/* What a program may call after the driver has ended; prints the answers. */
static void call_late(const char *when)
{
    unsigned sent = rig.sent;

    printf("%s %d", when, (int)rig_setter(&rig));
    printf(" %d", (int)cuGraphLaunch(rig.exec, NULL));
    printf(" %d", (int)cuMemFree_v2(rig.buffer));
    printf(" %d\n", (int)cuGraphExecDestroy(rig.exec));
    rig.sent = sent;
}

static void in_handler(void)
{
    call_late("atexit");
}

/* After handlers, as C++ destroys static objects. */
__attribute__((destructor)) static void at_the_end(void)
{
    if (late)
        call_late("destructor");
}

/* Handlers that were registered before the driver's run after it. */
static void end_late(void)
{
    atexit(in_handler);
    late = true;
    some_work();
    tell();
}

/* ---- the beginning ---- */

/* Before main: the library's state must need no constructor of its own. */
__attribute__((constructor)) static void at_the_beginning(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "constructor"))
        some_work();
}

static void begun_early(void)
{
    tell();
}

static pthread_barrier_t start;
static void *answers[8];

static void *look_up(void *argument)
{
    void *driver;

    pthread_barrier_wait(&start);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)argument = driver ? dlsym(driver, "cuGraphExecKernelNodeSetParams_v2") : NULL;
    return NULL;
}

/* Threads race at the process's first look-up. Prints whether all got the same answer. */
static void looked_up(void)
{
    pthread_t thread[8];
    int same = 0;

    pthread_barrier_init(&start, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, look_up, &answers[i]);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 8; i++)
        same += answers[i] && answers[i] == answers[0];
    printf("same %d\n", same);
    some_work();
    tell();
}

/* ---- signals ---- */

static void *pester(void *argument)
{
    while (!enough) {
        pthread_kill(*(pthread_t *)argument, SIGUSR2);
        usleep(200);
    }
    return NULL;
}

/* SIGUSR2, while the thread it interrupts is in hooks nearly all the time. Only with
 * VAREMAP_STATS_SIGNAL=1: its default is to end the process. */
static void signalled(void)
{
    pthread_t self = pthread_self(), other;

    some_work();
    pthread_create(&other, NULL, pester, &self);
    for (int i = 0; i < 2000; i++) {
        rig.b = (unsigned long long)i / 2;
        MUST(rig_setter(&rig));
        launch();
    }
    enough = true;
    pthread_join(other, NULL);
    MUST(cuCtxSynchronize());
    tell();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"vfork", vforked},          {"clone", cloned},
                 {"busy", forked_busy},       {"_exit", end_now},
                 {"quick_exit", end_quickly}, {"kill", end_killed},
                 {"late", end_late},          {"constructor", begun_early},
                 {"lookups", looked_up},      {"signals", signalled}};

    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++) {
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run(), 0;
    }
    return 2;
}
