/* SPDX-License-Identifier: MIT */
#include "base/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

enum { TRIES = 100 };

static const char mark[] = ".sluice-"; /* between the path and the numbers */

/* ---- what killed makers left ----------------------------------------------------------------- */

/* The name that begins with `base` and goes on with the mark and two numbers. */
static bool is_beside(const char *name, const char *base)
{
    const size_t base_len = strlen(base);

    if (strncmp(name, base, base_len) != 0 || strncmp(name + base_len, mark, sizeof mark - 1) != 0)
        return false;
    name += base_len + sizeof mark - 1;
    const size_t pid_len = strspn(name, "0123456789");
    if (pid_len == 0 || name[pid_len] != '-')
        return false;
    name += pid_len + 1;
    const size_t number_len = strspn(name, "0123456789");
    return number_len != 0 && name[number_len] == '\0';
}

/* Removes the file unless its maker lives. */
static void remove_if_dead(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    (void)close(fd);
}

/* Failures are no matter: the files are in nobody's way. */
static void remove_dead(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    char folder_path[PATH_MAX] = ".";

    if (slash != NULL)
        (void)snprintf(folder_path, sizeof folder_path, "%.*s", (int)(slash + 1 - path), path);
    DIR *folder = opendir(folder_path);
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_beside(entry->d_name, base))
            remove_if_dead(dirfd(folder), entry->d_name);
    (void)closedir(folder);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Locks a new file. False: another maker took it for a dead one's. */
static bool take(int fd)
{
    struct stat file;

    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &file) == 0 && file.st_nlink != 0;
}

/* Creates a new file, whose name is in `beside`. -1: errno has the reason. */
static int create_beside(const char *path, char beside[PATH_MAX])
{
    for (int i = 0; i < TRIES; i++) {
        if (snprintf(beside, PATH_MAX, "%s%s%ld-%d", path, mark, (long)getpid(), i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }

        const int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0 && take(fd))
            return fd;
        if (fd >= 0)
            (void)close(fd);
        else if (errno != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

enum sl_status new_file_create(struct new_file *file, const char *path, struct sl_diag *diag)
{
    struct stat there;

    /* A rename would take a device's place. */
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return diag_set(diag, SL_EIO, path, 0, "is no regular file");
    remove_dead(path);
    file->path = path;
    file->error = 0;
    file->fd = create_beside(path, file->beside);
    if (file->fd < 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be created: %s", strerror(errno));
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
    (void)close(file->fd);
    (void)unlink(file->beside);
}

enum sl_status new_file_end(struct new_file *file, struct sl_diag *diag)
{
    if (file->error == 0 && fsync(file->fd) != 0)
        file->error = errno;
    if (close(file->fd) != 0 && file->error == 0)
        file->error = errno;
    if (file->error == 0 && rename(file->beside, file->path) != 0)
        file->error = errno;
    if (file->error == 0)
        return SL_OK;
    (void)unlink(file->beside);
    return diag_set(diag, SL_EIO, file->path, 0, "cannot be written: %s", strerror(file->error));
}
