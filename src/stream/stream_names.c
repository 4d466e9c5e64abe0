/* SPDX-License-Identifier: MIT */
/* Names of policies, gaps, doubts and events. */
#include <string.h>

#include "base/diag.h"
#include "stream.h"

static const char *const policies[SL_N_HOST_POLICIES] = {[SL_HOST_BSD] = "bsd",
                                                         [SL_HOST_FIRST] = "first",
                                                         [SL_HOST_LAST] = "last",
                                                         [SL_HOST_LINUX] = "linux",
                                                         [SL_HOST_OLD_LINUX] = "old-linux",
                                                         [SL_HOST_WINDOWS] = "windows",
                                                         [SL_HOST_WINDOWS2K3] = "windows2k3",
                                                         [SL_HOST_SOLARIS] = "solaris",
                                                         [SL_HOST_HPUX10] = "hpux10",
                                                         [SL_HOST_HPUX11] = "hpux11",
                                                         [SL_HOST_IRIX] = "irix",
                                                         [SL_HOST_MACOS] = "macos"};

const char *sl_host_policy_name(enum sl_host_policy policy)
{
    return policies[policy];
}

enum sl_status sl_host_policy_parse(enum sl_host_policy *policy, const char *name, size_t name_len)
{
    for (uint32_t i = 0; i < SL_N_HOST_POLICIES; i++)
        if (strlen(policies[i]) == name_len && memcmp(policies[i], name, name_len) == 0) {
            *policy = (enum sl_host_policy)i;
            return SL_OK;
        }
    return SL_EINVAL;
}

const char *sl_stream_gap_name(enum sl_stream_gap cause)
{
    static const char *const names[SL_N_GAPS] = {
        [SL_GAP_LOST] = "lost",   [SL_GAP_SNAPPED] = "snapped", [SL_GAP_HOLES] = "holes",
        [SL_GAP_QUEUE] = "queue", [SL_GAP_MEMORY] = "memory",   [SL_GAP_END] = "end"};

    return names[cause];
}

const char *sl_stream_doubt_name(enum sl_stream_doubt doubt)
{
    static const char *const names[SL_N_DOUBTS] = {
        [SL_DOUBT_CHECKSUM] = "checksum", [SL_DOUBT_TTL] = "ttl",
        [SL_DOUBT_EARLY] = "early",       [SL_DOUBT_SYN] = "syn",
        [SL_DOUBT_PAWS] = "paws",         [SL_DOUBT_WINDOW] = "window",
        [SL_DOUBT_NO_ACK] = "no-ack",     [SL_DOUBT_ACK] = "ack",
        [SL_DOUBT_FIN] = "fin",           [SL_DOUBT_RST] = "rst"};

    return names[doubt];
}

const char *sl_fragment_fault_name(enum sl_fragment_fault fault)
{
    static const char *const names[SL_N_FRAGMENT_FAULTS] = {
        [SL_FRAGMENT_SNAPPED] = "snapped",   [SL_FRAGMENT_LENGTH] = "length",
        [SL_FRAGMENT_TOO_LONG] = "too-long", [SL_FRAGMENT_HEADERS] = "headers",
        [SL_FRAGMENT_ENDS] = "ends",         [SL_FRAGMENT_CHECKSUM] = "checksum"};

    return names[fault];
}

const char *stream_event_name(enum stream_event event)
{
    static const char *const names[STREAM_N_EVENTS] = {
        [STREAM_SYN_RESEND_OTHER_SEQ] = "3whs_syn_resend_diff_seq_on_syn_recv",
        [STREAM_SYN_TO_CLIENT] = "3whs_syn_toclient_on_syn_recv",
        [STREAM_SYNACK_TO_SERVER] = "3whs_synack_toserver_on_syn_recv",
        [STREAM_SYNACK_WRONG_DIRECTION] = "3whs_synack_in_wrong_direction",
        [STREAM_SYNACK_RESEND_OTHER_SEQ] = "3whs_synack_resend_with_diff_seq",
        [STREAM_SYNACK_RESEND_OTHER_ACK] = "3whs_synack_resend_with_different_ack",
        [STREAM_SYNACK_WRONG_ACK] = "3whs_synack_with_wrong_ack",
        [STREAM_SYN_DATA_IGNORED] = "3whs_synack_tfo_data_ignored",
        [STREAM_ACK_WRONG_DIRECTION] = "3whs_ack_in_wrong_dir",
        [STREAM_ACK_WRONG] = "3whs_right_seq_wrong_ack_evasion",
        [STREAM_SEQ_ACK_WRONG] = "3whs_wrong_seq_wrong_ack",
        [STREAM_EST_SYN] = "est_syn_resend",
        [STREAM_EST_SYN_OTHER_SEQ] = "est_syn_resend_diff_seq",
        [STREAM_EST_SYN_TO_CLIENT] = "est_syn_toclient",
        [STREAM_EST_SYNACK] = "est_synack_resend",
        [STREAM_EST_SYNACK_OTHER_SEQ] = "est_synack_resend_with_diff_seq",
        [STREAM_EST_SYNACK_OTHER_ACK] = "est_synack_resend_with_different_ack",
        [STREAM_EST_SYNACK_TO_SERVER] = "est_synack_toserver",
        [STREAM_SHUTDOWN_SYN] = "shutdown_syn_resend",
        [STREAM_FIN_SYN] = "fin_syn",
        [STREAM_FIN_NO_SESSION] = "fin_but_no_session",
        [STREAM_FIN_INVALID_ACK] = "fin_invalid_ack",
        [STREAM_RST_NO_SESSION] = "rst_but_no_session",
        [STREAM_RST_INVALID_ACK] = "rst_invalid_ack",
        [STREAM_RST_OUT_OF_SEQUENCE] = "suspected_rst_inject",
        [STREAM_INVALID_TIMESTAMP] = "pkt_invalid_timestamp",
        [STREAM_INVALID_ACK] = "pkt_invalid_ack",
        [STREAM_BROKEN_ACK] = "pkt_broken_ack",
        [STREAM_RETRANSMISSION] = "pkt_retransmission",
        [STREAM_SPURIOUS_RETRANSMISSION] = "pkt_spurious_retransmission",
        [STREAM_EST_BEFORE_ACK] = "est_pkt_before_last_ack",
        [STREAM_CLOSE_WAIT_BEFORE_ACK] = "closewait_pkt_before_last_ack",
        [STREAM_BEFORE_BASE] = "reassembly_segment_before_base_seq",
        [STREAM_SEQ_GAP] = "reassembly_seq_gap",
        [STREAM_OVERLAP_DIFFERENT] = "reassembly_overlap_different_data",
        [STREAM_NO_SEGMENT] = "reassembly_no_segment",
        [STREAM_STATE_INVALID_ACK] = "est_invalid_ack",
        "closewait_invalid_ack",
        "fin1_invalid_ack",
        "fin2_invalid_ack",
        "lastack_invalid_ack",
        "closing_invalid_ack",
        "timewait_invalid_ack",
        [STREAM_STATE_OUT_OF_WINDOW] = "est_packet_out_of_window",
        "closewait_ack_out_of_window",
        "fin1_ack_wrong_seq",
        "fin2_ack_wrong_seq",
        "lastack_ack_wrong_seq",
        "closing_ack_wrong_seq",
        "timewait_ack_wrong_seq",
        [STREAM_STATE_FIN] = "fin_out_of_window",
        "closewait_fin_out_of_window",
        "fin1_fin_wrong_seq",
        "fin2_fin_wrong_seq",
    };

    return names[event];
}
