/* SPDX-License-Identifier: MIT */
#include "base/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mapped_file.h"

static enum sl_status refuse(const char *path, int error, struct sl_diag *diag)
{
    return diag_set(diag, error == ENOMEM ? SL_ENOMEM : SL_EIO, path, 0, "cannot be read: %s",
                    strerror(error));
}

/* Reads until the room is full or the file ends. False: errno has the reason. */
static bool fill(struct file_bytes *bytes, int fd)
{
    while (bytes->len < bytes->room) {
        const ssize_t n = read(fd, (uint8_t *)bytes->at + bytes->len, bytes->room - bytes->len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n == 0)
            break;
        if (n > 0)
            bytes->len += (size_t)n;
    }
    return true;
}

static enum sl_status read_all(struct file_bytes *bytes, int fd, size_t len, const char *path,
                               struct sl_diag *diag)
{
    if (len == 0)
        return SL_OK;

    void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return refuse(path, errno, diag);
    (void)madvise(memory, len, MADV_HUGEPAGE); /* fewer faults here, and fewer misses later */
    bytes->at = memory;
    bytes->room = len;
    if (!fill(bytes, fd))
        return refuse(path, errno, diag);
    return bytes->len == len ? SL_OK : diag_set(diag, SL_EIO, path, 0, "shrank while it was read");
}

static enum sl_status map(struct file_bytes *bytes, int fd, size_t len, bool writable,
                          const char *path, struct sl_diag *diag)
{
    bytes->at = mapped_file_map(fd, len, writable, path);
    if (bytes->at == NULL)
        return refuse(path, errno, diag);
    (void)madvise(bytes->at, len, MADV_WILLNEED);
    bytes->len = len;
    return SL_OK;
}

enum sl_status file_bytes_open(struct file_bytes *bytes, const char *path, bool writable,
                               struct sl_diag *diag)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;
    enum sl_status status;

    *bytes = (struct file_bytes){.at = NULL};
    if (fd < 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be opened: %s", strerror(errno));
    if (fstat(fd, &file) != 0)
        status = refuse(path, errno, diag);
    else if (!S_ISREG(file.st_mode))
        status = refuse(path, S_ISDIR(file.st_mode) ? EISDIR : ENODEV, diag);
    else if ((size_t)file.st_size <= FILE_BYTES_READ_MAX)
        status = read_all(bytes, fd, (size_t)file.st_size, path, diag);
    else
        status = map(bytes, fd, (size_t)file.st_size, writable, path, diag);
    (void)close(fd);
    if (status != SL_OK)
        file_bytes_close(bytes);
    return status;
}

void file_bytes_close(struct file_bytes *bytes)
{
    if (bytes->room != 0)
        (void)munmap(bytes->at, bytes->room);
    else if (bytes->at != NULL)
        (void)mapped_file_unmap(bytes->at);
    *bytes = (struct file_bytes){.at = NULL};
}
