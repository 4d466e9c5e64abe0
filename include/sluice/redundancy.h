/* SPDX-License-Identifier: MIT */
/* Redundancy elimination: what was sent before is sent as a reference.
 *
 * The log is the sequence of all bytes encoded, addressed by 64-bit offsets; both sides keep its
 * last `cache_len` bytes, the packet cache. A fingerprint index on the encoder's side finds where
 * content was seen before; bytes are compared before anything is referred to. A frame carries one
 * packet as references (log offset, length) and the bytes between them; the decoder needs no index
 * and no fingerprints. docs/frames.md describes frames, feedback and files byte by byte.
 *
 * After: Spring and Wetherall (2000); Rabin fingerprinting on GPUs (TPDS 2016); DYNABYTE. The
 * samples are those of any sampler of sluice/sampling.h.
 *
 * Threads: each object belongs to one thread at a time. */
#ifndef SLUICE_REDUNDANCY_H
#define SLUICE_REDUNDANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/engine.h"
#include "sluice/sampling.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SL_REDUNDANCY_CACHE_MIN (UINT64_C(1) << 20) /* bytes */

enum {
    SL_FRAME_HEADER_LEN = 24,  /* bytes: what a frame may be longer than its packet */
    SL_FRAME_MAX = 1 << 20,    /* bytes of the longest packet that a frame carries */
    SL_REFERENCE_MIN = 16,     /* bytes of the shortest reference: it takes at most 13 itself */
    SL_REFERENCES_MAX = 65535, /* a frame */
    SL_FEEDBACK_MAX = 1024     /* bytes of the longest feedback */
};

struct sl_redundancy_config {
    uint64_t cache_len; /* bytes of log that are kept: SL_REDUNDANCY_CACHE_MIN to the machine's
                           memory; the encoder keeps batch_len more */
    uint64_t index_len; /* bytes of the fingerprint index; 0: 8 for every `period` bytes of cache
                           and a third more */
    uint32_t batch_len; /* bytes: the most payload of a batch, items rounded up to SL_BATCH_ALIGN */
    uint32_t max_items; /* items a batch */
    uint32_t frame_max; /* bytes of the longest packet, at most SL_FRAME_MAX; the decoder's is not
                           below the encoder's, or longer packets never arrive */
    uint32_t window;    /* bytes that a sample's fingerprint covers: the sampler's */
    uint32_t period;    /* bytes: the sampler's, for the index's size */
    uint32_t min_match; /* bytes: a shorter match is no reference, but see sl_match; at least
                           SL_REFERENCE_MIN */
    bool chunks;        /* refer to the sampled window alone (the papers' mode, DYNABYTE); else
                           matches are expanded both ways, and go on behind bytes that differ */
    bool acknowledged;  /* refer only to what feedback has acknowledged, for links that lose;
                           else a loss may cost the packets of a round trip */
    uint32_t n_in_flight; /* acknowledged: frames awaiting feedback, a power of two; older ones
                             are taken as lost */
    uint32_t epoch;       /* an encoder's first. Of two epochs the later is the one that is ahead by
                             less than 2^31 (RFC 1982); each start should take a later one, such as
                             the time in seconds. One that is not costs a round trip */
};

/* 64 MiB of cache, batches of 4 MiB and 16,384 items, packets of 65,535 bytes, window 32, period
 * 32, references of at least the window, expanded, not acknowledged, 4,096 frames in flight. */
SL_API void sl_redundancy_config_init(struct sl_redundancy_config *config);

/* ---- matcher: what of a batch is in the log -------------------------------------------------- */

/* `len` bytes at `offset` of the item's payload equal those at log offset `source`. The source
 * begins before the bytes themselves do; it may reach into them (a run that repeats itself), then
 * it begins in the same item. */
struct sl_match {
    uint64_t source;
    uint32_t item;
    uint32_t offset; /* bytes from the payload's first */
    uint32_t len;    /* bytes, at least min_match; at the distance of a match beside it half of
                        that and SL_REFERENCE_MIN are enough */
};

struct sl_matcher_stats {
    uint64_t bytes;   /* payload seen */
    uint64_t samples; /* hits taken */
    uint64_t probes;  /* of these, looked up: the others lay in a match already */
    uint64_t found;   /* fingerprints that were in the index */
    uint64_t matches;
    uint64_t matched_bytes;
};

struct sl_matcher;

/* SL_EINVAL: a value out of its range. SL_ENOMEM: more than the machine's memory (diag says how
 * much there is), or the system has no more. */
SL_CHECK SL_API enum sl_status sl_matcher_create(struct sl_matcher **matcher,
                                                 const struct sl_redundancy_config *config,
                                                 struct sl_diag *diag);

