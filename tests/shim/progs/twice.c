/* twice.c: `twice NAME=VALUE NAME=VALUE COMMAND` runs COMMAND with both first in its environment,
 * which a shell cannot do for one name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t count = 0;
    char **environment;

    if (argc != 4)
        return 2;
    while (environ[count])
        count++;
    environment = calloc(count + 3, sizeof(*environment));
    if (!environment)
        return 1;
    environment[0] = argv[1];
    environment[1] = argv[2];
    for (size_t i = 0; i < count; i++)
        environment[2 + i] = environ[i];
    execve(argv[3], argv + 3, environment);
    return 127;
}
