/* SPDX-License-Identifier: MIT */
/* Any bytes as a kept cache; and with checks that fit, so that the code behind them is reached. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "redundancy/files/encoded_file.h"
#include "redundancy/match/kept_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { DATA_MAX = 1 << 16, HEADER_LEN = 64 };

static void read_log(struct packet_log *log, const uint8_t *bytes, size_t len)
{
    const int fd = memfd_create("kept", MFD_CLOEXEC);
    struct kept_log kept;

    if (fd < 0 || !fd_write(fd, bytes, len) || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    if (kept_read(fd, &kept, log, NULL) == SL_OK &&
        (log->end != kept.end && len > 0 ? true : log_start(log) > log->end))
        abort();
    close(fd);
}

/* The header's check, and that of one piece of bytes and the runs behind it. */
static void fit(uint8_t *bytes, size_t len)
{
    const uint64_t log_len = get_le(bytes + 40, 8) - get_le(bytes + 32, 8);
    uint64_t check = 0;

    memcpy(bytes, "\x89SLKC\r\n\x1a", 8);
    put_le(bytes + 8, 1, 2);
    if (log_len <= len - HEADER_LEN) {
        check = log_len > 0 ? XXH3_64bits_withSeed(bytes + HEADER_LEN, log_len, 0) : 0;
        for (size_t at = HEADER_LEN + log_len; at + 16 <= len; at += 16)
            check = XXH3_64bits_withSeed(bytes + at, 16, check);
        put_le(bytes + 48, check, 8);
    }
    put_le(bytes + 56, XXH3_64bits(bytes, 56), 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t bytes[DATA_MAX];
    struct packet_log with_holes, whole;

    if (len > DATA_MAX || log_create(&with_holes, 4096, true, NULL) != SL_OK ||
        log_create(&whole, 4096, false, NULL) != SL_OK)
        return 0;
    read_log(&with_holes, data, len);
    if (len >= HEADER_LEN) {
        memcpy(bytes, data, len);
        fit(bytes, len);
        read_log(&with_holes, bytes, len);
        read_log(&whole, bytes, len);
    }
    log_free(&with_holes);
    log_free(&whole);
    return 0;
}
