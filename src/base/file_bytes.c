/* SPDX-License-Identifier: MIT */
#include "base/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/fd.h"
#include "base/least.h"
#include "base/mapped_file.h"
#include "base/spread.h"

static enum sl_status refuse(const char *path, int error, struct sl_diag *diag)
{
    return diag_set(diag, error == ENOMEM ? SL_ENOMEM : SL_EIO, path, 0, "cannot be read: %s",
                    strerror(error));
}

/* ---- reading, which for files in the page cache is the core's work --------------------------- */

enum {
    SHARE_LEN = 8 << 20, /* bytes: of threads that each read a share of a file */
    THREADS_MAX = 8
};

struct filling {
    int fd;
    uint8_t *to;
    size_t len;
    atomic_int error; /* errno; ENODATA: the file ends too soon */
};

/* 0, or errno. */
static int fill_range(const struct filling *filling, size_t at, size_t end)
{
    const int64_t n = fd_read_at(filling->fd, filling->to + at, end - at, at);

    if (n < 0)
        return errno;
    return (size_t)n == end - at ? 0 : ENODATA;
}

static void fill_share(void *context, unsigned thread, size_t share)
{
    struct filling *const filling = context;
    const size_t at = share * SHARE_LEN;
    const int error = fill_range(filling, at, least(at + SHARE_LEN, filling->len));

    (void)thread;
    if (error != 0)
        atomic_store(&filling->error, error);
}

/* 0, or errno. */
static int fill(void *to, size_t len, int fd)
{
    struct filling filling = {.fd = fd, .to = to, .len = len};

    spread((unsigned)least(cpu_cores(), THREADS_MAX), (len + SHARE_LEN - 1) / SHARE_LEN, 1,
           fill_share, &filling);
    return atomic_load(&filling.error);
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
    bytes->len = len;
    const int error = fill(memory, len, fd);
    if (error == ENODATA)
        return diag_set(diag, SL_EIO, path, 0, "shrank while it was read");
    return error == 0 ? SL_OK : refuse(path, error, diag);
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

enum sl_status file_bytes_open(struct file_bytes *bytes, const char *path, size_t read_max,
                               bool writable, struct sl_diag *diag)
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
    else if ((size_t)file.st_size <= read_max)
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
