/* SPDX-License-Identifier: MIT */
#include "clamscan.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

/* Seconds that a child process takes; below 0: it cannot be started, or ends with an error. */
static double run_child(char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const uint64_t begin = clock_ns();
    const int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (double)(clock_ns() - begin) / 1e9 : -1;
}

static char no_summary[] = "--no-summary", max_file[] = "--max-filesize=1000M",
            max_scan[] = "--max-scansize=1000M", clamscan[] = "clamscan", database_option[] = "-d";

double clamscan_run(char *database, char *path)
{
    char *const arguments[] = {clamscan, database_option, database, no_summary,
                               max_file, max_scan,        path,     NULL};

    return run_child(arguments);
}
