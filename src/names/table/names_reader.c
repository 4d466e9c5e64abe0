/* SPDX-License-Identifier: MIT */
/* Readers: look-ups of one thread, through the index and then among the rules of a node. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "device/device.h"
#include "device/wait.h"
#include "names/fib/fib_table.h"
#include "names_internal.h"
#include "sluice/device.h"

enum {
    WAY_AHEAD = 8,      /* answers whose rules are fetched into the cache ahead */
    BATCH_LEN = 4 << 20 /* bytes: some 1,000 bytes a name of a full batch */
};

/* A name that is not answered yet: its first len bytes are looked up next. */
struct waiting {
    uint32_t name;
    uint32_t len;
};

/* The engine's. */
struct answers {
    uint32_t next_hop[SL_NAMES_BATCH_MAX], prefix_len[SL_NAMES_BATCH_MAX];
};

struct sl_names_reader {
    struct sl_names *names;
    struct sl_names_reader *next;
    _Atomic uint64_t epoch; /* while a look-up goes on: when it began; 0: none does */

    const struct sl_fib_backend *backend;
    void *context;
    struct sl_batch *batch; /* owns the memory of `view` */
    struct sl_batch view;   /* without the columns that names have no use for */
    struct answers *answers;
    bool pinned; /* they and the batch, for a GPU */
    struct waiting waiting[SL_NAMES_BATCH_MAX];
    uint8_t rank[SL_NAMES_BATCH_MAX]; /* of the best rule so far, + 1; 0: none */
};

/* On a GPU the one that answers a small batch soonest. */
static const struct sl_fib_backend *choose(const struct sl_fib_engine *engine,
                                           enum sl_device_kind kind, char why[SL_WHY_LEN])
{
    for (size_t i = 0; kind == SL_DEVICE_CUDA && engine->backends[i] != NULL; i++)
        if (strcmp(engine->backends[i]->name, "cuda-persistent") == 0 &&
            engine->backends[i]->usable(why))
            return engine->backends[i];
    return sl_fib_choose(engine, kind, why);
}

static enum sl_status open_memory(struct sl_names_reader *reader, struct sl_diag *diag)
{
    reader->answers = reader->pinned ? device_pinned_alloc(sizeof *reader->answers)
                                     : malloc(sizeof *reader->answers);
    if (reader->answers == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for answers");
    const enum sl_status status =
        sl_device_batch_create(&reader->batch, reader->pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                               BATCH_LEN, SL_NAMES_BATCH_MAX, diag);
    if (status != SL_OK)
        return status;
    reader->view = *reader->batch;
    reader->view.packet = NULL;
    reader->view.origin = NULL;
    return SL_OK;
}

static enum sl_status open_backend(struct sl_names_reader *reader, const char *name,
                                   struct sl_diag *diag)
{
    struct sl_limits limits = {
        .max_items = SL_NAMES_BATCH_MAX, .max_bytes = BATCH_LEN, .max_wait_ms = DEVICE_MAX_WAIT_MS};
    struct sl_device device;
    char why[SL_WHY_LEN];

