/* SPDX-License-Identifier: MIT */
/* Dealing: one batch after another moves the clock, which is all that batches have in common. */
#include "flow_clock.h"

/* Finds the clock before each run. */
static void deal_runs(struct sl_flow_table *table, const struct sl_batch *batch,
                      struct sl_flow_keys *keys)
{
    for (uint32_t i = 0; i < keys->n_runs; i++) {
        struct flow_run *run = &keys->run[i];

        run->before = table->clock;
        if (!run->has_flow || flow_clock_pass(&table->clock, table, run->min_time, run->max_time))
            continue;
        for (uint32_t item = run->first; item < run->end; item++)
            flow_clock_advance(&table->clock, table, batch->origin[item].time_ns);
    }
}

void sl_flow_deal(struct sl_flow_table *table, const struct sl_batch *batch,
                  struct sl_flow_keys *keys)
{
    keys->before = table->clock;
    keys->set_back = !flow_clock_pass(&table->clock, table, keys->min_time, keys->max_time);
    if (keys->set_back)
        deal_runs(table, batch, keys);
    keys->after = table->clock;
}
