/* SPDX-License-Identifier: MIT */
#include "file_encoder.h"

#include <sys/stat.h>

#include "base/diag.h"

/* Who asks for such a level wants the smallest file, and zstd looks far back for it. */
enum { LEVEL_ONE_STREAM = 16 };

void file_redundancy_config(struct sl_redundancy_config *redundancy,
                            const struct sl_redundancy_file_config *config)
{
    sl_redundancy_config_init(redundancy);
    redundancy->cache_len = config->cache_len;
    redundancy->frame_max = FILE_PACKET_LEN;
    redundancy->window = config->sampling.window;
    redundancy->period = config->sampling.period;
    redundancy->min_match = config->level != 0 ? MATCH_MIN_ZSTD : config->sampling.window;
    if (redundancy->min_match < SL_REFERENCE_MIN)
        redundancy->min_match = SL_REFERENCE_MIN;
}

/* The window of zstd: no larger than the file, where its length is known. */
static int window_log(int in)
{
    struct stat file;
    int log = FILE_WINDOW_LOG;

    if (fstat(in, &file) != 0 || !S_ISREG(file.st_mode))
        return log;
    while (log > 17 && file.st_size <= (off_t)1 << (log - 1))
        log--;
    return log;
}

static enum sl_status write_file_header(struct file_encoder *e, struct sl_diag *diag)
{
    const int continues = e->kept.end > 0 ? FILE_CONTINUES : 0;
    const struct file_header header = {
        .version = FILE_VERSION,
        .flags = (uint16_t)((e->config->level != 0 ? FILE_ZSTD : 0) | continues),
        .packet_max = FILE_PACKET_LEN,
        .cache_len = e->config->cache_len,
        .kept_id = continues != 0 ? e->kept.id : 0};
    uint8_t bytes[FILE_HEADER_LEN];

    file_write_header(bytes, &header);
    e->stats->bytes_out = sizeof bytes;
    return fd_write(e->out, bytes, sizeof bytes) ? SL_OK : fd_failed("cannot write", diag);
}

enum sl_status file_begin(struct file_encoder *e, struct sl_diag *diag)
{
    if (e->config->progress != NULL)
        e->config->progress(e->config->user, 0, 0);

    const struct record_config records = {.out = e->out,
                                          .level = e->config->level,
                                          .window_log = window_log(e->in),
                                          .n_threads = e->n_threads,
                                          .one_stream = e->config->flush ||
                                                        e->config->level >= LEVEL_ONE_STREAM};
    const enum sl_status status = write_file_header(e, diag);

    return status != SL_OK ? status : record_writer_create(&e->writer, &records, diag);
}

enum sl_status file_check_length(const struct file_encoder *e, struct sl_diag *diag)
{
    return e->position <= LOG_EPOCH_MAX
               ? SL_OK
               : diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "the input is longer than 128 TiB");
}

void file_put_frame(struct file_encoder *e, uint32_t frame_len, uint32_t len)
{
    const uint64_t bytes_out = record_writer_put(e->writer, frame_len) + FILE_HEADER_LEN;

    e->position += log_round(len);
    e->stats->bytes_in += len;
    e->stats->frames++;
    if (e->config->progress != NULL)
        e->config->progress(e->config->user, e->stats->bytes_in, bytes_out);
}
