/* SPDX-License-Identifier: MIT */
/* EVE's names for what becomes of flows. */
#include "sluice/dissect.h"

const char *sl_flow_state_name(enum sl_flow_state state)
{
    static const char *const name[] = {
        [SL_FLOW_STATE_NEW] = "new",
        [SL_FLOW_STATE_ESTABLISHED] = "established",
        [SL_FLOW_STATE_CLOSED] = "closed",
    };

    return name[state];
}

const char *sl_tcp_state_name(enum sl_tcp_state state)
{
    static const char *const name[SL_N_TCP_STATES] = {
        [SL_TCP_NONE] = "none",
        [SL_TCP_SYN_SENT] = "syn_sent",
        [SL_TCP_SYN_RECV] = "syn_recv",
        [SL_TCP_ESTABLISHED] = "established",
        [SL_TCP_FIN_WAIT1] = "fin_wait1",
        [SL_TCP_FIN_WAIT2] = "fin_wait2",
        [SL_TCP_CLOSE_WAIT] = "close_wait",
        [SL_TCP_CLOSING] = "closing",
        [SL_TCP_LAST_ACK] = "last_ack",
        [SL_TCP_TIME_WAIT] = "time_wait",
        [SL_TCP_CLOSED] = "closed",
    };

    return name[state];
}

const char *sl_flow_reason_name(enum sl_flow_reason reason)
{
    static const char *const name[] = {
        [SL_FLOW_END_TIMEOUT] = "timeout",
        [SL_FLOW_END_FORCED] = "forced",
        [SL_FLOW_END_SHUTDOWN] = "shutdown",
        [SL_FLOW_END_TCP_REUSE] = "tcp_reuse",
    };

    return name[reason];
}
