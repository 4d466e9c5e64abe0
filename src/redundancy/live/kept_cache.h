/* SPDX-License-Identifier: MIT */
/* Encoders and decoders whose caches outlive them. A kept cache must be taken by an object of the
 * same config, before it has seen anything. */
#ifndef REDUNDANCY_KEPT_CACHE_H
#define REDUNDANCY_KEPT_CACHE_H

#include "redundancy/match/kept_log.h"
#include "redundancy/match/packet_log.h"
#include "sluice/redundancy.h"

/* The part of the cache that would be kept. */
void encoder_describe(const struct sl_encoder *encoder, struct kept_log *kept);
void decoder_describe(const struct sl_decoder *decoder, struct kept_log *kept);

/* Statuses: as kept_write and kept_read. */
SL_CHECK enum sl_status encoder_save(const struct sl_encoder *encoder, int fd,
                                     struct sl_diag *diag);
SL_CHECK enum sl_status encoder_load(struct sl_encoder *encoder, int fd, struct kept_log *kept,
                                     struct sl_diag *diag);
SL_CHECK enum sl_status decoder_save(const struct sl_decoder *decoder, int fd,
                                     struct sl_diag *diag);
SL_CHECK enum sl_status decoder_load(struct sl_decoder *decoder, int fd, struct kept_log *kept,
                                     struct sl_diag *diag);

/* A new decoder goes on with the log of another, which has no holes. */
void decoder_take_over(struct sl_decoder *decoder, const struct sl_decoder *from);

/* The index is not kept: parts of the log are sampled anew. Puts the next part, `max_len` bytes at
 * most, into the empty batch. *at is the log offset of the next part, 0 at first. False: there is
 * none. */
bool encoder_part(const struct sl_encoder *encoder, uint64_t *at, struct sl_batch *batch,
                  uint32_t max_len);

/* The samples of that part. */
void encoder_learn(struct sl_encoder *encoder, uint64_t at, const struct sl_hits *hits);

/* The encoder goes on in its epoch where this is feedback of the decoder that it had, with the log
 * that it had. It refers to what the decoder says that it has. False: it is another one, and
 * nothing was done. */
bool encoder_resume(struct sl_encoder *encoder, const uint8_t *feedback, size_t len);

#endif