    enum sl_status status = sl_device_choose(&device, name, why, diag);
    if (status != SL_OK)
        return status;
    limits.device = device.index;
    reader->pinned = device.kind == SL_DEVICE_CUDA;
    if (reader->pinned) /* before it takes a copy of the table */
        atomic_fetch_add(&reader->names->n_gpu_readers, 1);
    reader->backend = choose(sl_fib_engine(reader->names->table), device.kind, why);
    if (reader->backend == NULL)
        return diag_set(diag, SL_EDEVICE, NULL, 0, "%s", why);
    status = open_memory(reader, diag);
    if (status == SL_OK)
        status = reader->backend->open(&reader->context, reader->names->table, &limits, diag);
    return status;
}

enum sl_status sl_names_reader_open(struct sl_names_reader **out, struct sl_names *names,
                                    const char *device, struct sl_diag *diag)
{
    struct sl_names_reader *reader;

    *out = NULL;
    if (names->table == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is not built");
    reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    reader->names = names;
    const enum sl_status status = open_backend(reader, device, diag);
    pthread_mutex_lock(&names->readers_lock);
    reader->next = names->readers;
    names->readers = reader;
    pthread_mutex_unlock(&names->readers_lock);
    if (status != SL_OK) {
        sl_names_reader_close(reader);
        return status;
    }
    *out = reader;
    return SL_OK;
}

void sl_names_reader_close(struct sl_names_reader *reader)
{
    if (reader == NULL)
        return;
    struct sl_names *names = reader->names;
    pthread_mutex_lock(&names->readers_lock);
    for (struct sl_names_reader **at = &names->readers; *at != NULL; at = &(*at)->next) {
        if (*at == reader) {
            *at = reader->next;
            break;
        }
    }
    pthread_mutex_unlock(&names->readers_lock);
    if (reader->context != NULL)
        reader->backend->close(reader->context);
    sl_batch_free(reader->batch);
    if (reader->pinned) {
        device_pinned_free(reader->answers);
        atomic_fetch_sub(&names->n_gpu_readers, 1);
    } else {
        free(reader->answers);
    }
    free(reader);
}
uint64_t names_oldest_epoch(struct sl_names *names)
{
    uint64_t oldest = UINT64_MAX;

    pthread_mutex_lock(&names->readers_lock);
    for (struct sl_names_reader *reader = names->readers; reader != NULL; reader = reader->next) {
        const uint64_t epoch = atomic_load(&reader->epoch);
        if (epoch != 0 && epoch < oldest)
            oldest = epoch;
    }
    pthread_mutex_unlock(&names->readers_lock);
    return oldest;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Puts as many of the waiting names into the batch as fit. */
static uint32_t fill(struct sl_names_reader *reader, const struct sl_name *name,
                     const struct waiting *waiting, uint32_t n)
{
    uint32_t i = 0;

    sl_batch_reset(&reader->view);
    for (; i < n && sl_batch_fits(&reader->view, waiting[i].len); i++)
        sl_batch_add(&reader->view, name[waiting[i].name].bytes, waiting[i].len, 0);
    return i;
}

static enum sl_status query(struct sl_names_reader *reader)
{
    const struct sl_fib_answers answers = {
        .next_hop = reader->answers->next_hop,
        .prefix_len = reader->answers->prefix_len,
        .cap = SL_NAMES_BATCH_MAX,
        .memory = reader->pinned ? SL_MEMORY_PINNED : SL_MEMORY_HOST,
    };
    const enum sl_status status = reader->backend->submit(reader->context, &reader->view, &answers);

    return status != SL_OK ? status : reader->backend->wait(reader->context);
}

void names_rule_answer(const struct sl_names *names, uint32_t rule, uint32_t prefix_len,
                       struct sl_names_answer *answer)
{
    const struct names_rule *of = pool_at(&names->rules, rule);
    const struct names_values *values = pool_at(&names->values, of->values);

    *answer = (struct sl_names_answer){.action = (enum sl_names_action)values->action,
                                       .values = of->values,
                                       .prefix_len = prefix_len,
                                       .list = of->list,
                                       .line = of->line,
                                       .rule = rule};
}

static void take_best(struct sl_names_reader *reader, const struct sl_name *name, uint32_t i,
                      uint32_t node, uint32_t prefix_len, struct sl_names_answer *answer)
{
    const struct names_rule *first = pool_at(&reader->names->rules, node);
    const struct names_rule *rule = names_node_best(first, name, prefix_len, reader->rank[i]);

    if (rule == NULL)
        return;
    reader->rank[i] = (uint8_t)(rule->rank + 1);
    names_rule_answer(reader->names, node + (uint32_t)(rule - first), prefix_len, answer);
}

uint32_t names_highest_rank(const struct sl_names *names)
{
    uint32_t rank = SL_N_NAMES_RANKS - 1;

    while (rank > 0 && atomic_load(&names->n_ranks[rank]) == 0)
        rank--;
    return rank;
}

static void fetch_rule(const struct sl_names_reader *reader, uint32_t k)
{
    const uint32_t node = reader->answers->next_hop[k];

    if (node != SL_FIB_NONE)
        __builtin_prefetch(pool_at(&reader->names->rules, node));
}

/* Rounds: the longest prefix of each name first; then, for those that it did not settle, the
 * longest one shorter than that. */
static enum sl_status answer_all(struct sl_names_reader *reader, const struct sl_name *name,
                                 uint32_t n, struct sl_names_answer *answers)
{
    const uint32_t highest = names_highest_rank(reader->names);
    struct waiting *waiting = reader->waiting;

    while (n > 0) {
        uint32_t left = 0;

        for (uint32_t begin = 0; begin < n;) {
            const uint32_t filled = fill(reader, name, waiting + begin, n - begin);
            const enum sl_status status = query(reader);

            if (status != SL_OK)
                return status;
            for (uint32_t k = 0; k < filled; k++) {
                fetch_rule(reader, k + WAY_AHEAD < filled ? k + WAY_AHEAD : k);
                const uint32_t i = waiting[begin + k].name,
                               prefix_len = reader->answers->prefix_len[k];

                if (reader->answers->next_hop[k] == SL_FIB_NONE)
                    continue;
                take_best(reader, &name[i], i, reader->answers->next_hop[k], prefix_len,
                          &answers[i]);
                if (prefix_len > 0 && reader->rank[i] <= highest)
                    waiting[left++] = (struct waiting){i, names_shorter(name[i].bytes, prefix_len)};
            }
            begin += filled;
        }
        n = left;
    }
    return SL_OK;
}

enum sl_status sl_names_lookup(struct sl_names_reader *reader, const struct sl_name *name,
                               uint32_t n, struct sl_names_answer *answers)
{
    if (n > SL_NAMES_BATCH_MAX)
        return SL_EINVAL;
    memset(answers, 0, n * sizeof *answers);
    memset(reader->rank, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        if (name[i].len > SL_NAME_LEN_MAX)
            return SL_EINVAL;
        reader->waiting[i] = (struct waiting){i, name[i].len};
    }
    /* Nodes that are retired from here on stay until the end. Sequentially consistent: either the
     * writer sees this, or the look-up sees what the writer published. */
    atomic_store(&reader->epoch, atomic_load(&reader->names->epoch));
    const enum sl_status status = answer_all(reader, name, n, answers);
    atomic_store(&reader->epoch, 0);
    return status;
}
