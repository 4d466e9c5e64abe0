/* SPDX-License-Identifier: MIT */
/* sluice bench: starts sluice-bench, which is a program of its own. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static char program[] = "sluice-bench";

/* The folder that this program was started from, or "". */
static void find_own_folder(char folder[PATH_MAX])
{
    const ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[len > 0 ? len : 0] = '\0';
    char *const slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
}

int command_bench(int argc, char **argv)
{
    char folder[PATH_MAX], beside[PATH_MAX + sizeof program + 1];

    (void)argc;
    argv[0] = program;
    find_own_folder(folder);
    snprintf(beside, sizeof beside, "%s/%s", folder, program);
    (void)execv(beside, argv);
    if (errno == ENOENT)
        (void)execvp(program, argv);
    cli_error("bench: %s cannot be started: %s (expected as %s, or in PATH)", program,
              strerror(errno), beside);
    return EXIT_FAILED;
}