/* Finds the matches of a host batch and appends its payloads to the log, in order, each beginning
 * at a multiple of SL_BATCH_ALIGN. `hits` are a sampler's of this batch, in any order; they are
 * sorted where they are not. Hits whose window leaves the payload are passed over. Matches are
 * ordered by item and offset, do not overlap, and are valid until the next call. SL_EINVAL: the
 * batch is above the limits of the config. */
SL_CHECK SL_API enum sl_status sl_matcher_batch(struct sl_matcher *matcher,
                                                const struct sl_batch *batch, struct sl_hits *hits,
                                                const struct sl_match **matches, size_t *n_matches,
                                                struct sl_diag *diag);

/* Log offset of an item of the last batch. */
SL_API uint64_t sl_matcher_position(const struct sl_matcher *matcher, uint32_t item);

SL_API void sl_matcher_stats(const struct sl_matcher *matcher, struct sl_matcher_stats *stats);

/* Accepts NULL. */
SL_API void sl_matcher_free(struct sl_matcher *matcher);

/* ---- live: packets to frames and back -------------------------------------------------------- */

/* Frames may be lost, reordered, repeated and damaged, feedback too, and either side may start anew
 * at any time: a packet is delivered as it was, or not at all. Whatever went before, packets that
 * are encoded after two pieces of feedback have come through, of which the second was written after
 * a frame encoded under the first had come, are delivered when their frames come. One does but
 * where the epochs lie 2^31 apart. That holds with and without `acknowledged`; with it, single
 * losses do not cost later packets, without it each may cost those of a round trip.
 *
 * Frames and feedback are not secret and not signed: XXH3 finds accidents, and who can forge
 * feedback can make the encoder begin new epochs and send packets again, though never make a wrong
 * byte of frames that are whole. Encrypt and authenticate both (after encoding), and use a pair of
 * caches for each tenant, as lengths tell what was sent before. Packets that are encrypted already
 * have nothing to find; send them past the encoder. */

struct sl_encoder_stats {
    struct sl_matcher_stats match;
    uint64_t frames, frame_bytes; /* written, resent ones included */
    uint64_t raw_frames;          /* of these, without a reference */
    uint64_t resent;
    uint64_t acknowledged; /* frames */
    uint64_t expired;      /* frames that left the table of those in flight unacknowledged */
    uint64_t bad_feedback; /* damaged, foreign or of another epoch */
    uint64_t epochs;       /* begun, the first included */
};

struct sl_encoder;

/* As sl_matcher_create. */
SL_CHECK SL_API enum sl_status sl_encoder_create(struct sl_encoder **encoder,
                                                 const struct sl_redundancy_config *config,
                                                 struct sl_diag *diag);

/* Takes a batch of packets, as sl_matcher_batch does; sl_encoder_frame then gives their frames. The
 * batch is lent until the next call. SL_EINVAL: the batch is above the limits. */
SL_CHECK SL_API enum sl_status sl_encoder_batch(struct sl_encoder *encoder,
                                                const struct sl_batch *batch, struct sl_hits *hits,
                                                struct sl_diag *diag);

/* Writes the frame of an item of the batch to `frame`, which has room for its payload and
 * SL_FRAME_HEADER_LEN bytes. Returns the frame's length: never more than that. Items in ascending
 * order are fastest. */
SL_API uint32_t sl_encoder_frame(struct sl_encoder *encoder, uint32_t item, uint8_t *frame);

/* Takes what the decoder's side sent (sl_decoder_feedback). Any bytes are safe. */
SL_API void sl_encoder_feedback(struct sl_encoder *encoder, const uint8_t *feedback, size_t len);

/* The next packet that the decoder could not resolve, as a frame without references; `frame` has
 * room for frame_max and SL_FRAME_HEADER_LEN bytes. Returns 0 where there is none. */
SL_API uint32_t sl_encoder_resend(struct sl_encoder *encoder, uint8_t *frame);

SL_API void sl_encoder_stats(const struct sl_encoder *encoder, struct sl_encoder_stats *stats);

/* Accepts NULL. */
SL_API void sl_encoder_free(struct sl_encoder *encoder);

/* What became of a frame. */
enum sl_frame_verdict {
    SL_FRAME_DELIVERED,
    SL_FRAME_REPEATED,   /* it was delivered before */
    SL_FRAME_LATE,       /* it refers to the log of an epoch that ended */
    SL_FRAME_UNRESOLVED, /* it refers to log that is not here; feedback will ask for it */
    SL_FRAME_DAMAGED,    /* no frame, or not as it was sent */
    SL_FRAME_VERDICTS    /* how many there are */
};

