/* output.c: see output.h. Must not know what is written. Uses no heap and no stdio. */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The system calls themselves: libc has functions for them only from glibc 2.33 on, before that
 * macros over others. On 64-bit machines the kernel's structure is libc's. */
static bool status_of(const char *path, struct stat *status)
{
    return syscall(SYS_newfstatat, AT_FDCWD, path, status, 0) == 0;
}

static bool status_of_open(int fd, struct stat *status)
{
    return syscall(SYS_fstat, fd, status) == 0;
}

/* True as well when it cannot be told. */
static bool anybodys_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char folder[PATH_MAX] = ".";
    struct stat status;

    if (length >= sizeof folder)
        return true;
    if (length) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return !status_of(folder, &status) || (status.st_mode & S_ISVTX && status.st_mode & S_IWOTH);
}

int vr_output_open(const char *path, int flags)
{
    int all = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags;
    int fd = open(path, all | O_NOFOLLOW, 0666);

    if (fd < 0 && errno == ELOOP && !anybodys_folder(path))
        fd = open(path, all, 0666);
    return fd;
}

/* False when another process holds the lock for a second. What cannot be locked needs no turn. */
static bool take_turn(int fd)
{
    const struct timespec pause = {.tv_nsec = 5000000};

    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return true;
        if (tries == 200)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

int vr_output_replace(const char *path)
{
    int fd = vr_output_open(path, 0);
    struct stat status;

    if (fd < 0 || !status_of_open(fd, &status) || !S_ISREG(status.st_mode))
        return fd;
    if (take_turn(fd) && ftruncate(fd, 0) == 0)
        return fd;
    close(fd);
    return -1;
}
