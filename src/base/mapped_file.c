/* SPDX-License-Identifier: MIT */
#include "base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

/* MAP_FAILED: errno says why not. */
static void *map(int fd, size_t *len, size_t least)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return MAP_FAILED;
    if (!S_ISREG(file.st_mode)) {
        errno = S_ISDIR(file.st_mode) ? EISDIR : ENODEV;
        return MAP_FAILED;
    }
    *len = (size_t)file.st_size;
    if (*len < least)
        return NULL;

    void *memory = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED)
        (void)madvise(memory, *len, MADV_WILLNEED);
    return memory;
}

enum sl_status mapped_file_open(void **memory, size_t *len, const char *path, size_t least,
                                struct sl_diag *diag)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be opened: %s", strerror(errno));
    *memory = map(fd, len, least);
    const int error = errno;
    (void)close(fd);
    if (*memory != MAP_FAILED)
        return SL_OK;
    *memory = NULL;
    return diag_set(diag, SL_EIO, path, 0, "cannot be read: %s", strerror(error));
}

void mapped_file_let_go(const void *from, size_t len)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)from + len) / page * page;

    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}
