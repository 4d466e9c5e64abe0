/* SPDX-License-Identifier: MIT */
/* Any bytes as a capture file, mapped or through a pipe, read in small batches. The first byte
 * chooses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sluice/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
    DATA_MAX = 60000, /* a pipe holds that much without a reader */
    ROUNDS_MAX = 10000
};

static const uint8_t pcap[] = {0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0,
                               0,    0,    0,    0,    0, 0, 4, 0, 1, 0, 0, 0};
static const uint8_t pcapng[] = {0x0A, 0x0D, 0x0D, 0x0A, 28,  0,   0,   0,   0x4D, 0x3C, 0x2B, 0x1A,
                                 1,    0,    0,    0,    255, 255, 255, 255, 255,  255,  255,  255,
                                 28,   0,    0,    0,    1,   0,   0,   0,   20,   0,    0,    0,
                                 1,    0,    0,    0,    0,   0,   0,   0,   20,   0,    0,    0};

static const struct {
    const uint8_t *bytes;
    size_t len;
} beginnings[] = {{pcap, 0}, {pcap, 0}, {pcap, sizeof pcap}, {pcapng, sizeof pcapng}};

/* A descriptor to read the bytes from. */
static int make_source(uint8_t choice, const uint8_t *data, size_t len)
{
    const size_t begin_len = beginnings[choice >> 1 & 3].len;
    int ends[2];

    if ((choice & 1) != 0) {
        if (pipe2(ends, O_CLOEXEC) != 0)
            abort();
    } else {
        ends[0] = ends[1] = memfd_create("fuzz", MFD_CLOEXEC);
    }
    if (write(ends[1], beginnings[choice >> 1 & 3].bytes, begin_len) != (ssize_t)begin_len ||
        write(ends[1], data, len) != (ssize_t)len)
        abort();
    if (ends[0] != ends[1])
        close(ends[1]);
    return ends[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct sl_capture *capture;
    struct sl_batch *batch;
    struct sl_diag diag;
    enum sl_status status = SL_OK;
    char path[32];

    if (len == 0 || len > DATA_MAX)
        return 0;

    const int fd = make_source(data[0], data + 1, len - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (sl_capture_open_file(&capture, path, 0, &diag) == SL_OK) {
        if (sl_batch_create(&batch, 64 + data[0] * 16, 1 + data[0] % 7, NULL) != SL_OK)
            abort();
        for (int i = 0; i < ROUNDS_MAX && status == SL_OK; i++) {
            sl_batch_reset(batch);
            status = sl_capture_read(capture, batch, &diag);
            for (uint32_t item = 0; item < batch->n_items; item++)
                if (batch->packet[item].len > SL_CAPTURE_PACKET_MAX ||
                    batch->origin[item].wire_len < batch->packet[item].len)
                    abort();
        }
        sl_batch_free(batch);
        sl_capture_close(capture);
    }
    close(fd);
    return 0;
}
