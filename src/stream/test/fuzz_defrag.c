/* SPDX-License-Identifier: MIT */
/* Packets of any bytes, each with a length before it: the bytes read lie in them, and memory is
 * bounded. Joined datagrams are dissected again. A list gives what single fragments do. */
#include <stdlib.h>
#include <string.h>

#include "stream/test/defrag_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_len);

static void take(struct defrag *defrag, struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {0};
    struct defrag_datagram datagram;
    struct defrag_fragment fragment;

    sl_dissect(batch, &stats);
    if (!defrag_read(&fragment, batch, 0))
        return;
    fragment.policy = (uint8_t)(fragment.id % SL_N_HOST_POLICIES);
    if (!defrag_take(defrag, &fragment, &datagram).is_whole)
        return;
    sl_batch_reset(batch);
    sl_batch_add(batch, datagram.bytes, datagram.len, 0);
    batch->origin[0].wire_len = datagram.len;
    batch->origin[0].link_type = 1;
    sl_dissect(batch, &stats);
    if ((batch->packet[0].flags & SL_PACKET_FRAGMENT) != 0 && !fragment.is_ipv6)
        abort(); /* IPv6 may have a second fragment header */
}

/* All packets in one batch. */
static void take_list(const struct defrag_config *config, const struct sl_batch *packets)
{
    struct defrag_trial trial;

    if (!defrag_trial_open(&trial, config) || !defrag_trial_take(&trial, packets, NULL))
        abort();
    defrag_trial_close(&trial);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_len)
{
    const struct defrag_config config = {.memory = 256 << 10, .timeout_seconds = 60};
    struct defrag *defrag;
    struct sl_dissect_stats stats = {0};
    struct sl_batch *batch, *packets;

    if (defrag_create(&defrag, &config, NULL) != SL_OK ||
        sl_batch_create(&batch, 1 << 17, 4, NULL) != SL_OK ||
        sl_batch_create(&packets, 1 << 17, 1024, NULL) != SL_OK)
        abort();
    for (size_t at = 0; input_len - at >= 3;) {
        const size_t rest = input_len - at - 2;
        const size_t wanted = input[at + 1];
        const uint32_t len = (uint32_t)(wanted < rest ? wanted : rest);

        sl_batch_reset(batch);
        sl_batch_add(batch, input + at + 2, len, 0);
        batch->origin[0].wire_len = len + (input[at] & 1);
        batch->origin[0].link_type = (input[at] & 2) != 0 ? 1 : 101;
        batch->origin[0].time_ns = (int64_t)input[at] << 32;
        if (sl_batch_fits(packets, len)) {
            const uint32_t item = sl_batch_add(packets, input + at + 2, len, 0);

            packets->origin[item] = batch->origin[0];
        }
        at += 2 + len;
        take(defrag, batch);
        if (defrag_held(defrag) > config.memory)
            abort();
    }
    sl_dissect(packets, &stats);
    take_list(&config, packets);
    sl_batch_free(packets);
    sl_batch_free(batch);
    defrag_free(defrag);
    return 0;
}
