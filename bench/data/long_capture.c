/* SPDX-License-Identifier: MIT */
/* Captures one behind the other, again and again: long enough for the rate of a run. Between two
 * passes are hours, so that flows of the one before have ended for each program that reads them. */
#include <stdio.h>

#include "bench_data.h"
#include "capture_file.h"
#include "cli/console.h"
#include "temporary.h"

enum { BATCH_LEN = 4 << 20, ETHERNET = 1, PAUSE_MAX_US = 60000000 };

#define PASS_PAUSE_US UINT64_C(7200000000)

struct writing {
    FILE *file;
    uint64_t now_us;    /* of the packet that is written */
    uint64_t before_us; /* of the one before in its capture */
    uint64_t written;   /* bytes of packets */
};

static bool write_packet(struct writing *writing, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint64_t time_us = (uint64_t)batch->origin[item].time_ns / 1000;
    const uint64_t pause = time_us > writing->before_us ? time_us - writing->before_us : 0;

    writing->now_us += pause < PAUSE_MAX_US ? pause : PAUSE_MAX_US;
    writing->before_us = time_us;
    writing->written += packet->len;
    return capture_file_put(writing->file, writing->now_us, batch->bytes + packet->offset,
                            packet->len, batch->origin[item].wire_len);
}

/* All packets once. False: they cannot be written. */
static bool write_pass(struct writing *writing, const struct bench_data *data, uint64_t bytes_len)
{
    for (size_t i = 0; i < data->n_batches; i++) {
        const struct sl_batch *batch = data->owned[i];

        for (uint32_t item = 0; item < batch->n_items && writing->written < bytes_len; item++)
            if (batch->origin[item].link_type == ETHERNET && !write_packet(writing, batch, item))
                return false;
    }
    return true;
}

static bool write_all(struct writing *writing, const struct bench_data *data, uint64_t bytes_len)
{
    uint64_t before = 0;
    bool good = capture_file_begin(writing->file);

    while (good && writing->written < bytes_len) {
        good = write_pass(writing, data, bytes_len);
        if (good && writing->written == before) {
            cli_error("the captures have no packet on Ethernet");
            return false;
        }
        before = writing->written;
        writing->now_us += PASS_PAUSE_US;
    }
    if (!good)
        cli_error("a long capture cannot be written");
    return good;
}

bool bench_repeat_captures(char path[64], const struct bench_input *input, uint64_t bytes_len)
{
    struct writing writing = {.file = NULL};
    struct bench_data data = {0};
    bool good = bench_load(&data, input, BATCH_LEN, false, bytes_len);

    writing.file = good ? bench_temporary(path) : NULL;
    good = writing.file != NULL && write_all(&writing, &data, bytes_len);
    if (writing.file != NULL && fclose(writing.file) != 0 && good) {
        cli_error("%s: cannot be written", path);
        good = false;
    }
    bench_unload(&data);
    return good;
}
