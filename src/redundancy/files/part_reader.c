/* SPDX-License-Identifier: MIT */
#include "part_reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/diag.h"

enum {
    PARTS = 16,   /* read or waiting: so many that neither side waits for a slow part */
    HITS_EACH = 4 /* room for this many times the hits that the period promises */
};

struct part_reader {
    const struct file_encoder *e;
    const struct sl_backend *backend;
    void *context;
    struct file_part parts[PARTS];
    struct log_memory memory;
    int stop_fd; /* can be read once the reader is to end */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint64_t n_read, n_done; /* part i is parts[i % PARTS] */
    bool lent;               /* the first that is not done */
    bool ended;              /* nothing more is read */
    enum sl_status status;
    struct sl_diag diag;
};

/* ---- one part -------------------------------------------------------------------------------- */

/* False: the reader is to end. */
static bool wait_for_input(const struct part_reader *r)
{
    struct pollfd fds[] = {{.fd = r->e->in, .events = POLLIN},
                           {.fd = r->stop_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return fds[1].revents == 0;
}

/* Fills a part, or takes what one read gives where each read is a part. Less is the file's end, or
 * the reader's. */
static enum sl_status read_part(const struct part_reader *r, uint8_t *bytes, uint32_t *len,
                                struct sl_diag *diag)
{
    int64_t n = 1;

    *len = 0;
    while (n > 0 && *len < FILE_PACKET_LEN && wait_for_input(r)) {
        n = fd_read_some(r->e->in, bytes + *len, FILE_PACKET_LEN - *len);
        if (n < 0)
            return fd_failed("cannot read", diag);
        *len += (uint32_t)n;
        if (r->e->config->flush)
            break;
    }
    return SL_OK;
}

enum sl_status part_reader_sample(struct part_reader *r, struct file_part *part,
                                  struct sl_diag *diag)
{
    part->hits.n = 0;
    enum sl_status status = r->backend->submit(r->context, part->batch, &part->hits);
    if (status == SL_OK)
        status = r->backend->wait(r->context);
    /* A sample is a hint: too many of them are as good as enough. */
    if (status != SL_OK && status != SL_EOVERFLOW)
        return diag_set(diag, status, NULL, 0, "sampling: %s", sl_status_text(status));
    part->hits.n = part->hits.n < part->hits.cap ? part->hits.n : part->hits.cap;
    return SL_OK;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static struct file_part *wait_for_room(struct part_reader *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->n_read - r->n_done == PARTS && !r->ended)
        pthread_cond_wait(&r->changed, &r->lock);
    struct file_part *const part = r->ended ? NULL : &r->parts[r->n_read % PARTS];
    pthread_mutex_unlock(&r->lock);
    return part;
}

static void *read_all(void *user)
{
    struct part_reader *const r = (struct part_reader *)user;
    struct file_part *part;

    while ((part = wait_for_room(r)) != NULL) {
        struct sl_diag diag = {0};
        uint32_t len;

        enum sl_status status = read_part(r, part->batch->bytes, &len, &diag);
        sl_batch_reset(part->batch);
        if (status == SL_OK && len > 0) {
            log_memory_take(&r->memory, log_round(len));
            sl_batch_append(part->batch, len, 0);
            status = part_reader_sample(r, part, &diag);
        }
        pthread_mutex_lock(&r->lock);
        r->n_read += status == SL_OK && len > 0;
        r->ended = r->ended || status != SL_OK || len == 0 ||
                   (len < FILE_PACKET_LEN && !r->e->config->flush);
        r->status = status;
        r->diag = diag;
        pthread_cond_signal(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

enum sl_status part_reader_begin(struct part_reader *r, struct log_memory memory,
                                 struct sl_diag *diag)
{
    r->memory = memory;
    const int error = pthread_create(&r->thread, NULL, read_all, r);

    if (error != 0)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no thread to read with: %s", strerror(error));
    r->has_thread = true;
    return SL_OK;
}

enum sl_status part_reader_next(struct part_reader *r, struct file_part **part,
                                struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    pthread_mutex_lock(&r->lock);
    r->n_done += r->lent;
    pthread_cond_signal(&r->changed);
    while (r->n_read == r->n_done && !r->ended)
        pthread_cond_wait(&r->changed, &r->lock);
    r->lent = r->n_read != r->n_done;
    *part = r->lent ? &r->parts[r->n_done % PARTS] : NULL;
    if (!r->lent)
        status = r->status;
    if (status != SL_OK && diag != NULL)
        *diag = r->diag;
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static enum sl_status open_sampler(struct part_reader *r, uint32_t max_hits, struct sl_diag *diag)
{
    const struct sl_engine *const engine = sl_sampling_engine(r->e->table);
    const struct sl_limits limits = {
        .max_items = 1, .max_bytes = FILE_PACKET_LEN, .max_hits = max_hits};
    char why[SL_WHY_LEN] = "";

    r->backend = sl_engine_choose(engine, SL_DEVICE_CPU, why);
    if (r->backend == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "no sampler runs here: %s", why);
    return sl_engine_open(&r->context, engine, r->backend, r->e->table, &limits, diag);
}

static enum sl_status open_part(struct file_part *part, uint32_t max_hits, struct sl_diag *diag)
{
    part->hits.cap = max_hits;
    part->hits.hit = malloc(max_hits * sizeof *part->hits.hit);
    if (part->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u samples", max_hits);
    return sl_batch_create(&part->batch, FILE_PACKET_LEN, 1, diag);
}

enum sl_status part_reader_create(struct part_reader **reader, const struct file_encoder *encoder,
                                  struct sl_diag *diag)
{
    const uint32_t max_hits = FILE_PACKET_LEN / encoder->config->sampling.period * HITS_EACH + 64;
    struct part_reader *const r = calloc(1, sizeof *r);

    *reader = r;
    if (r == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for parts of a file");
    r->e = encoder;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (r->stop_fd < 0)
        return fd_failed("cannot wait for input", diag);
    enum sl_status status = open_sampler(r, max_hits, diag);
    for (int i = 0; i < PARTS && status == SL_OK; i++)
        status = open_part(&r->parts[i], max_hits, diag);
    return status;
}

struct file_part *part_reader_spare(struct part_reader *r)
{
    return &r->parts[0];
}

static void stop_thread(struct part_reader *r)
{
    static const uint64_t one = 1;

    pthread_mutex_lock(&r->lock);
    r->ended = true;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
    (void)!write(r->stop_fd, &one, sizeof one);
    pthread_join(r->thread, NULL);
}

void part_reader_close(struct part_reader *r)
{
    if (r == NULL)
        return;
    if (r->has_thread)
        stop_thread(r);
    if (r->context != NULL)
        r->backend->close(r->context);
    for (int i = 0; i < PARTS; i++) {
        free(r->parts[i].hits.hit);
        sl_batch_free(r->parts[i].batch);
    }
    if (r->stop_fd >= 0)
        close(r->stop_fd);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
