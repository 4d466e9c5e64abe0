/* SPDX-License-Identifier: MIT */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

enum { TRIES = 100 };

/* Creates a new file, whose name is in `beside`. -1: errno has the reason. */
static int create_beside(const char *path, char beside[PATH_MAX])
{
    for (int i = 0; i < TRIES; i++) {
        if (snprintf(beside, PATH_MAX, "%s.%ld-%d", path, (long)getpid(), i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }

        const int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

enum sl_status new_file_create(struct new_file *file, const char *path, struct sl_diag *diag)
{
    struct stat there;

    /* A rename would take a device's place. */
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return diag_set(diag, SL_EIO, path, 0, "is no regular file");
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
