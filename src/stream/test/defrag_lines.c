/* SPDX-License-Identifier: MIT */
/* Prints how many fragments a capture has, and how many datagrams they make. */
#include <stdio.h>
#include <stdlib.h>

#include "capture/test/each_batch.h"
#include "stream/defrag.h"

static struct defrag *defrag;

static void visit(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};
    struct defrag_fragment fragment;
    struct defrag_datagram datagram;

    sl_dissect(batch, &stats);
    for (uint32_t item = 0; item < batch->n_items; item++)
        if (defrag_read(&fragment, batch, item))
            (void)defrag_take(defrag, &fragment, &datagram);
}

int main(int argc, char **argv)
{
    struct defrag_config config;
    int status;

    defrag_config_init(&config);
    if (defrag_create(&defrag, &config, NULL) != SL_OK)
        return 1;
    status = visit_capture(argc, argv, visit);
    printf("%llu %llu\n", (unsigned long long)defrag_get_stats(defrag)->fragments,
           (unsigned long long)defrag_get_stats(defrag)->joined);
    defrag_free(defrag);
    return status;
}
