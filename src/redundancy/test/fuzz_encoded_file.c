/* SPDX-License-Identifier: MIT */
/* Any bytes as an encoded file; and as records whose checks fit, so that the code behind them is
 * reached. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "redundancy/files/encoded_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { DATA_MAX = 1 << 16 };

static void decode_by(const uint8_t *bytes, size_t len, uint32_t n_threads, int out,
                      struct sl_redundancy_file_stats *stats, struct sl_diag *diag)
{
    struct sl_redundancy_file_config config;
    const int in = memfd_create("in", MFD_CLOEXEC);

    if (in < 0 || out < 0 || !fd_write(in, bytes, len) || lseek(in, 0, SEEK_SET) != 0)
        abort();
    sl_redundancy_file_config_init(&config);
    config.n_threads = n_threads;
    const enum sl_status status = sl_redundancy_decode_file(in, out, &config, stats, diag);
    if (lseek(out, 0, SEEK_END) != (off_t)stats->bytes_out || stats->bytes_in > len)
        abort();
    if ((status == SL_OK) != (diag->text[0] == '\0'))
        abort();
    close(in);
}

/* One thread and several come to the same. */
static void decode(const uint8_t *bytes, size_t len)
{
    static uint8_t content[2][DATA_MAX];
    const int out[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("out", MFD_CLOEXEC)};
    struct sl_redundancy_file_stats stats[2];
    struct sl_diag diag[2] = {0};

    for (uint32_t i = 0; i < 2; i++) {
        decode_by(bytes, len, 1 + 3 * i, out[i], &stats[i], &diag[i]);
        (void)fd_read_at(out[i], content[i], sizeof content[i], 0);
        close(out[i]);
    }
    if (memcmp(&stats[0], &stats[1], sizeof stats[0]) != 0 ||
        memcmp(content[0], content[1], sizeof content[0]) != 0 ||
        strcmp(diag[0].text, diag[1].text) != 0)
        abort();
}

/* Each record takes its length, its frame's header and its body from the data. */
static void decode_whole_records(const uint8_t *data, size_t len)
{
    static uint8_t bytes[4 * DATA_MAX];
    const struct file_header header = {.version = FILE_VERSION,
                                       .flags = data[0] & FILE_ZSTD,
                                       .packet_max = 4096,
                                       .cache_len = SL_REDUNDANCY_CACHE_MIN};
    size_t n = FILE_HEADER_LEN;

    file_write_header(bytes, &header);
    for (size_t at = 1; at + 2 + SL_FRAME_HEADER_LEN <= len;) {
        const size_t wanted = data[at] | (size_t)(data[at + 1] & 15) << 8;
        const size_t left = len - at - 2 - SL_FRAME_HEADER_LEN;
        const size_t body_len = wanted < left ? wanted : left;
        uint8_t *const record = bytes + n;

        put_le(record, body_len, 4);
        memcpy(record + RECORD_FRAME, data + at + 2, SL_FRAME_HEADER_LEN);
        memcpy(record + RECORD_HEADER_LEN, data + at + 2 + SL_FRAME_HEADER_LEN, body_len);
        put_le(record + RECORD_CHECK, record_check(record, record + RECORD_HEADER_LEN, body_len),
               8);
        n += RECORD_HEADER_LEN + body_len;
        at += 2 + SL_FRAME_HEADER_LEN + body_len;
    }
    decode(bytes, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0 || len > DATA_MAX)
        return 0;
    if ((data[0] & 2) != 0)
        decode_whole_records(data, len);
    else
        decode(data, len);
    return 0;
}
