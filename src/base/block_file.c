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
#include "base/file_bytes.h"
#include "base/mapped_file.h"
#include "base/new_file.h"

uint64_t block_sum(const void *from, size_t len)
{
    enum { STEP = 1 << 20 };
    const uint8_t *at = (const uint8_t *)from;
    uint64_t sum = 0;

    for (size_t n; len > 0; at += n, len -= n) {
        n = len < STEP ? len : STEP;
        sum = XXH3_64bits_withSeed(at, n, sum);
        mapped_file_discard(at, n);
    }
    return sum;
}

struct block_head block_head_make(const struct block_kind *kind, uint64_t len)
{
    return (struct block_head){kind->magic, kind->version, kind->pointer_len, len, 0};
}

void block_seal(const struct block_kind *kind, void *block)
{
    struct block_head *head = (struct block_head *)block;

    (void)kind->sum(block, &head->checksum);
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
                           const char *path, struct sl_diag *diag)
{
    const struct block_head *head = (const struct block_head *)block;
    const enum sl_status status = check_head(kind, head, len, path, diag);
    uint64_t sum;

    if (status != SL_OK)
        return status;
    if (!kind->sum(block, &sum) || head->checksum != sum)
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
    (void)kind->sum(block, &head.checksum);
    new_file_write(&file, &head, sizeof head);
    new_file_write(&file, (const uint8_t *)block + sizeof head, head.len - sizeof head);
    return new_file_end(&file, diag);
}

enum sl_status block_file_load(const struct block_kind *kind, const void **block, const char *path,
                               struct sl_diag *diag)
{
    struct file_bytes bytes;
    enum sl_status status = file_bytes_open(&bytes, path, kind->read_max, false, diag);

    if (status != SL_OK)
        return status;
    status = block_check(kind, bytes.at, bytes.len, path, diag);
    if (status == SL_OK)
        *block = bytes.at;
    else
        file_bytes_close(&bytes);
    return status;
}

void block_file_unload(const void *block)
{
    void *memory = (void *)(uintptr_t)block;

    if (!mapped_file_unmap(memory))
        (void)munmap(memory, ((const struct block_head *)block)->len);
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
