/* SPDX-License-Identifier: MIT */
/* Data to run on, in batches: packets, payloads alone, pieces of files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/engines/bench.h"
#include "cli/console.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"

enum {
    BATCH_LEN = 1 << 20,     /* of payloads: cores that share the work end at about the same time */
    PAYLOAD_MAX = 128 << 20, /* bytes of payload that are loaded */
    SCRATCH_LEN = 4 << 20,
    SCRATCH_ITEMS = 16384,
    PIECE_LEN = 64 << 10, /* of files */
    ITEM_MEAN = 64        /* bytes of an item; a batch with shorter ones ends early */
};

/* ---- filling --------------------------------------------------------------------------------- */

/* How batches are made as they are needed. */
struct filling {
    struct bench_data *data;
    uint32_t batch_len, max_items;
    bool pinned;
};

static struct filling filling(struct bench_data *data, uint32_t batch_len, bool pinned)
{
    memset(data, 0, sizeof *data);
    return (struct filling){data, batch_len, batch_len / ITEM_MEAN + 1, pinned};
}

static bool add_batch(const struct filling *to)
{
    struct bench_data *data = to->data;
    struct sl_batch **longer = realloc(data->owned, (data->n_batches + 1) * sizeof *data->owned);
    struct sl_diag diag = {0};

    if (longer == NULL) {
        cli_error("no memory for %zu batches", data->n_batches + 1);
        return false;
    }
    data->owned = longer;
    if (sl_device_batch_create(&longer[data->n_batches],
                               to->pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU, to->batch_len,
                               to->max_items, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    data->n_batches++;
    return true;
}

/* The batch that takes an item of len bytes next, or NULL. */
static struct sl_batch *batch_for(const struct filling *to, uint32_t len)
{
    struct bench_data *data = to->data;

    if ((data->n_batches == 0 || !sl_batch_fits(data->owned[data->n_batches - 1], len)) &&
        !add_batch(to))
        return NULL;
    return data->owned[data->n_batches - 1];
}

static bool put(const struct filling *to, const uint8_t *bytes, uint32_t len, uint16_t overlap)
{
    struct sl_batch *batch = batch_for(to, len);

    if (batch != NULL)
        sl_batch_add(batch, bytes, len, overlap);
    return batch != NULL;
}

static void count_batch(struct bench_data *data, const struct sl_batch *batch)
{
    const uint64_t n = batch->n_items;

    data->items += n;
    data->crossing += batch->bytes_len + n * sizeof *batch->payload;
    data->crossing += batch->has_overlap ? n * sizeof *batch->overlap : 0;
    data->crossing += batch->packet != NULL ? n * sizeof *batch->packet : 0;
    for (uint32_t i = 0; i < n; i++)
        data->bytes += batch->packet != NULL
                           ? batch->packet[i].len
                           : batch->payload[i].len - (batch->has_overlap ? batch->overlap[i] : 0);
}

/* Ends filling: engines see the batches, without headers where there are none. */
static bool end_filling(const struct filling *to, bool packets)
{
    struct bench_data *data = to->data;

    data->batches = calloc(data->n_batches + 1, sizeof *data->batches);
    if (data->batches == NULL) {
        cli_error("no memory for %zu batches", data->n_batches);
        return false;
    }
    for (size_t i = 0; i < data->n_batches; i++) {
        data->batches[i] = *data->owned[i];
        if (!packets) {
            data->batches[i].packet = NULL;
            data->batches[i].origin = NULL;
        }
        count_batch(data, &data->batches[i]);
    }
    if (data->items == 0)
        cli_error("no %s to run on", packets ? "packets" : "payload");
    return data->items != 0;
}

static void describe(struct bench_data *data, bool generated, const char *of)
{
    char bytes[32];

    snprintf(data->text, sizeof data->text, "%s%s, %.0f bytes a %s", generated ? "generated, " : "",
             cli_bytes((double)data->bytes, bytes), (double)data->bytes / (double)data->items, of);
}

/* ---- captures -------------------------------------------------------------------------------- */

/* Gives the batch to read into; false: enough was read. */
typedef bool next_batch(void *user, struct sl_batch **batch);

/* Reads captures one after another. */
static void read_captures(const struct bench *bench, next_batch *next, void *user)
{
    struct sl_diag diag = {0};

    for (size_t p = 0; p < bench->n_paths; p++) {
        struct sl_capture *capture;
        struct sl_batch *batch;
        enum sl_status status = SL_OK;

        if (sl_capture_open_file(&capture, bench->paths[p], (uint16_t)p, &diag) != SL_OK) {
            cli_diag(&diag); /* one bad capture of many costs that capture */
            continue;
        }
        while (status == SL_OK && next(user, &batch))
            status = sl_capture_read(capture, batch, &diag);
        sl_capture_close(capture);
    }
}

struct packets {
    struct filling to;
    uint64_t max_bytes;
    bool failed;
};

static bool next_of_packets(void *user, struct sl_batch **batch)
{
    struct packets *packets = user;

    if ((uint64_t)packets->to.data->n_batches * packets->to.batch_len > packets->max_bytes)
        return false;
    *batch = batch_for(&packets->to, SL_CAPTURE_PACKET_MAX);
    packets->failed |= *batch == NULL;
    return *batch != NULL;
}

bool bench_load(struct bench_data *data, const struct bench *bench, uint32_t batch_len, bool pinned,
                uint64_t max_bytes)
{
    struct packets packets = {filling(data, batch_len, pinned), max_bytes, false};
    struct sl_dissect_stats stats = {0};

    read_captures(bench, next_of_packets, &packets);
    for (size_t i = 0; i < data->n_batches; i++)
        sl_dissect(data->owned[i], &stats);
    if (packets.failed || !end_filling(&packets.to, true))
        return false;
    describe(data, bench->generated[0] != '\0', "packet");
    return true;
}

static bool put_packet(const struct filling *to, const struct sl_batch *from, uint32_t i)
{
    const struct sl_packet *packet = &from->packet[i];
    struct sl_batch *batch = batch_for(to, packet->len);

    if (batch == NULL)
        return false;
    const uint32_t item = sl_batch_add(batch, from->bytes + packet->offset, packet->len, 0);
    const uint32_t offset = batch->packet[item].offset;
    batch->packet[item] = *packet;
    batch->packet[item].offset = offset;
    batch->payload[item].offset = offset + (from->payload[i].offset - packet->offset);
    batch->payload[item].len = from->payload[i].len;
    return true;
}

bool bench_rebatch(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                   bool pinned)
{
    const struct filling to = filling(data, batch_len, pinned);

    for (size_t b = 0; b < from->n_batches; b++)
        for (uint32_t i = 0; i < from->batches[b].n_items; i++)
            if (!put_packet(&to, &from->batches[b], i))
                return false;
    memcpy(data->text, from->text, sizeof data->text);
    return end_filling(&to, true);
}

/* ---- payloads -------------------------------------------------------------------------------- */

struct payloads {
    struct filling to;
    struct sl_batch *scratch;
    struct sl_dissect_stats stats;
    uint64_t bytes;
    bool failed;
};

static void take_payloads(struct payloads *payloads)
{
    struct sl_batch *scratch = payloads->scratch;

    sl_dissect(scratch, &payloads->stats);
    for (uint32_t i = 0; i < scratch->n_items && !payloads->failed; i++) {
        const struct sl_span span = scratch->payload[i];

        if (span.len != 0)
            payloads->failed = !put(&payloads->to, scratch->bytes + span.offset, span.len, 0);
        payloads->bytes += span.len;
    }
    sl_batch_reset(scratch);
}

static bool next_of_payloads(void *user, struct sl_batch **batch)
{
    struct payloads *payloads = user;

    take_payloads(payloads);
    *batch = payloads->scratch;
    return payloads->bytes < PAYLOAD_MAX && !payloads->failed;
}

static bool load_captures(const struct filling *to, const struct bench *bench)
{
    struct sl_batch *scratch;
    struct sl_diag diag = {0};

    if (sl_batch_create(&scratch, SCRATCH_LEN, SCRATCH_ITEMS, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    struct payloads payloads = {.to = *to, .scratch = scratch};
    read_captures(bench, next_of_payloads, &payloads);
    take_payloads(&payloads);
    sl_batch_free(scratch);
    return !payloads.failed;
}

static bool put_pieces(const struct filling *to, const uint8_t *bytes, size_t len, uint16_t overlap)
{
    uint64_t done = 0;

    while (done < len) {
        struct sl_batch *batch = batch_for(to, PIECE_LEN);

        if (batch == NULL)
            return false;
        sl_batch_add_pieces(batch, bytes, len, PIECE_LEN, overlap, &done);
    }
    return true;
}

/* False: no memory. What is wrong with a file is said, and costs that file. */
static bool load_file(const struct filling *to, const char *path, uint16_t overlap)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    char safe[512];
    bool good = true;

    if (fd < 0 || fstat(fd, &stat) != 0) {
        cli_error("%s: %s", cli_printable(path, safe, sizeof safe), strerror(errno));
    } else if (!S_ISREG(stat.st_mode)) {
        cli_error("%s: is no regular file", cli_printable(path, safe, sizeof safe));
    } else if (stat.st_size > 0) {
        const size_t len = (size_t)stat.st_size;
        uint8_t *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

        if (bytes == MAP_FAILED) {
            cli_error("%s: %s", cli_printable(path, safe, sizeof safe), strerror(errno));
        } else {
            good = put_pieces(to, bytes, len < PAYLOAD_MAX ? len : PAYLOAD_MAX, overlap);
            munmap(bytes, len);
        }
    }
    if (fd >= 0)
        close(fd);
    return good;
}

bool bench_load_payloads(struct bench_data *data, const struct bench *bench, uint16_t overlap)
{
    const struct filling to = filling(data, BATCH_LEN, false);
    bool good = true;

    if (bench->n_file_paths == 0)
        good = load_captures(&to, bench);
    for (size_t i = 0; i < bench->n_file_paths && good; i++)
        if ((uint64_t)data->n_batches * BATCH_LEN <= PAYLOAD_MAX)
            good = load_file(&to, bench->file_paths[i], overlap);
    if (!good || !end_filling(&to, false))
        return false;
    describe(data, bench->generated[0] != '\0', bench->n_file_paths != 0 ? "piece" : "payload");
    return true;
}

/* ---- the same payloads in other batches ------------------------------------------------------ */

static bool put_item(const struct filling *to, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_span span = batch->payload[item];

    return put(to, batch->bytes + span.offset, span.len,
               batch->has_overlap ? batch->overlap[item] : 0);
}

static bool put_batch(const struct filling *to, const struct sl_batch *batch, uint32_t first,
                      uint32_t end)
{
    for (uint32_t item = first; item < end; item++)
        if (!put_item(to, batch, item))
            return false;
    return true;
}

/* Makes room for n_times `from` in one batch. */
static bool one_batch(struct filling *to, const struct bench_data *from, uint32_t n_times)
{
    uint64_t len = 0;

    for (size_t i = 0; i < from->n_batches; i++)
        len += from->batches[i].bytes_len;
    len *= n_times;
    if (len > UINT32_MAX - 65536 || from->items * n_times > UINT32_MAX) {
        cli_error("a batch of %.1f GB is too large (expected less than 4.29)", (double)len / 1e9);
        return false;
    }
    to->batch_len = (uint32_t)len;
    to->max_items = (uint32_t)(from->items * n_times);
    return true;
}

bool bench_repack(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                  bool pinned, uint32_t n_times)
{
    struct filling to = filling(data, batch_len, pinned);

    if (batch_len == 0 && !one_batch(&to, from, n_times))
        return false;
    for (uint32_t n = 0; n < n_times; n++)
        for (size_t i = 0; i < from->n_batches; i++)
            if (!put_batch(&to, &from->batches[i], 0, from->batches[i].n_items))
                return false;
    if (n_times == 1)
        memcpy(data->text, from->text, sizeof data->text);
    else
        snprintf(data->text, sizeof data->text, "%.70s, %u times", from->text, n_times);
    return end_filling(&to, false);
}

bool bench_split(struct bench_data *half, struct bench_data *other, const struct bench_data *from)
{
    const uint32_t n = from->batches[0].n_items;
    struct filling to[2] = {filling(half, BATCH_LEN, false), filling(other, 0, false)};
    bool good = one_batch(&to[1], from, 1);

    if (from->n_batches == 1)
        good = good && put_batch(&to[0], &from->batches[0], 0, n / 2) &&
               put_batch(&to[1], &from->batches[0], n / 2, n);
    else
        for (size_t i = 0; i < from->n_batches && good; i++)
            good = put_batch(&to[i % 2], &from->batches[i], 0, from->batches[i].n_items);
    if (good && (half->n_batches == 0 || other->n_batches == 0)) {
        cli_error("one payload cannot be split into one to train on and one to measure on");
        return false;
    }
    return good && end_filling(&to[0], false) && end_filling(&to[1], false);
}

static bool put_made(const struct filling *to, const struct bench_items *items, uint8_t *item)
{
    const uint32_t len = items->fill(items->user, item);

    if (!put(to, item, items->buckets ? items->max_len : len, 0))
        return false;

    const struct sl_batch *batch = to->data->owned[to->data->n_batches - 1];
    batch->payload[batch->n_items - 1].len = len;
    return true;
}

bool bench_fill(struct bench_data *data, const struct bench_items *items)
{
    const uint32_t aligned =
        (items->max_len + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
    struct filling to = filling(data, items->n * aligned, items->pinned);
    uint8_t *item = calloc(1, items->max_len);
    bool good = item != NULL;

    to.max_items = items->n;
    for (size_t batch = 0; batch < items->n_batches && good; batch++) {
        good = add_batch(&to);
        for (uint32_t i = 0; i < items->n && good; i++)
            good = put_made(&to, items, item);
    }
    free(item);
    if (!good || !end_filling(&to, false))
        return false;
    describe(data, true, "payload");
    return true;
}

/* ---- on the GPU ------------------------------------------------------------------------------ */

bool bench_to_device(struct bench_data *data, const struct bench_data *from, size_t batch,
                     int device)
{
    const struct sl_batch *source = &from->batches[batch];
    const struct sl_limits limits = {
        .max_items = source->n_items, .max_bytes = source->bytes_len, .device = device};
    struct sl_diag diag = {0};

    memset(data, 0, sizeof *data);
    data->batches = calloc(1, sizeof *data->batches);
    if (data->batches == NULL || sl_stage_open(&data->stage, &limits, &diag) != SL_OK) {
        cli_error("a batch of %u bytes on the GPU: %s", source->bytes_len, diag.text);
        return false;
    }
    if (sl_stage_upload(data->stage, source, &data->batches[0]) != SL_OK ||
        sl_stage_wait(data->stage) != SL_OK) {
        cli_error("a batch of %u bytes did not reach the GPU", source->bytes_len);
        return false;
    }
    data->n_batches = 1;
    data->batches[0].origin = NULL; /* it would be `from`'s, which may go before this */
    data->batches[0].host_bytes = NULL;
    count_batch(data, source);
    memcpy(data->text, from->text, sizeof data->text);
    return true;
}

struct sl_limits bench_limits(const struct bench_data *data, int device)
{
    struct sl_limits limits = {.device = device};

    for (size_t i = 0; i < data->n_batches; i++) {
        const struct sl_batch *batch = &data->batches[i];

        limits.max_items = batch->n_items > limits.max_items ? batch->n_items : limits.max_items;
        limits.max_bytes =
            batch->bytes_len > limits.max_bytes ? batch->bytes_len : limits.max_bytes;
    }
    return limits;
}

void bench_unload(struct bench_data *data)
{
    for (size_t i = 0; i < data->n_batches && data->owned != NULL; i++)
        sl_batch_free(data->owned[i]);
    sl_stage_close(data->stage);
    free(data->owned);
    free(data->batches);
    memset(data, 0, sizeof *data);
}
