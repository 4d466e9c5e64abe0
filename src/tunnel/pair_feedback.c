/* SPDX-License-Identifier: MIT */
/* Reports of the decoder's state: by time, holes and bytes, whichever comes first. */
#include "pair_state.h"

/* Feedback has 32 runs of the last 8 MiB. At 1 Gbit/s and 5 % of loss 32 runs pass in 7 ms, so
 * these and SL_FEEDBACK_MS leave none unreported. */
enum { REPORT_HOLES = 16, REPORT_BYTES = 4 << 20, URGENT_EACH = 1 /* ms */ };

void feedback_note(struct pair *pair, enum sl_frame_verdict verdict, uint32_t len, uint64_t now)
{
    struct pair_news *const news = &pair->news;
    struct sl_decoder_stats stats;

    sl_decoder_stats(pair->decoder, &stats);
    if (news->since == 0)
        news->since = now;
    news->bytes += len;
    news->holes += stats.holes != news->skipped ? 1 : 0;
    news->skipped = stats.holes;
    /* A late frame shows an encoder that is an epoch behind. */
    news->urgent |= verdict != SL_FRAME_DELIVERED && verdict != SL_FRAME_REPEATED;
}

/* Appends feedback to the open datagram where it is due. */
uint64_t feedback_tick(struct pair *pair, uint64_t now)
{
    struct pair_news *const news = &pair->news;
    uint8_t feedback[SL_FEEDBACK_MAX];

    if (news->since == 0 || pair->session.peer == 0)
        return UINT64_MAX;

    const bool hurries = news->urgent || news->holes >= REPORT_HOLES || news->bytes >= REPORT_BYTES;
    const uint64_t due = hurries ? news->reported_at + URGENT_EACH * PAIR_MS
                                 : news->since + SL_FEEDBACK_MS * PAIR_MS;
    if (now < due)
        return due;
    pair_put(pair, RECORD_FEEDBACK, feedback, sl_decoder_feedback(pair->decoder, feedback),
             pair->datagram_len > 0 ? pair->traffic_class : 0);
    pair_send(pair);
    *news = (struct pair_news){.skipped = news->skipped, .reported_at = now};
    return UINT64_MAX;
}
