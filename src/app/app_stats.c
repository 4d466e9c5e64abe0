/* SPDX-License-Identifier: MIT */
/* Counters of messages: their names and sums. */
#include "app_messages.h"

void app_stats_add(struct sl_app_stats *sum, const struct sl_app_stats *more)
{
    sum->flows += more->flows;
    sum->messages += more->messages;
    sum->transactions += more->transactions;
    sum->flows_evicted += more->flows_evicted;
    sum->left_out += more->left_out;
    sum->bodies_cut += more->bodies_cut;
    sum->files_cut += more->files_cut;
}

void sl_app_stats_each(const struct sl_app_stats *stats,
                       void (*call)(void *user, const char *name, uint64_t value), void *user)
{
    call(user, "flows", stats->flows);
    call(user, "messages", stats->messages);
    call(user, "transactions", stats->transactions);
    call(user, "flows_evicted", stats->flows_evicted);
    call(user, "left_out", stats->left_out);
    call(user, "bodies_cut", stats->bodies_cut);
    call(user, "files_cut", stats->files_cut);
}
