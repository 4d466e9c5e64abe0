/* SPDX-License-Identifier: MIT */
#include "scan_dispose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MAX = 1000 };

/* Opens a new file in the directory: "name", or else "name.001" and so on. */
static int create_in(const char *directory, const char *name, mode_t mode, char path[PATH_MAX])
{
    int fd = -1;

    for (int i = 0; i < NAMES_MAX && fd < 0; i++) {
        const int len = i == 0 ? snprintf(path, PATH_MAX, "%s/%s", directory, name)
                               : snprintf(path, PATH_MAX, "%s/%s.%03d", directory, name, i);

        if (len >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static bool copy_bytes(int from, int to)
{
    const size_t step = 1 << 30;
    ssize_t n;

    while ((n = sendfile(to, from, NULL, step)) > 0)
        ;
    return n == 0 && fsync(to) == 0;
}

/* Copies a file that is open. The copy is whole, or not there. */
static bool copy(int from, const struct stat *file, const char *directory, const char *name,
                 char path[PATH_MAX])
{
    const int to = create_in(directory, name, file->st_mode, path);

    if (to < 0)
        return false;
    const bool whole = copy_bytes(from, to);
    const int error = errno;
    if (close(to) == 0 && whole)
        return true;
    (void)unlink(path);
    errno = error;
    return false;
}

/* Whether the path is still the file that is open. */
static bool is_same(const char *path, const struct stat *file)
{
    struct stat now;

    return lstat(path, &now) == 0 && now.st_dev == file->st_dev && now.st_ino == file->st_ino;
}

static bool dispose(enum scan_disposal disposal, const char *directory, const char *real, int fd,
                    char to[PATH_MAX])
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return false;
    if (!S_ISREG(file.st_mode)) {
        errno = EINVAL;
        return false;
    }
    if (disposal != SCAN_REMOVE && !copy(fd, &file, directory, strrchr(real, '/') + 1, to))
        return false;
    if (disposal == SCAN_COPY)
        return true;
    if (is_same(real, &file) && unlink(real) == 0)
        return true;
    const int error = errno;
    if (disposal == SCAN_MOVE)
        (void)unlink(to);
    errno = error;
    return false;
}

bool scan_dispose(enum scan_disposal disposal, const char *directory, const char *path,
                  char text[SCAN_DISPOSED_LEN])
{
    static const char *const words[] = {
        [SCAN_MOVE] = "moved to '", [SCAN_COPY] = "copied to '", [SCAN_REMOVE] = "Removed"};
    char real[PATH_MAX], to[PATH_MAX] = "";
    const bool found = realpath(path, real) != NULL;
    const int fd = found ? open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    const bool done = fd >= 0 && dispose(disposal, directory, real, fd, to);

    if (done)
        snprintf(text, SCAN_DISPOSED_LEN, "%s%s%s", words[disposal], to,
                 disposal == SCAN_REMOVE ? "" : "'");
    else
        snprintf(text, SCAN_DISPOSED_LEN, "not %s: %s",
                 disposal == SCAN_MOVE   ? "moved"
                 : disposal == SCAN_COPY ? "copied"
                                         : "removed",
                 strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return done;
}
