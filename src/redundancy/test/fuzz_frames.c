/* SPDX-License-Identifier: MIT */
/* Any frames for the decoder, any feedback for the encoder: the input is cut into parcels, each
 * with a byte that says whose it is. Frames that pass the check are rare in noise. So some parcels
 * are packets that are encoded, changed by the input and decoded, and the delivered packets are
 * compared. */
#include <stdlib.h>
#include <string.h>

#include "redundancy/frames/frame.h"
#include "sluice/redundancy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { PACKET_MAX = 512, WINDOW = 16, IN_FLIGHT = 16, SENT = 2 * IN_FLIGHT };

struct sides {
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    uint8_t sent[SENT][PACKET_MAX];
    uint32_t sent_len[SENT];
    uint32_t n_sent;
};

static void must(bool what)
{
    if (!what)
        abort();
}

/* Samples at every position, so that short packets have matches. */
static void encode(struct sides *sides, const uint8_t *bytes, uint32_t len, uint8_t *frame,
                   uint32_t *frame_len)
{
    static struct sl_hit space[PACKET_MAX];
    uint8_t *const packet = sides->sent[sides->n_sent % SENT];
    struct sl_hits hits = {space, PACKET_MAX, 0, false};
    struct sl_span span = {0, len};
    struct sl_batch batch = {.n_items = 1, .bytes = packet, .payload = &span};

    memcpy(packet, bytes, len);
    sides->sent_len[sides->n_sent % SENT] = len;
    /* Empty packets are never in flight: they do not push out what may be sent again. */
    sides->n_sent += len > 0 ? 1 : 0;
    for (uint32_t at = 0; at + WINDOW <= len; at++)
        hits.hit[hits.n++] = (struct sl_hit){0, at,
                                             get_le(packet + at, 8) * UINT64_C(0x9E3779B97F4A7C15) ^
                                                 get_le(packet + at + 8, 8)};
    must(sl_encoder_batch(sides->encoder, &batch, &hits, NULL) == SL_OK);
    *frame_len = sl_encoder_frame(sides->encoder, 0, frame);
    must(*frame_len <= len + SL_FRAME_HEADER_LEN);
}

static bool was_sent(const struct sides *sides, const uint8_t *packet, uint32_t len)
{
    if (len == 0)
        return true;
    for (uint32_t i = 0; i < SENT; i++)
        if (sides->sent_len[i] == len && memcmp(sides->sent[i], packet, len) == 0)
            return true;
    return false;
}

static void one_parcel(struct sides *sides, uint8_t kind, const uint8_t *bytes, uint32_t len)
{
    uint8_t frame[PACKET_MAX + SL_FRAME_HEADER_LEN];
    uint8_t feedback[SL_FEEDBACK_MAX];
    const uint8_t *packet;
    uint32_t frame_len, packet_len;

    switch (kind % 4) {
    case 0: /* a packet, its frame changed at one place or not at all */
        encode(sides, bytes, len, frame, &frame_len);
        if (kind >= 128)
            frame[kind % frame_len] ^= (uint8_t)(kind >> 2);
        if (sl_decoder_decode(sides->decoder, frame, frame_len, &packet, &packet_len) ==
            SL_FRAME_DELIVERED)
            must(was_sent(sides, packet, packet_len));
        break;
    case 1: /* bytes of the fuzzer */
        if (sl_decoder_decode(sides->decoder, bytes, len, &packet, &packet_len) ==
            SL_FRAME_DELIVERED)
            must(packet_len <= PACKET_MAX);
        break;
    case 2:
        sl_encoder_feedback(sides->encoder, bytes, len);
        break;
    default: /* feedback that came through, and the frames that it asks for */
        frame_len = sl_decoder_feedback(sides->decoder, feedback);
        sl_encoder_feedback(sides->encoder, feedback, frame_len);
        while ((frame_len = sl_encoder_resend(sides->encoder, frame)) > 0)
            if (sl_decoder_decode(sides->decoder, frame, frame_len, &packet, &packet_len) ==
                SL_FRAME_DELIVERED)
                must(was_sent(sides, packet, packet_len));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct sides *const sides = calloc(1, sizeof *sides);
    struct sl_redundancy_config config;

    sl_redundancy_config_init(&config);
    config.cache_len = SL_REDUNDANCY_CACHE_MIN;
    config.index_len = 4096;
    config.batch_len = config.frame_max = PACKET_MAX;
    config.window = config.min_match = WINDOW;
    config.n_in_flight = IN_FLIGHT;
    config.acknowledged = len > 0 && data[0] % 2 == 0;
    must(sides != NULL && sl_encoder_create(&sides->encoder, &config, NULL) == SL_OK);
    must(sl_decoder_create(&sides->decoder, &config, NULL) == SL_OK);
    for (size_t at = 1; at + 3 <= len;) {
        const size_t wanted = data[at + 1] | (size_t)(data[at + 2] & 1) << 8;
        const size_t n = wanted < len - at - 3 ? wanted : len - at - 3;

        one_parcel(sides, data[at], data + at + 3, (uint32_t)n);
        at += 3 + n;
    }
    sl_encoder_free(sides->encoder);
    sl_decoder_free(sides->decoder);
    free(sides);
    return 0;
}
