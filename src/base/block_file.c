/* SPDX-License-Identifier: MIT */
#include "base/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/new_file.h"

uint64_t block_sum(const void *from, size_t len, bool mapped)
{
    enum { STEP = 1 << 20 };
    const uint8_t *at = (const uint8_t *)from;
    uint64_t sum = 0;

    for (size_t n; len > 0; at += n, len -= n) {
        n = len < STEP ? len : STEP;
        sum = XXH3_64bits_withSeed(at, n, sum);
        if (mapped)
            block_discard(at, n);
    }
    return sum;
}

void block_discard(const void *from, size_t len)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)from + len) / page * page;

    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

struct block_head block_head_make(const struct block_kind *kind, uint64_t len)
{
    return (struct block_head){kind->magic, kind->version, kind->pointer_len, len, 0};
}

void block_seal(const struct block_kind *kind, void *block)
{
    struct block_head *head = (struct block_head *)block;

    (void)kind->sum(block, false, &head->checksum);
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool is_magic(const struct block_kind *kind, uint64_t magic)
{
    return magic == kind->magic || magic == __builtin_bswap64(kind->magic);
}

static enum sl_status check_head(const struct block_kind *kind, const struct block_head *head,
                                 uint64_t len, const char *path, struct sl_diag *diag)
{
    if (len < kind->len_min)
        return diag_set(diag, SL_EFORMAT, path, 0, "is no %s: it is too short", kind->name);
    if (!is_magic(kind, head->magic))
        return diag_set(diag, SL_EFORMAT, path, 0, "is no %s", kind->name);
    if (head->magic != kind->magic)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "was compiled on a machine of another byte order");
    if (head->version != kind->version)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "is a %s of version %" PRIu32 " (expected %" PRIu32 ")", kind->name,
                        head->version, kind->version);
    if (head->pointer_len != kind->pointer_len)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "was compiled for pointers of %" PRIu32 " bytes (expected %" PRIu32 ")",
                        head->pointer_len, kind->pointer_len);
    if (head->len != len)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "has %" PRIu64 " bytes (expected %" PRIu64 "): it was cut or damaged", len,
                        head->len);
    return SL_OK;
}

enum sl_status block_check(const struct block_kind *kind, const void *block, uint64_t len,
                           bool mapped, const char *path, struct sl_diag *diag)
{
    const struct block_head *head = (const struct block_head *)block;
    const enum sl_status status = check_head(kind, head, len, path, diag);
    uint64_t sum;

    if (status != SL_OK)
        return status;
    if (!kind->sum(block, mapped, &sum) || head->checksum != sum)
        return diag_set(diag, SL_EFORMAT, path, 0, "is damaged: its checksum is wrong");
    return SL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

enum sl_status block_file_save(const struct block_kind *kind, const void *block, const char *path,
                               struct sl_diag *diag)
{
    struct block_head head = *(const struct block_head *)block;
    struct new_file file;
    const enum sl_status status = new_file_create(&file, path, diag);

    if (status != SL_OK)
        return status;
    (void)kind->sum(block, false, &head.checksum);
    new_file_write(&file, &head, sizeof head);
    new_file_write(&file, (const uint8_t *)block + sizeof head, head.len - sizeof head);
    return new_file_end(&file, diag);
}

/* NULL where the file has fewer than len_min bytes. MAP_FAILED: errno has the reason. */
static void *map(int fd, size_t *len, size_t len_min)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return MAP_FAILED;
    if (!S_ISREG(file.st_mode)) {
        errno = S_ISDIR(file.st_mode) ? EISDIR : ENODEV;
        return MAP_FAILED;
    }
    *len = (size_t)file.st_size;
    if (*len < len_min)
        return NULL;

    void *memory = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED)
        (void)madvise(memory, *len, MADV_WILLNEED);
    return memory;
}

enum sl_status block_file_map(const struct block_kind *kind, const void **block, const char *path,
                              struct sl_diag *diag)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;

    if (fd < 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be opened: %s", strerror(errno));
    void *memory = map(fd, &len, kind->len_min);
    const int error = errno;
    (void)close(fd);
    if (memory == MAP_FAILED)
        return diag_set(diag, SL_EIO, path, 0, "cannot be read: %s", strerror(error));

    const enum sl_status status = block_check(kind, memory, len, true, path, diag);
    if (status == SL_OK)
        *block = memory;
    else if (memory != NULL)
        (void)munmap(memory, len);
    return status;
}

void block_file_unmap(const void *block)
{
    (void)munmap((void *)(uintptr_t)block, ((const struct block_head *)block)->len);
}

bool block_file_is(const struct block_kind *kind, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat file;
    uint64_t magic;

    if (fd < 0)
        return false;
    const bool is = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
                    read(fd, &magic, sizeof magic) == (ssize_t)sizeof magic &&
                    is_magic(kind, magic);
    (void)close(fd);
    return is;
}
