/* SPDX-License-Identifier: MIT */
#include "pace_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_folder(const char *path)
{
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

/* XDG Base Directory Specification: a relative path counts as none. */
static bool name_caches(char path[PATH_MAX])
{
    const char *const caches = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const bool is_set = caches != NULL && caches[0] == '/';

    if (!is_set && (home == NULL || home[0] != '/'))
        return false;
    return snprintf(path, PATH_MAX, "%s%s", is_set ? caches : home, is_set ? "" : "/.cache") <
           PATH_MAX - 32;
}

static const char *append(char path[PATH_MAX], const char *name)
{
    const size_t len = strlen(path);

    (void)snprintf(path + len, PATH_MAX - len, "%s", name);
    return path;
}

const char *pace_file(char path[PATH_MAX])
{
    if (!name_caches(path) || !make_folder(path) || !make_folder(append(path, "/sluice")))
        return NULL;
    return append(path, "/paces");
}
