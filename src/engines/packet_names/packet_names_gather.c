/* SPDX-License-Identifier: MIT */
#include "packet_names_gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "batch/cpu_backend.h"
#include "names/table/names_answer_core.h"
#include "packet_names_extract.h"

enum { NAMES_LEN = SL_PACKET_NAMES_LEN + SL_NAMES_BATCH_MAX * 64 /* bytes */ };

struct names_gather {
    struct sl_names_reader *reader;
    uint32_t at_once;
    struct sl_packet_names_watch_count count;

    struct sl_name name[SL_NAMES_BATCH_MAX];
    struct sl_names_answer answer[SL_NAMES_BATCH_MAX];
    struct {
        uint32_t item, offset;
        enum sl_packet_names_protocol protocol;
    } of[SL_NAMES_BATCH_MAX];
    uint32_t n;
    uint8_t bytes[NAMES_LEN];
    uint32_t bytes_len;
};

enum sl_status names_gather_open(struct names_gather **gather, struct sl_packet_names_watch *watch,
                                 uint32_t at_once, struct sl_diag *diag)
{
    struct names_gather *made = (struct names_gather *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of names");
    made->at_once = at_once;
    const enum sl_status status =
        sl_names_reader_open(&made->reader, names_watch_names(watch), "cpu", diag);
    if (status != SL_OK) {
        names_gather_close(made);
        return status;
    }
    *gather = made;
    return SL_OK;
}

void names_gather_close(struct names_gather *gather)
{
    if (gather != NULL)
        sl_names_reader_close(gather->reader);
    free(gather);
}

void names_gather_begin(struct names_gather *gather)
{
    memset(&gather->count, 0, sizeof gather->count);
    gather->n = gather->bytes_len = 0;
}

struct sl_packet_names_watch_count *names_gather_count(struct names_gather *gather)
{
    return &gather->count;
}

enum sl_status names_gather_end(struct names_gather *gather, struct sl_hits *hits)
{
    enum sl_status status = SL_OK;

    for (uint32_t i = 0; i < gather->n && status == SL_OK; i += gather->at_once) {
        const uint32_t left = gather->n - i;

        status =
            sl_names_lookup(gather->reader, gather->name + i,
                            left < gather->at_once ? left : gather->at_once, gather->answer + i);
    }
    for (uint32_t i = 0; i < gather->n && status == SL_OK; i++) {
        const struct sl_names_answer *answer = &gather->answer[i];

        if (answer->action == SL_NAMES_NONE)
            continue;
        gather->count.matched[gather->of[i].protocol]++;
        cpu_hits_append(hits, gather->of[i].item, gather->of[i].offset,
                        names_rule_id(answer->rule, answer->prefix_len));
    }
    gather->n = gather->bytes_len = 0;
    return status;
}

static void keep_names(struct names_gather *gather, const struct name_out *out, uint32_t item)
{
    struct sl_packet_names_watch_count *count = &gather->count;

    for (uint32_t i = 0; i < out->n; i++, gather->n++) {
        const struct sl_packet_name *found = &out->found[i];

        gather->name[gather->n] = found->name;
        gather->of[gather->n].item = item;
        gather->of[gather->n].offset = found->offset;
        gather->of[gather->n].protocol = found->protocol;
        count->names[found->protocol]++;
    }
    gather->bytes_len += out->len;
    count->packets += out->n != 0;
    for (uint32_t misses = out->misses; misses != 0; misses &= misses - 1)
        count->missed[__builtin_ctz(misses)]++;
}

enum sl_status names_gather_take(struct names_gather *gather, const struct sl_batch *batch,
                                 uint32_t item, uint32_t as, struct sl_hits *hits)
{
    struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    struct name_packet packet;

    name_packet_of(&packet, batch, item);
    const enum sl_packet_names_protocol protocol = name_protocol(&packet);
    if (protocol == SL_N_PACKET_NAMES_PROTOCOLS)
        return SL_OK;

    struct name_out out = name_out_of(found, gather->bytes + gather->bytes_len);
    name_extract(&out, &packet, protocol);
    if (out.n == 0 && out.misses == 0)
        return SL_OK;
    keep_names(gather, &out, as);
    return SL_NAMES_BATCH_MAX - gather->n < SL_PACKET_NAMES_MAX ||
                   NAMES_LEN - gather->bytes_len < SL_PACKET_NAMES_LEN
               ? names_gather_end(gather, hits)
               : SL_OK;
}
