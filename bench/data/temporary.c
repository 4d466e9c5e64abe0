/* SPDX-License-Identifier: MIT */
#include "temporary.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/console.h"

static void choose_path(char path[64])
{
    const char *folder = getenv("TMPDIR");

    snprintf(path, 64, "%.40s/sluice-bench.XXXXXX", folder != NULL ? folder : "/tmp");
}

FILE *bench_temporary(char path[64])
{
    choose_path(path);
    const int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");

    if (file == NULL)
        cli_error("%s: cannot be written", path);
    return file;
}

bool bench_make_folder(char path[64])
{
    choose_path(path);
    if (mkdtemp(path) != NULL)
        return true;
    cli_error("%s: %s", path, strerror(errno));
    path[0] = '\0';
    return false;
}

static int remove_one(const char *path, const struct stat *file, int kind, struct FTW *place)
{
    (void)file;
    (void)kind;
    (void)place;
    return remove(path);
}

void bench_remove_folder(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

bool bench_write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    const bool written = file != NULL && fwrite(bytes, 1, len, file) == len;

    if (file == NULL || fclose(file) != 0 || !written) {
        cli_error("%s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
