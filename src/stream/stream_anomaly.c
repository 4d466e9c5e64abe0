/* SPDX-License-Identifier: MIT */
#include "stream_anomaly.h"

#include "stream_tcp.h"

enum { CLIENT, SERVER };

static bool is_fin_acked(const struct stream_half *h)
{
    return stream_behind(h->acked, h->seq) > 0;
}

static enum stream_state state_of(const struct stream_site *site)
{
    const struct stream_half *client = stream_half_of(site, CLIENT);
    const struct stream_half *server = stream_half_of(site, SERVER);
    const bool client_fin = stream_has(client, STREAM_FIN_DONE);
    const bool server_fin = stream_has(server, STREAM_FIN_DONE);

    if (client_fin && server_fin && stream_has(client, STREAM_FIN_FIRST))
        return STREAM_STATE_LAST_ACK;
    if (client_fin && server_fin)
        return is_fin_acked(server) ? STREAM_STATE_TIME_WAIT : STREAM_STATE_CLOSING;
    if (server_fin)
        return is_fin_acked(server) ? STREAM_STATE_FIN_WAIT2 : STREAM_STATE_FIN_WAIT1;
    return client_fin ? STREAM_STATE_CLOSE_WAIT : STREAM_STATE_ESTABLISHED;
}

static void report_state(const struct stream_site *site, uint32_t half, enum stream_event first)
{
    stream_report_event(site, half, (enum stream_event)(first + state_of(site)));
}

void stream_anomaly_ack(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = stream_half_of(site, segment->half);

    stream_report_event(site, segment->half, STREAM_INVALID_ACK);
    if (!stream_is_established(site))
        stream_report_event(site, segment->half,
                            segment->seq == from->seq ? STREAM_ACK_WRONG : STREAM_SEQ_ACK_WRONG);
    else if ((segment->flags & TCP_FIN) != 0)
        stream_report_event(site, segment->half, STREAM_FIN_INVALID_ACK);
    else
        report_state(site, segment->half, STREAM_STATE_INVALID_ACK);
}

void stream_anomaly_window(const struct stream_site *site, uint32_t half)
{
    report_state(site, half, STREAM_STATE_OUT_OF_WINDOW);
}

void stream_anomaly_fin(const struct stream_site *site, uint32_t half)
{
    if (state_of(site) <= STREAM_STATE_FIN_WAIT2)
        report_state(site, half, STREAM_STATE_FIN);
}

void stream_anomaly_old(const struct stream_site *site, uint32_t half, bool acked)
{
    const enum stream_state state = state_of(site);

    stream_report_event(site, half, acked ? STREAM_SPURIOUS_RETRANSMISSION : STREAM_RETRANSMISSION);
    if (acked && state == STREAM_STATE_ESTABLISHED)
        stream_report_event(site, half, STREAM_EST_BEFORE_ACK);
    if (acked && state == STREAM_STATE_CLOSE_WAIT)
        stream_report_event(site, half, STREAM_CLOSE_WAIT_BEFORE_ACK);
}

/* Before the handshake is over. */
static void report_early_syn(const struct stream_site *site, const struct stream_segment *segment,
                             bool same_seq, bool same_ack)
{
    const bool is_answer = (segment->flags & TCP_ACK) != 0;

    if (is_answer && segment->half == CLIENT)
        stream_report_event(site, CLIENT,
                            stream_is_heard(site, CLIENT) ? STREAM_SYNACK_TO_SERVER
                                                          : STREAM_SYNACK_WRONG_DIRECTION);
    else if (!is_answer && segment->half == SERVER)
        stream_report_event(site, SERVER, STREAM_SYN_TO_CLIENT);
    else if (!same_seq)
        stream_report_event(site, segment->half,
                            is_answer ? STREAM_SYNACK_RESEND_OTHER_SEQ
                                      : STREAM_SYN_RESEND_OTHER_SEQ);
    else if (is_answer && !same_ack)
        stream_report_event(site, SERVER, STREAM_SYNACK_RESEND_OTHER_ACK);
}

void stream_anomaly_syn(const struct stream_site *site, const struct stream_segment *segment,
                        bool same_seq, bool same_ack)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const bool is_answer = (segment->flags & TCP_ACK) != 0;
    enum stream_event event;

    if (!stream_has(from, STREAM_ESTABLISHED) && from->next == 0) {
        report_early_syn(site, segment, same_seq, same_ack);
        return;
    }
    if (state_of(site) != STREAM_STATE_ESTABLISHED)
        event = STREAM_SHUTDOWN_SYN;
    else if (is_answer && segment->half == CLIENT)
        event = STREAM_EST_SYNACK_TO_SERVER;
    else if (is_answer)
        event = !same_seq   ? STREAM_EST_SYNACK_OTHER_SEQ
                : !same_ack ? STREAM_EST_SYNACK_OTHER_ACK
                            : STREAM_EST_SYNACK;
    else if (segment->half == SERVER)
        event = STREAM_EST_SYN_TO_CLIENT;
    else
        event = same_seq ? STREAM_EST_SYN : STREAM_EST_SYN_OTHER_SEQ;
    stream_report_event(site, segment->half, event);
}
