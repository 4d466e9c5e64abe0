/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

extern char **environ;

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The kernel counts the peak of the process that starts another one as that one's, too. */
static void forget_own_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)malloc_trim(0);
    (void)fd_write(fd, "5", 1);
    (void)close(fd);
}

bool process_run(char *const *arguments, struct process_cost *cost)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t child;
    int status = -1;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    forget_own_peak();
    const uint64_t begin = clock_ns();
    const int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return false;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return false;
    cost->seconds = (double)(clock_ns() - begin) / 1e9;
    cost->cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    cost->memory = (uint64_t)usage.ru_maxrss << 10;
    return true;
}
