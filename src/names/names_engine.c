/* SPDX-License-Identifier: MIT */
/* Names of packets, looked up: sluice/engine.h over sl_packet_names and sl_names_lookup.
 *
 * A look-up waits for memory several times, finding a name does not. So names are gathered over
 * packets, as many as one call looks up, and the engine of the table has all of them in flight. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "batch/cpu_backend.h"
#include "name_extract.h"
#include "names_internal.h"

enum {
    AHEAD = 8,                                                /* packets fetched ahead */
    NAMES_LEN = SL_PACKET_NAMES_LEN + SL_NAMES_BATCH_MAX * 64 /* bytes */
};

#define WATCH_MAGIC UINT64_C(0x68637461772d6c73)

struct sl_names_watch {
    uint64_t magic;
    struct sl_names *names;
    _Atomic uint64_t packets;
    _Atomic uint64_t n_names[SL_N_NAMES_PROTOCOLS], matched[SL_N_NAMES_PROTOCOLS];
    _Atomic uint64_t missed[SL_N_NAMES_MISSES];
};

struct context {
    struct cpu_context cpu;
    struct sl_names_watch *watch;
    struct sl_names_reader *reader;
    uint32_t at_once;                  /* names a look-up call */
    struct sl_names_watch_count count; /* of the batch at hand */

    struct sl_name name[SL_NAMES_BATCH_MAX];
    struct sl_names_answer answer[SL_NAMES_BATCH_MAX];
    struct {
        uint32_t item, offset;
        enum sl_names_protocol protocol;
    } of[SL_NAMES_BATCH_MAX];
    uint32_t n;
    uint8_t bytes[NAMES_LEN];
    uint32_t bytes_len;
};

/* ---- the watch ------------------------------------------------------------------------------- */

enum sl_status sl_names_watch_create(struct sl_names_watch **out, struct sl_names *names,
                                     struct sl_diag *diag)
{
    struct sl_names_watch *watch;

