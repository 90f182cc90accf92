/* namesake.c: a library that has a function of a driver function's name and is no driver. */
__attribute__((visibility("default"))) int cuGraphLaunch(void *exec, void *stream);

int cuGraphLaunch(void *exec, void *stream)
{
    (void)exec;
    (void)stream;
    return 999;
}
