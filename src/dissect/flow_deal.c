/* SPDX-License-Identifier: MIT */
/* Dealing: one batch after another moves the clock, which is all that batches have in common. */
#include "flow_clock.h"

/* Finds the clock before each run. */
static void deal_runs(struct sl_flow_table *table, const struct sl_batch *batch,
                      struct sl_flow_keys *keys)
{
    for (uint32_t i = 0; i < keys->n_runs; i++) {
        const struct flow_run *run = &keys->run[i];

        keys->before[i] = table->clock;
        if (!run->has_flow || flow_clock_pass(&table->clock, table, run->min_time, run->max_time))
            continue;
        for (uint32_t item = run->first; item < run->end; item++)
            flow_clock_advance(&table->clock, table, batch->origin[item].time_ns);
    }
}

/* Where no time goes back within the batch, the earliest is compared with the clock before it. Many
 * batches last longer than flows are kept. */
void sl_flow_deal(struct sl_flow_table *table, const struct sl_batch *batch,
                  struct sl_flow_keys *keys)
{
    keys->begin = table->clock;
    keys->set_back =
        keys->goes_back || !flow_clock_pass(&table->clock, table, keys->min_time, keys->min_time);
    if (keys->set_back)
        deal_runs(table, batch, keys);
    else if (keys->max_time != 0 && keys->max_time > table->clock.now)
        table->clock.now = keys->max_time;
    keys->after = table->clock;
}
