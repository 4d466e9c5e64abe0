/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "filling.h"
#include "sluice/dissect.h"

enum {
    PAYLOAD_MAX = 128 << 20, /* bytes of payload that are loaded */
    SCRATCH_LEN = 4 << 20,
    SCRATCH_ITEMS = 16384,
    PIECE_LEN = 64 << 10 /* of files */
};

/* ---- of captures ----------------------------------------------------------------------------- */

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
            payloads->failed =
                !filling_add(&payloads->to, scratch->bytes + span.offset, span.len, 0);
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

static bool load_captures(const struct filling *to, const struct bench_input *input)
{
    struct sl_batch *scratch;
    struct sl_diag diag = {0};

    if (sl_batch_create(&scratch, SCRATCH_LEN, SCRATCH_ITEMS, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    struct payloads payloads = {.to = *to, .scratch = scratch};
    to->data->is_partial = !read_captures(input, next_of_payloads, &payloads);
    take_payloads(&payloads);
    sl_batch_free(scratch);
    return !payloads.failed;
}

/* ---- of files -------------------------------------------------------------------------------- */

static bool put_pieces(const struct filling *to, const uint8_t *bytes, size_t len, uint16_t overlap)
{
    uint64_t done = 0;

    while (done < len) {
        struct sl_batch *batch = filling_batch(to, PIECE_LEN);

        if (batch == NULL)
            return false;
        sl_batch_add_pieces(batch, bytes, len, PIECE_LEN, overlap, &done);
    }
    return true;
}

/* False: no memory. A fault of a file is printed, and the file is left out. */
static bool load_file(const struct filling *to, const char *path, uint16_t overlap)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    bool good = true;

    if (fd < 0 || fstat(fd, &stat) != 0) {
        cli_error("%s: %s", path, strerror(errno));
    } else if (!S_ISREG(stat.st_mode)) {
        cli_error("%s: is no regular file", path);
    } else if (stat.st_size > 0) {
        const size_t len = (size_t)stat.st_size;
        uint8_t *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

        if (bytes == MAP_FAILED) {
            cli_error("%s: %s", path, strerror(errno));
        } else {
            good = put_pieces(to, bytes, len < PAYLOAD_MAX ? len : PAYLOAD_MAX, overlap);
            munmap(bytes, len);
        }
    }
    if (fd >= 0)
        close(fd);
    return good;
}

bool bench_load_payloads(struct bench_data *data, const struct bench_input *input, uint16_t overlap)
{
    const struct filling to = filling_begin(data, PAYLOAD_BATCH, false);
    bool good = true;

    if (input->n_file_paths == 0)
        good = load_captures(&to, input);
    for (size_t i = 0; i < input->n_file_paths && good; i++)
        if ((uint64_t)data->n_batches * PAYLOAD_BATCH <= PAYLOAD_MAX)
            good = load_file(&to, input->file_paths[i], overlap);
    if (!good || !filling_end(&to, false))
        return false;
    data_describe(data, input->generated[0] != '\0',
                  input->n_file_paths != 0 ? "piece" : "payload");
    return true;
}
