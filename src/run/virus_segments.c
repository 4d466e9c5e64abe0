/* SPDX-License-Identifier: MIT */
#include "virus_segments.h"

#include <stdlib.h>

#include "base/diag.h"
#include "virus_windows.h"

struct run_viruses {
    const struct run_streams *streams;
    struct virus_scanners scanners;
    struct virus_shard *shard;
    uint32_t n_shards;
};

/* ---- the streams of all flows ---------------------------------------------------------------- */

enum sl_status run_viruses_create(struct run_viruses **out, const struct run_streams *streams,
                                  const struct sl_clamav_db *database, struct sl_diag *diag)
{
    struct run_viruses *viruses = calloc(1, sizeof *viruses);
    bool done = viruses != NULL;

    *out = viruses;
    if (done) {
        virus_scanners_init(&viruses->scanners, database);
        viruses->streams = streams;
        viruses->shard = calloc(streams->n_shards, sizeof *viruses->shard);
        done = viruses->shard != NULL;
    }
    while (done && viruses->n_shards < streams->n_shards)
        done = virus_shard_open(&viruses->shard[viruses->n_shards++]);
    return done ? SL_OK : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for viruses of flows");
}

void run_viruses_free(struct run_viruses *viruses)
{
    if (viruses == NULL)
        return;
    for (uint32_t i = 0; i < viruses->n_shards; i++)
        virus_shard_close(&viruses->shard[i]);
    free(viruses->shard);
    virus_scanners_clear(&viruses->scanners);
    free(viruses);
}

uint64_t run_viruses_left_out(const struct run_viruses *viruses)
{
    uint64_t n = 0;

    for (uint32_t i = 0; viruses != NULL && i < viruses->n_shards; i++)
        n += viruses->shard[i].left_out;
    return n;
}

void virus_batch_clear(struct virus_batch *mine)
{
    for (uint32_t i = 0; i < RUN_SHARDS_MAX; i++) {
        free(mine->shard[i].item);
        free(mine->shard[i].match);
    }
}

/* ---- what streams say ------------------------------------------------------------------------ */

/* What waits for missing bytes is never decided. */
static void take_gap(struct virus_shard *shard, size_t entry, const struct stream_record *record)
{
    struct virus_flow *const flow = virus_flow_of(shard, entry, record->flow);

    virus_drop(shard, &flow->first[record->half]);
    virus_flow_let_go(shard, flow);
}

/* A half ends. Bytes before the last window might have decided an expression that waits. */
static void take_end(struct virus_shard *shard, size_t entry, const struct stream_record *record)
{
    struct virus_flow *const flow = virus_flow_of(shard, entry, record->flow);

    for (uint32_t at = flow->first[record->half]; at != 0; at = shard->node[at].next)
        shard->left_out += shard->node[at].matches && record->offset > SL_STREAM_KNOWN;
    virus_drop(shard, &flow->first[record->half]);
    virus_drop(shard, &flow->told[record->half]);
    virus_flow_let_go(shard, flow);
}

/* No packet takes the parts that a flow gets when it ends into a window. */
static void leave_out_parts(struct virus_shard *shard, const struct stream_parts *parts)
{
    for (const struct stream_ended *ended = parts->ended; ended != NULL; ended = ended->next)
        for (uint32_t r = ended->begin; r < ended->behind; r++)
            shard->left_out +=
                virus_adds_bytes(&parts->record[r]) && !ended->only_syn[parts->record[r].half];
}

void run_viruses_finish(struct run_viruses *viruses, const struct stream_batch *streams)
{
    for (uint32_t i = 0; viruses != NULL && i < viruses->n_shards; i++) {
        struct virus_shard *const shard = &viruses->shard[i];
        const struct stream_parts *const parts = &streams->shard[i];

        leave_out_parts(shard, parts);
        for (uint32_t r = 1; r < parts->output.n; r++)
            if (parts->record[r].kind == STREAM_END)
                take_end(shard, virus_entry_of(viruses->streams->of_flow[i], &parts->record[r]),
                         &parts->record[r]);
    }
}

/* ---- settling -------------------------------------------------------------------------------- */

/* A packet that waits: what it has alone is not told again with its stream. */
static void take_waiting(const struct virus_settling *settling,
                         const struct stream_waiting *waiting)
{
    const struct payload_scan *scan = settling->scan;
    const uint32_t item = waiting->item;
    struct virus_flow *const flow =
        virus_flow_of(settling->shard, waiting->entry, settling->batch->origin[item].flow);

    for (size_t i = payload_scan_first(scan, item);
         i < payload_scan_count(scan) && payload_scan_item(scan, i) == item; i++) {
        struct virus_node *node = virus_keep(settling->shard, &flow->told[waiting->half]);

        if (node != NULL)
            node->name = payload_scan_match(scan, i)->name;
    }
    virus_flow_let_go(settling->shard, flow);
}

static bool take_record(struct virus_settling *settling, uint32_t r)
{
    const struct stream_record *const record = &settling->parts->record[r];

    if (virus_adds_bytes(record))
        return virus_part_take(settling, r);
    if (settling->shard->n_waiting == 0)
        return true;
    const size_t entry = virus_entry_of(settling->of_flow, record);
    if (record->kind == STREAM_GAP)
        take_gap(settling->shard, entry, record);
    else if (record->kind == STREAM_END)
        take_end(settling->shard, entry, record);
    return true;
}

void virus_batch_settle(struct virus_batch *mine, struct run_viruses *viruses,
                        const struct stream_batch *streams, const struct payload_scan *scan,
                        const struct sl_batch *batch, uint32_t shard)
{
    const struct stream_parts *parts = &streams->shard[shard];
    const struct stream_waiting *waiting = parts->waiting;
    struct virus_output *const output = &mine->shard[shard];
    struct virus_settling settling = {.scanners = &viruses->scanners,
                                      .shard = &viruses->shard[shard],
                                      .of_flow = viruses->streams->of_flow[shard],
                                      .parts = parts,
                                      .output = output,
                                      .scan = scan,
                                      .batch = batch,
                                      .of_item = streams->of_item};

    output->n = 0;
    output->no_memory = false;
    leave_out_parts(settling.shard, parts);
    if (settling.shard->n_waiting == 0 && payload_scan_made(scan)->n == 0 &&
        payload_scan_alone(scan)->n == 0)
        return;
    for (uint32_t r = 1; r < parts->output.n && !output->no_memory; r++) {
        const struct stream_record *record = &parts->record[r];

        for (; waiting != NULL && waiting->item < record->item; waiting = waiting->next)
            take_waiting(&settling, waiting);
        output->no_memory = !take_record(&settling, r);
    }
    for (; waiting != NULL; waiting = waiting->next)
        take_waiting(&settling, waiting);
    virus_scanner_return(&viruses->scanners, settling.scanner);
}

enum sl_status virus_batch_report(const struct virus_batch *mine, struct payload_scan *scan,
                                  uint32_t n_shards, struct sl_diag *diag)
{
    bool no_memory = false;
    size_t n = 0;

    for (uint32_t s = 0; s < n_shards; s++) {
        const struct virus_output *output = &mine->shard[s];

        no_memory |= output->no_memory;
        n += output->n;
        for (size_t i = 0; i < output->n; i++)
            payload_scan_add(scan, output->item[i], &output->match[i]);
    }
    if (no_memory)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for viruses across segments");
    return n != 0 ? payload_scan_sort(scan, diag) : SL_OK;
}
