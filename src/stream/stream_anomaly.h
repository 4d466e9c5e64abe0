/* SPDX-License-Identifier: MIT */
/* Which events an odd segment has. */
#ifndef STREAM_STREAM_ANOMALY_H
#define STREAM_STREAM_ANOMALY_H

#include "stream_half.h"

/* How far a connection is, as Suricata has it: the server's FIN leads to FIN_WAIT, the client's to
 * CLOSE_WAIT. */
enum stream_state {
    STREAM_STATE_ESTABLISHED,
    STREAM_STATE_CLOSE_WAIT,
    STREAM_STATE_FIN_WAIT1,
    STREAM_STATE_FIN_WAIT2,
    STREAM_STATE_LAST_ACK,
    STREAM_STATE_CLOSING,
    STREAM_STATE_TIME_WAIT
};

void stream_anomaly_ack(const struct stream_site *site, const struct stream_segment *segment);
void stream_anomaly_window(const struct stream_site *site, uint32_t half);
void stream_anomaly_fin(const struct stream_site *site, uint32_t half);

/* Bytes that the half has already: `acked` says that they are acknowledged. */
void stream_anomaly_old(const struct stream_site *site, uint32_t half, bool acked);

/* A SYN of a half that has started: whether its number is that of the first, and its
 * acknowledgement. */
void stream_anomaly_syn(const struct stream_site *site, const struct stream_segment *segment,
                        bool same_seq, bool same_ack);

#endif
