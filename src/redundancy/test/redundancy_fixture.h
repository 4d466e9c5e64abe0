/* SPDX-License-Identifier: MIT */
/* Parts that the tests of redundancy share: packets that repeat one another, and samplers of their
 * own. */
#ifndef REDUNDANCY_FIXTURE_H
#define REDUNDANCY_FIXTURE_H

#include "sluice/redundancy.h"
#include "test.h"

/* A source of packets that repeat parts of what came before. */
struct traffic {
    uint64_t random;
    uint8_t *history; /* repeats are drawn from these */
    uint32_t history_len, history_cap;
    uint32_t alphabet; /* byte values used in new content, 1 to 256 */
};

void traffic_init(struct traffic *traffic, uint64_t seed, uint32_t history_cap);
void traffic_free(struct traffic *traffic);

/* Makes a packet of len bytes. */
void traffic_packet(struct traffic *traffic, uint8_t *out, uint32_t len);

/* A sampler by definition: each window of the batch's payloads whose hash is 0 modulo the period.
 * Fills hits up to their cap. */
void fixture_sample(const struct sl_batch *batch, uint32_t window, uint32_t period,
                    struct sl_hits *hits);

/* A batch of one packet, in memory of the caller. */
struct single {
    struct sl_batch batch;
    struct sl_span span;
};
void single_init(struct single *single, uint8_t *bytes, uint32_t len);

/* Visits each shared capture, and returns their number. Skips the test where there are none. */
uint64_t fixture_each_capture(void (*visit)(void *user, const char *path), void *user);

#endif
