/* SPDX-License-Identifier: MIT */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

enum { NAMES_MAX = 16 /* writers of one path at once */ };

/* ---- names beside the path ------------------------------------------------------------------- */

static bool is_named(const char *name, int fd)
{
    struct stat there, open_file;

    return lstat(name, &there) == 0 && fstat(fd, &open_file) == 0 &&
           there.st_dev == open_file.st_dev && there.st_ino == open_file.st_ino;
}

/* Removes the file of a writer that has ended without renaming it. */
static void remove_left(const char *name)
{
    const int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    /* Only the holder of the lock removes or renames the file: the name stays the file's. */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(name, fd))
        (void)unlink(name);
    (void)close(fd);
}

/* Creates and locks a file. Without locks of the file system nobody removes it. -1: errno has the
 * reason, EEXIST where another writer has the name. */
static int create(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0)
        return -1;
    if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_named(name, fd))
        return fd;
    (void)close(fd);
    errno = EEXIST;
    return -1;
}

/* Sets fd and `beside`, and removes what dead writers have left. False: errno has the reason. */
static bool create_beside(struct new_file *file)
{
    char name[PATH_MAX];
    int error = EEXIST;

    file->fd = -1;
    for (int i = 0; i < NAMES_MAX; i++) {
        if (snprintf(name, sizeof name, "%s.sluice-new-%d", file->path, i) >= PATH_MAX) {
            error = ENAMETOOLONG;
            break;
        }
        remove_left(name);
        if (file->fd >= 0 || error != EEXIST)
            continue;
        file->fd = create(name);
        error = errno;
        memcpy(file->beside, name, sizeof name);
    }
    errno = error;
    return file->fd >= 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Follows a link, because a rename would take its place. False: errno has the reason. */
static bool find_path(struct new_file *file, const char *path)
{
    struct stat there;

    if (lstat(path, &there) == 0 && S_ISLNK(there.st_mode))
        return realpath(path, file->path) != NULL;
    if (snprintf(file->path, sizeof file->path, "%s", path) < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

enum sl_status new_file_create(struct new_file *file, const char *path, struct sl_diag *diag)
{
    struct stat old;

    file->error = 0;
    if (!find_path(file, path))
        return diag_set(diag, SL_EIO, path, 0, "cannot be created: %s", strerror(errno));
    file->replaces = stat(file->path, &old) == 0;
    if (file->replaces && !S_ISREG(old.st_mode)) /* a rename would take a device's place */
        return diag_set(diag, SL_EIO, path, 0, "is no regular file");
    if (!create_beside(file))
        return diag_set(diag, SL_EIO, path, 0, "cannot be created: %s", strerror(errno));
    if (file->replaces) {
        /* Where the system refuses, the file stays the writer's. */
        const bool owned = fchown(file->fd, old.st_uid, old.st_gid) == 0;
        (void)fchmod(file->fd, old.st_mode & (owned ? 07777 : 0777));
    }
    return SL_OK;
}

void new_file_write(struct new_file *file, const void *bytes, uint64_t len)
{
    const uint8_t *at = (const uint8_t *)bytes;

    while (len > 0 && file->error == 0) {
        const ssize_t n = write(file->fd, at, len);

        if (n < 0 && errno != EINTR)
            file->error = errno;
        if (n > 0) {
            at += n;
            len -= (uint64_t)n;
        }
    }
}

void new_file_write_first(struct new_file *file, const void *bytes, uint64_t len)
{
    if (file->error == 0 && lseek(file->fd, 0, SEEK_SET) != 0)
        file->error = errno;
    new_file_write(file, bytes, len);
}

void new_file_drop(struct new_file *file)
{
    (void)unlink(file->beside); /* before the lock ends */
    (void)close(file->fd);
}

/* An old file is given up for one that is on disk. Where there is none, closing a second descriptor
 * finds the errors that a file system reports late, and the lock stays. */
static bool bring_to_disk(const struct new_file *file)
{
    return (file->replaces ? fsync(file->fd) : close(dup(file->fd))) == 0;
}

enum sl_status new_file_end(struct new_file *file, struct sl_diag *diag)
{
    if (file->error == 0 && !bring_to_disk(file))
        file->error = errno;
    if (file->error == 0 && rename(file->beside, file->path) != 0)
        file->error = errno;
    if (file->error != 0) {
        new_file_drop(file);
        return diag_set(diag, SL_EIO, file->path, 0, "cannot be written: %s",
                        strerror(file->error));
    }
    (void)close(file->fd); /* nothing is left to be written */
    return SL_OK;
}
