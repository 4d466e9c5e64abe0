/* SPDX-License-Identifier: MIT */
#include "overwrite.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console.h"

/* Whether the line on standard input begins with y. */
static bool is_yes(void)
{
    const int first = getchar();

    for (int next = first; next != '\n' && next != EOF;)
        next = getchar();
    return first == 'y' || first == 'Y';
}

bool cli_may_write(const char *path, bool force, bool may_prompt)
{
    struct stat there;
    char safe[512];

    if (force || stat(path, &there) != 0 || !S_ISREG(there.st_mode))
        return true;
    (void)cli_printable(path, safe, sizeof safe);
    if (may_prompt && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        fprintf(stderr, "sluice: %s is there already; overwrite it (y/n)? ", safe);
        if (is_yes())
            return true;
        cli_error("%s: was not overwritten", safe);
    } else {
        cli_error("%s: is there already and was not overwritten (--force overwrites it)", safe);
    }
    return false;
}