    *out = NULL;
    if (names->table == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is not built");
    watch = (struct sl_names_watch *)calloc(1, sizeof *watch);
    if (watch == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a watch");
    watch->magic = WATCH_MAGIC;
    watch->names = names;
    *out = watch;
    return SL_OK;
}

void sl_names_watch_free(struct sl_names_watch *watch)
{
    free(watch);
}

void sl_names_watch_count(const struct sl_names_watch *watch, struct sl_names_watch_count *count)
{
    count->packets = atomic_load(&watch->packets);
    for (int p = 0; p < SL_N_NAMES_PROTOCOLS; p++) {
        count->names[p] = atomic_load(&watch->n_names[p]);
        count->matched[p] = atomic_load(&watch->matched[p]);
    }
    for (int m = 0; m < SL_N_NAMES_MISSES; m++)
        count->missed[m] = atomic_load(&watch->missed[m]);
}

static void add_count(struct sl_names_watch *watch, const struct sl_names_watch_count *count)
{
    atomic_fetch_add(&watch->packets, count->packets);
    for (int p = 0; p < SL_N_NAMES_PROTOCOLS; p++) {
        atomic_fetch_add(&watch->n_names[p], count->names[p]);
        atomic_fetch_add(&watch->matched[p], count->matched[p]);
    }
    for (int m = 0; m < SL_N_NAMES_MISSES; m++)
        if (count->missed[m] != 0)
            atomic_fetch_add(&watch->missed[m], count->missed[m]);
}

/* ---- hits ------------------------------------------------------------------------------------ */

/* The rule's number, and above it the bytes of the name that it matched. */
static uint64_t hit_id(const struct sl_names_answer *answer)
{
    return answer->rule | (uint64_t)answer->prefix_len << 32;
}

void sl_names_hit(const struct sl_names *names, uint64_t id, struct sl_names_answer *answer)
{
    names_rule_answer(names, (uint32_t)id, (uint32_t)(id >> 32), answer);
}

/* ---- a batch --------------------------------------------------------------------------------- */

static enum sl_status look_up(struct context *context, struct sl_hits *hits)
{
    enum sl_status status = SL_OK;

    for (uint32_t i = 0; i < context->n && status == SL_OK; i += context->at_once) {
        const uint32_t left = context->n - i;

        status =
            sl_names_lookup(context->reader, context->name + i,
                            left < context->at_once ? left : context->at_once, context->answer + i);
    }
    for (uint32_t i = 0; i < context->n && status == SL_OK; i++) {
        if (context->answer[i].action == SL_NAMES_NONE)
            continue;
        context->count.matched[context->of[i].protocol]++;
        cpu_hits_append(hits, context->of[i].item, context->of[i].offset,
                        hit_id(&context->answer[i]));
    }
    context->n = context->bytes_len = 0;
    return status;
}

static void take_names(struct context *context, const struct name_out *out, uint32_t item)
{
    struct sl_names_watch_count *count = &context->count;

    for (uint32_t i = 0; i < out->n; i++, context->n++) {
        const struct sl_packet_name *found = &out->found[i];

        context->name[context->n] = found->name;
        context->of[context->n].item = item;
        context->of[context->n].offset = found->offset;
        context->of[context->n].protocol = found->protocol;
        count->names[found->protocol]++;
    }
    context->bytes_len += out->len;
    count->packets += out->n != 0;
    for (uint32_t misses = out->misses; misses != 0; misses &= misses - 1)
        count->missed[__builtin_ctz(misses)]++;
}

/* Its transport header, and the payload that follows it. */
static void fetch(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *bytes = batch->bytes + packet->offset + packet->transport;

    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    struct context *context = (struct context *)cpu;
    struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    enum sl_status status = SL_OK;

    memset(&context->count, 0, sizeof context->count);
    context->n = context->bytes_len = 0;
    for (uint32_t item = 0; item < batch->n_items && status == SL_OK; item++) {
        struct name_out out = {.found = found, .bytes = context->bytes + context->bytes_len};
        struct name_packet packet;

        if (batch->n_items - item > AHEAD)
            fetch(batch, item + AHEAD);
        name_packet_of(&packet, batch, item);
        if (packet.carrier == NAME_CARRIER_NONE)
            continue;
        name_extract(&out, &packet);
        if (out.n == 0 && out.misses == 0)
            continue;
        take_names(context, &out, item);
        if (SL_NAMES_BATCH_MAX - context->n < SL_PACKET_NAMES_MAX ||
            NAMES_LEN - context->bytes_len < SL_PACKET_NAMES_LEN)
            status = look_up(context, hits);
    }
    if (status == SL_OK)
        status = look_up(context, hits);
    return status;
}

/* ---- backends -------------------------------------------------------------------------------- */

static void names_close(void *opaque)
{
    struct context *context = (struct context *)opaque;

    if (context != NULL)
        sl_names_reader_close(context->reader);
    free(context);
}

static enum sl_status open_context(void **out, const void *table, const struct sl_limits *limits,
                                   uint32_t at_once, struct sl_diag *diag)
{
    struct sl_names_watch *watch = (struct sl_names_watch *)(uintptr_t)table; /* it counts */
    struct context *context;

    if (watch->magic != WATCH_MAGIC)
        return diag_set(diag, SL_EINVAL, NULL, 0, "not a watch of names");
    context = (struct context *)calloc(1, sizeof *context);
    if (context == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of names");
    context->cpu.table = table;
    context->cpu.limits = *limits;
    context->watch = watch;
    context->at_once = at_once;
    const enum sl_status status = sl_names_reader_open(&context->reader, watch->names, "cpu", diag);
    if (status != SL_OK) {
        names_close(context);
        return status;
    }
    *out = context;
    return SL_OK;
}

static enum sl_status batched_open(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    return open_context(context, table, limits, SL_NAMES_BATCH_MAX, diag);
}

static enum sl_status scalar_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    return open_context(context, table, limits, 1, diag);
}

/* A batch that is run again, for its hits did not fit, counts once. */
static enum sl_status names_wait(void *opaque)
{
    struct context *context = (struct context *)opaque;
    const enum sl_status status = cpu_backend_wait(context);

    if (status == SL_OK)
        add_count(context->watch, &context->count);
    return status;
}

static enum sl_status names_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    if (batch->packet == NULL)
        return SL_EINVAL;
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, scan);
}

static const struct sl_backend batched = {
    .name = "batched",
    .device = SL_DEVICE_CPU,
    .usable = cpu_backend_usable,
    .open = batched_open,
    .submit = names_submit,
    .wait = names_wait,
    .close = names_close,
};

static const struct sl_backend scalar = {
    .name = "scalar",
    .device = SL_DEVICE_CPU,
    .usable = cpu_backend_usable,
    .open = scalar_open,
    .submit = names_submit,
    .wait = names_wait,
    .close = names_close,
};

static const struct sl_backend *const backends[] = {&batched, &scalar, NULL};

const struct sl_engine sl_names_engine = {.name = "names", .backends = backends};