struct sl_decoder_stats {
    uint64_t frames[SL_FRAME_VERDICTS];
    uint64_t bytes;  /* of packets delivered */
    uint64_t epochs; /* adopted */
    uint64_t holes;  /* bytes of log that were passed over: frames missing when a later one came */
};

struct sl_decoder;

/* Of the config it uses cache_len and frame_max. As sl_matcher_create; SL_EIO: the system has no
 * random number. */
SL_CHECK SL_API enum sl_status sl_decoder_create(struct sl_decoder **decoder,
                                                 const struct sl_redundancy_config *config,
                                                 struct sl_diag *diag);

/* Takes a frame as it came; any bytes are safe: memory is bounded by the config, time by the
 * frame's length and frame_max, a hole's by cache_len / 1,024. SL_FRAME_DELIVERED: *packet,
 * *packet_len are the packet, valid until the next call; otherwise they are NULL and 0. Repeated
 * packets are known while their place in the log is kept; later ones, those of an epoch that ended,
 * and packets without bytes are delivered each time. */
SL_API enum sl_frame_verdict sl_decoder_decode(struct sl_decoder *decoder, const uint8_t *frame,
                                               size_t len, const uint8_t **packet,
                                               uint32_t *packet_len);

/* Writes what the encoder's side should know, to be sent every so often (some times a round trip),
 * and soon after SL_FRAME_UNRESOLVED: what has come and what is to be sent again. It tells the
 * state, so that one that is lost is made good by the next. Returns its length. */
SL_API uint32_t sl_decoder_feedback(struct sl_decoder *decoder, uint8_t feedback[SL_FEEDBACK_MAX]);

SL_API void sl_decoder_stats(const struct sl_decoder *decoder, struct sl_decoder_stats *stats);

/* Accepts NULL. */
SL_API void sl_decoder_free(struct sl_decoder *decoder);

/* ---- files ----------------------------------------------------------------------------------- */

/* A file is encoded as the bytes that it is: captures of any format and in any condition, and
 * anything else, come back bit for bit. Each frame carries a part of it and is checked by itself;
 * the order of frames and the end are checked too. */

enum { SL_REDUNDANCY_LEVEL_MAX = 22 };

struct sl_redundancy_file_config {
    struct sl_sampling_config sampling;
    uint64_t cache_len; /* bytes, as in sl_redundancy_config; encoding alone: the file tells it */
    int level;          /* zstd's, 1 to SL_REDUNDANCY_LEVEL_MAX; 0: what no reference replaces is
                           stored as it is */

    bool whole_batches;       /* as sluice/batch_encoder.h encodes; else as sl_encoder does */
    enum sl_device_kind kind; /* whole batches: where, */
    int device;               /* and CUDA: the device's index */

    /* Called after each frame, where not NULL: bytes read and written so far. Encoding also with
     * 0, 0, before anything is written: all that the config asks for is there. */
    void (*progress)(void *user, uint64_t bytes_in, uint64_t bytes_out);
    void *user;
};

struct sl_redundancy_file_stats {
    uint64_t bytes_in, bytes_out; /* of the files; of a decoder's output all has been checked */
    uint64_t frames;
    uint64_t residual_bytes;       /* encoding: what was left to zstd, frame headers excluded */
    struct sl_matcher_stats match; /* encoding */
};

/* The sampler's defaults, 256 MiB of cache, zstd level 9, as sl_encoder does. */
SL_API void sl_redundancy_file_config_init(struct sl_redundancy_file_config *config);

/* Encodes all that can be read from descriptor `in` to `out`; either may be a pipe. SL_EIO: the
 * system refused a read or a write. SL_EINVAL, SL_ENOMEM: the config, as sl_matcher_create and
 * sl_sampling_build. Whole batches: as sl_batch_encoder_create; SL_EDEVICE. */
SL_CHECK SL_API enum sl_status
sl_redundancy_encode_file(int in, int out, const struct sl_redundancy_file_config *config,
                          struct sl_redundancy_file_stats *stats, struct sl_diag *diag);

/* Decodes what sl_redundancy_encode_file wrote. Only checked bytes are written, and all that come
 * before the first failure. Of the config it uses progress. SL_EFORMAT: no such file, or damaged;
 * SL_ETRUNCATED: it ends early; SL_EUNSUPPORTED: a newer version; SL_ENOMEM: this machine has not
 * the cache that it needs. diag names the frame, from 1, its place and the reason. SL_EIO. */
SL_CHECK SL_API enum sl_status
sl_redundancy_decode_file(int in, int out, const struct sl_redundancy_file_config *config,
                          struct sl_redundancy_file_stats *stats, struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
