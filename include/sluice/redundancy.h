/* SPDX-License-Identifier: MIT */
/* Redundancy elimination: content that was sent before is sent as a reference.
 *
 * The log is the sequence of all bytes encoded, addressed by 64-bit offsets. Both sides keep its
 * last `cache_len` bytes, the packet cache. The encoder's fingerprint index finds where content was
 * seen before, and the encoder compares the bytes before it refers to them. A frame carries one
 * packet as references (log offset, length) and the bytes between them. The decoder needs no index
 * and no fingerprints. docs/frames.md describes frames, feedback and files byte by byte.
 *
 * After: Spring and Wetherall (2000); Rabin fingerprinting on GPUs (TPDS 2016), sections 2 and 5;
 * DYNABYTE. The samples are those of any sampler of sluice/sampling.h.
 *
 * This header has five parts: the matcher, the encoder and decoder of a live link, and the encoder
 * of whole batches on a GPU. Files and savings in a traffic follow.
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

/* The smallest packet cache, bytes. */
#define SL_REDUNDANCY_CACHE_MIN (UINT64_C(1) << 20)

/* Bounds of frames and feedback. */
enum {
    SL_FRAME_HEADER_LEN = 24,  /* bytes that a frame may be longer than its packet */
    SL_FRAME_MAX = 1 << 20,    /* bytes of the longest packet that a frame carries */
    SL_REFERENCE_MIN = 16,     /* bytes of the shortest reference, which itself takes at most 13 */
    SL_REFERENCES_MAX = 65535, /* references a frame */
    SL_FEEDBACK_MAX = 1024,    /* bytes of the longest feedback */
    SL_FEEDBACK_MS = 5         /* how long a tunnel gathers its feedback */
};

/* The configuration of a matcher, an encoder or a decoder. */
struct sl_redundancy_config {
    uint64_t cache_len;   /* bytes of log that are kept: SL_REDUNDANCY_CACHE_MIN to the machine's
                             memory; the encoder keeps batch_len more */
    uint64_t index_len;   /* bytes of the fingerprint index; 0: 8 for every `period` bytes of cache
                             and a third more */
    uint32_t batch_len;   /* bytes: the most payload of a batch, items rounded up to SL_BATCH_ALIGN;
                             at least that */
    uint32_t max_items;   /* items a batch, 1 to 2^31 - 1 */
    uint32_t frame_max;   /* bytes of the longest packet, 1 to SL_FRAME_MAX; a decoder with less
                             than its encoder never delivers longer packets */
    uint32_t window;      /* bytes that a sample's fingerprint covers: the sampler's */
    uint32_t period;      /* bytes: the sampler's, for the index's size */
    uint32_t min_match;   /* bytes: a shorter match is no reference, but see sl_match;
                             SL_REFERENCE_MIN to frame_max, and in chunks at most window */
    bool chunks;          /* references cover the sampled window alone (the papers' mode, DYNABYTE);
                             otherwise matches expand both ways and across bytes that differ */
    bool acknowledged;    /* references are made only to what feedback has acknowledged, for links
                             that lose; otherwise a loss may cost the packets of a round trip */
    uint32_t n_in_flight; /* acknowledged: frames awaiting feedback, a power of two up to 2^24;
                             older ones count as lost */
    uint32_t epoch;       /* an encoder's first. Of two epochs the later is the one that is ahead by
                             less than 2^31 (RFC 1982). Each start should take a later one, such as
                             the time in seconds; an earlier one costs a round trip */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* Sets 64 MiB of cache, batches of 4 MiB and 16,384 items, and packets of 65,535 bytes. Window and
 * period are 32, references at least 32 bytes, and expanded. Nothing is acknowledged; 4,096 frames
 * are in flight. */
SL_API void sl_redundancy_config_init(struct sl_redundancy_config *config);

/* ---- matcher: the parts of a batch that are in the log --------------------------------------- */

/* `len` bytes at `offset` of the item's payload equal those at log offset `source`. The source
 * begins before the bytes themselves do. Where it reaches into them (a run that repeats itself), it
 * begins in the same item. */
struct sl_match {
    uint64_t source;
    uint32_t item;
    uint32_t offset; /* bytes from the payload's first */
    uint32_t len;    /* bytes, at least min_match; at the distance of a match beside it half of
                        that and SL_REFERENCE_MIN are enough */
};

/* Counters of a matcher. */
struct sl_matcher_stats {
    uint64_t bytes;   /* payload seen */
    uint64_t samples; /* hits taken */
    uint64_t probes;  /* of these, looked up in the index: a match covered the others already */
    uint64_t found;   /* fingerprints that were in the index */
    uint64_t matches;
    uint64_t matched_bytes;
};

/* Packet cache and index of the sender's side. */
struct sl_matcher;

/* Makes a matcher. The caller frees it. SL_EINVAL: a value is out of its range. SL_ENOMEM: the
 * config needs more than the machine's memory (diag has both), or the system has no more. */
SL_CHECK SL_API enum sl_status sl_matcher_create(struct sl_matcher **matcher,
                                                 const struct sl_redundancy_config *config,
                                                 struct sl_diag *diag);

/* Finds the matches of a host batch and appends its payloads to the log, in order. Each payload
 * begins at a multiple of SL_BATCH_ALIGN. `hits` are a sampler's of this batch, in any order; the
 * matcher sorts them where they are not sorted. Hits whose window leaves the payload are skipped.
 * Matches are ordered by item and offset, do not overlap, and are valid until the next call of this
 * function. SL_EINVAL: the batch is above the limits of the config or lies on a GPU, or a hit has
 * an item behind its last. Nothing was appended. */
SL_CHECK SL_API enum sl_status sl_matcher_batch(struct sl_matcher *matcher,
                                                const struct sl_batch *batch, struct sl_hits *hits,
                                                const struct sl_match **matches, size_t *n_matches,
                                                struct sl_diag *diag);

/* Returns the log offset of an item of the last batch, below its n_items. */
SL_API uint64_t sl_matcher_position(const struct sl_matcher *matcher, uint32_t item);

/* Copies the counters. */
SL_API void sl_matcher_stats(const struct sl_matcher *matcher, struct sl_matcher_stats *stats);

/* Accepts NULL. */
SL_API void sl_matcher_free(struct sl_matcher *matcher);

/* ---- live: packets to frames and back -------------------------------------------------------- */

/* The link may lose, reorder, repeat and damage frames and feedback, and either side may start anew
 * at any time. A packet is delivered as it was, or not at all. Two pieces of feedback end any
 * state: the second one must be written after a frame encoded under the first one has come. Packets
 * encoded after both have come through are delivered when their frames come. One piece suffices
 * unless the epochs lie 2^31 apart. That holds with and without `acknowledged`. With it, single
 * losses cost no later packets; without it, each may cost those of a round trip.
 *
 * Frames and feedback are not secret and not signed: XXH3 finds accidents alone. An attacker with
 * forged feedback can make the encoder begin new epochs and resend packets. No forged feedback
 * makes a wrong byte of frames that are whole. Encrypt and authenticate both after encoding. Use a
 * pair of caches for each tenant, because lengths reveal what was sent before. Packets that are
 * encrypted already have no repeats; send them past the encoder. */

/* Counters of an encoder. */
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

/* The sender's side of a link. */
struct sl_encoder;

/* Makes an encoder. The caller frees it. Statuses are those of sl_matcher_create. */
SL_CHECK SL_API enum sl_status sl_encoder_create(struct sl_encoder **encoder,
                                                 const struct sl_redundancy_config *config,
                                                 struct sl_diag *diag);

/* Takes a batch of packets, as sl_matcher_batch does; sl_encoder_frame then writes their frames.
 * The batch is lent until the next call of this function. Statuses are those of sl_matcher_batch.
 */
SL_CHECK SL_API enum sl_status sl_encoder_batch(struct sl_encoder *encoder,
                                                const struct sl_batch *batch, struct sl_hits *hits,
                                                struct sl_diag *diag);

/* Writes the frame of an item of the batch to `frame`, which has room for its payload and
 * SL_FRAME_HEADER_LEN bytes. Returns the frame's length, which never exceeds that room. Items in
 * ascending order are fastest. */
SL_API uint32_t sl_encoder_frame(struct sl_encoder *encoder, uint32_t item, uint8_t *frame);

/* Takes len bytes of feedback from the decoder's side (sl_decoder_feedback). Any bytes are safe. */
SL_API void sl_encoder_feedback(struct sl_encoder *encoder, const uint8_t *feedback, size_t len);

/* Begins a new epoch: nothing sent before is referred to. `feedback` is of the decoder that the
 * frames go to from now on, and the epoch is later than that decoder's, too; any bytes are safe. It
 * may be NULL where len is 0. A caller that knows of another decoder saves the frames that would be
 * unresolved until feedback names it. */
SL_API void sl_encoder_restart(struct sl_encoder *encoder, const uint8_t *feedback, size_t len);

/* Writes the next packet that the decoder could not resolve, as a frame without references. `frame`
 * has room for frame_max and SL_FRAME_HEADER_LEN bytes. Returns its length in bytes; 0: there is
 * none. */
SL_API uint32_t sl_encoder_resend(struct sl_encoder *encoder, uint8_t *frame);

/* Copies the counters. */
SL_API void sl_encoder_stats(const struct sl_encoder *encoder, struct sl_encoder_stats *stats);

/* Accepts NULL. */
SL_API void sl_encoder_free(struct sl_encoder *encoder);

/* The fate of a frame. */
enum sl_frame_verdict {
    SL_FRAME_DELIVERED,
    SL_FRAME_REPEATED,   /* its packet was delivered before */
    SL_FRAME_LATE,       /* it refers to the log of an epoch that ended */
    SL_FRAME_UNRESOLVED, /* it refers to log that is not here; feedback will ask for it */
    SL_FRAME_DAMAGED,    /* no frame, or not as it was sent */
    SL_N_FRAME_VERDICTS  /* how many verdicts there are */
};

/* Counters of a decoder. */
struct sl_decoder_stats {
    uint64_t frames[SL_N_FRAME_VERDICTS]; /* by verdict */
    uint64_t bytes;                       /* of packets delivered */
    uint64_t epochs;                      /* adopted */
    uint64_t holes; /* bytes of log that were skipped: frames missing when a later one came */
};

/* The receiver's side of a link. */
struct sl_decoder;

/* Makes a decoder, which reads cache_len and frame_max of the config. The caller frees it. Statuses
 * are those of sl_matcher_create. SL_EIO: the system has no random number. */
SL_CHECK SL_API enum sl_status sl_decoder_create(struct sl_decoder **decoder,
                                                 const struct sl_redundancy_config *config,
                                                 struct sl_diag *diag);

/* Takes a frame as it came. Any bytes are safe: the config bounds memory; the frame's length and
 * frame_max bound time; cache_len / 1,024 bounds the time of a hole. SL_FRAME_DELIVERED: *packet
 * and *packet_len are the packet, valid until the next call of this function; otherwise they are
 * NULL and 0. A repeat is recognised while its place in the log is kept. Packets that come later,
 * those of an epoch that ended, and packets without bytes are delivered each time. */
SL_API enum sl_frame_verdict sl_decoder_decode(struct sl_decoder *decoder, const uint8_t *frame,
                                               size_t len, const uint8_t **packet,
                                               uint32_t *packet_len);

/* Writes feedback for the encoder's side: the frames that have come, and those to be sent again.
 * The caller sends it a few times a round trip, and soon after SL_FRAME_UNRESOLVED. It carries the
 * state, not its changes, so the next one makes up for a lost one. Returns its length in bytes. */
SL_API uint32_t sl_decoder_feedback(struct sl_decoder *decoder, uint8_t feedback[SL_FEEDBACK_MAX]);

/* Copies the counters. */
SL_API void sl_decoder_stats(const struct sl_decoder *decoder, struct sl_decoder_stats *stats);

/* Accepts NULL. */
SL_API void sl_decoder_free(struct sl_decoder *decoder);

/* ---- whole batches to frames on a GPU -------------------------------------------------------- */

/* Packet cache and fingerprint index lie in the GPU's memory, and all packets of a batch are
 * matched at once. The frames are those of docs/frames.md, and sl_decoder gives the packets back.
 * They are not the same bytes as sl_encoder's. Samples are looked up among those of the batches
 * before, of which the newest counts. They are also looked up among those of their own batch, of
 * which the first counts. The frames depend on what was encoded and in which batches alone: every
 * run gives the same.
 *
 * It is for links that bring all frames in order, and for files. This encoder refers to all that it
 * has encoded, and takes no feedback. It begins a new epoch only where offsets come to their end.
 */

enum { SL_BATCH_ENCODER_IN_FLIGHT = 4 }; /* batches that are submitted and not waited for */

/* The configuration of an encoder of batches. */
struct sl_batch_encoder_config {
    /* As sl_encoder's, with these differences: batch_len is the most arena of a batch, at most 1
     * GiB; index_len is below 32 GiB, and 0 is 16 bytes for every `period` bytes of cache; chunks
     * and acknowledged are not supported. */
    struct sl_redundancy_config redundancy;
    const struct sl_sampling_table *sampling; /* not NULL; outlives the encoder */
    enum sl_device_kind kind; /* SL_DEVICE_CPU: the same steps one after the other on one core, as a
                                 proof where no GPU is; sl_encoder is what a CPU runs well */
    int device;               /* CUDA: the device's index */
    uint32_t max_wait_ms;     /* CUDA: for a batch, as in struct sl_limits */
    bool frames_stay;         /* CUDA: frames are left in the GPU's memory */
    uint64_t reserved[4];     /* 0: room to grow */
};

/* Sets sl_redundancy_config_init's values, the CPU, no sampler, and no limit of the wait. */
SL_API void sl_batch_encoder_config_init(struct sl_batch_encoder_config *config);

/* The frames of a batch, valid until the next submit or wait. */
struct sl_frames {
    uint32_t n;            /* as many as the batch had items, in their order */
    const uint32_t *begin; /* n + 1: bytes before each frame; the last is the length of all. In the
                              GPU's memory where frames stay there */
    const uint8_t *bytes;  /* in the same memory */
    uint64_t len;          /* bytes of all frames */
};

/* Counters of an encoder of batches. */
struct sl_batch_encoder_stats {
    uint64_t items, bytes; /* bytes of payload */
    uint64_t samples;      /* taken. The encoder has room for 4 times what the period promises;
                              it leaves out hits beyond that */
    uint64_t matches, matched_bytes;
    uint64_t frame_bytes;
    uint64_t epochs; /* begun, the first included */
};

/* An encoder of batches. */
struct sl_batch_encoder;

/* Makes an encoder. The caller frees it. SL_EINVAL: a value is out of its range, or there is no
 * sampler. SL_EUNSUPPORTED: chunks, acknowledged, or a sampler that has no backend there (diag has
 * the reason). SL_ENOMEM: of a GPU, diag has the bytes needed and the bytes free. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_batch_encoder_create(struct sl_batch_encoder **encoder,
                                                       const struct sl_batch_encoder_config *config,
                                                       struct sl_diag *diag);

/* Starts a batch, which is lent until its wait has returned. On a GPU it is a stage's view. Steps
 * that do not need the batch before run on the view's stream. On a CPU it is a host batch. At most
 * SL_BATCH_ENCODER_IN_FLIGHT are in flight. SL_EINVAL: the batch is in the wrong memory or above
 * the limits, or too many are in flight; nothing was done. SL_EDEVICE: the encoder is of no use any
 * more. */
SL_CHECK SL_API enum sl_status sl_batch_encoder_submit(struct sl_batch_encoder *encoder,
                                                       const struct sl_batch *batch);

/* Ends the oldest batch that was submitted and sets *frames to its frames. SL_EINVAL: no batch was
 * submitted. SL_EINVAL also: a packet is longer than frame_max or not in the arena; or all, each
 * rounded up to SL_BATCH_ALIGN, are longer than batch_len. The batch then has no frames, and later
 * frames are as without it. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_batch_encoder_wait(struct sl_batch_encoder *encoder,
                                                     struct sl_frames *frames);

/* Copies the counters. */
SL_API void sl_batch_encoder_stats(const struct sl_batch_encoder *encoder,
                                   struct sl_batch_encoder_stats *stats);

/* Accepts NULL. No batch may be in flight, except after SL_EDEVICE. */
SL_API void sl_batch_encoder_free(struct sl_batch_encoder *encoder);

/* ---- files ----------------------------------------------------------------------------------- */

/* A file is encoded as bytes. So captures of any format and in any condition, and anything else,
 * come back bit for bit. Each frame carries a part of the file and a check of its own. The decoder
 * also checks the order of frames and the end. */

enum {
    SL_REDUNDANCY_LEVEL_MAX = 22,  /* zstd's highest level */
    SL_REDUNDANCY_THREADS_MAX = 64 /* of encoding a file */
};

/* The configuration of encoding and decoding a file. */
struct sl_redundancy_file_config {
    struct sl_sampling_config sampling;
    uint64_t cache_len;  /* bytes, as in sl_redundancy_config; encoding alone: the file holds it */
    int level;           /* zstd's, 1 to SL_REDUNDANCY_LEVEL_MAX; 0: bytes that no reference
                            replaces are stored as they are */
    uint64_t output_max; /* decoding: bytes of its output, at most; 0: no limit */

    bool whole_batches;       /* as sl_batch_encoder encodes; otherwise on all cores */
    enum sl_device_kind kind; /* whole batches: the kind of device, */
    int device;               /* and CUDA: the device's index */
    bool flush; /* encoding: each read of the input ends a frame, so that nothing waits for more;
                   not with whole_batches */

    /* Descriptors of a cache that outlives its run; not with whole_batches. -1: none. A file that
     * is encoded after a cache is decoded after the same one, and names it. */
    int cache_in;  /* the cache of an earlier run; an empty file is an empty cache */
    int cache_out; /* where this run writes it, if it ends with SL_OK */

    /* Called after each frame, where not NULL: bytes read and written so far. Encoding also calls
     * it with 0, 0 before anything is written: all memory of the config is there. */
    void (*progress)(void *user, uint64_t bytes_in, uint64_t bytes_out);
    void *user;
    uint32_t n_threads;   /* encoding: that find repeats, and as many for zstd, at most
                             SL_REDUNDANCY_THREADS_MAX; decoding a regular file: 1 is the caller's,
                             more read ahead and write; 0: one a core. Output depends on none */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* Counters of a file. */
struct sl_redundancy_file_stats {
    uint64_t bytes_in, bytes_out; /* of the files; all bytes of a decoder's output were checked */
    uint64_t frames;
    uint64_t residual_bytes;       /* encoding: bytes that zstd got, frame headers excluded */
    struct sl_matcher_stats match; /* encoding */
};

/* Sets the sampler's defaults but for a period of 32, 256 MiB of cache that is not kept, and zstd
 * level 9. Threads are as many as cores, and output has no limit. */
SL_API void sl_redundancy_file_config_init(struct sl_redundancy_file_config *config);

/* Encodes all that can be read from descriptor `in` to `out`; either may be a pipe. SL_EIO: the
 * system refused a read or a write. SL_EINVAL, SL_ENOMEM, SL_EUNSUPPORTED: the config, as
 * sl_matcher_create and sl_sampling_build. SL_EINVAL also: a level out of its range, or
 * whole_batches with flush or a cache. SL_EFORMAT, SL_ETRUNCATED: cache_in is no cache, or a
 * damaged one. Whole batches: as sl_batch_encoder_create; SL_EDEVICE. */
SL_CHECK SL_API enum sl_status
sl_redundancy_encode_file(int in, int out, const struct sl_redundancy_file_config *config,
                          struct sl_redundancy_file_stats *stats, struct sl_diag *diag);

/* Decodes what sl_redundancy_encode_file wrote, also several such files one after another. The
 * decoder writes checked bytes alone, and all of them before the first failure. A frame's bytes are
 * written before the next is read, but for a regular file that threads read ahead. Of the config it
 * reads output_max, progress, the caches and n_threads. SL_EFORMAT: no such file, a damaged one, or
 * one that was encoded after another cache. SL_ETRUNCATED: the file ends early. SL_EOVERFLOW: the
 * next frame exceeds output_max. SL_EUNSUPPORTED: a newer version. SL_ENOMEM: the machine lacks
 * memory for the file's cache. SL_EIO. diag has the frame, from 1, its place and the reason. */
SL_CHECK SL_API enum sl_status
sl_redundancy_decode_file(int in, int out, const struct sl_redundancy_file_config *config,
                          struct sl_redundancy_file_stats *stats, struct sl_diag *diag);

/* ---- savings of redundancy elimination, without encoding ------------------------------------- */

/* All counts are of payload bytes. Gross: bytes that are in the packet cache already. Net: gross
 * less what the references to them take. Frames: net, less SL_FRAME_HEADER_LEN bytes for each
 * packet with a payload, which becomes a frame in a tunnel; it may be below 0. */

/* Bytes and packets. */
struct sl_savings_count {
    uint64_t packets;         /* with a payload */
    uint64_t bytes;           /* of payload */
    uint64_t matched_bytes;   /* gross */
    uint64_t reference_bytes; /* bytes of the references: net = matched - reference bytes */
};

/* A part of the traffic: a flow, a protocol and its server's port, or an interval. */
struct sl_savings_row {
    uint64_t flow;    /* flows: origin.flow */
    uint16_t port;    /* ports: of the server */
    uint8_t protocol; /* IP protocol number */
    struct sl_savings_count count;

    /* intervals */
    int64_t time_ns; /* of the first packet */
    uint64_t samples;
    uint64_t eligible; /* bytes at which a sample may begin: one in eligible / samples is one */
};

/* The configuration of savings. */
struct sl_savings_config {
    struct sl_redundancy_config redundancy;
    uint64_t interval_len; /* bytes of payload an interval; 0: by time */
    int64_t interval_ns;   /* where interval_len is 0; 0: the traffic is one interval */
    uint32_t rtt_ms;       /* up to 60,000: as in a tunnel over a link of that round trip, a packet
                              refers to what was acknowledged by its time. Half of SL_FEEDBACK_MS
                              is added. 0: it refers to all before it */
    uint64_t reserved[4];  /* 0: room to grow */
};

/* Sets sl_redundancy_config_init's values, intervals of 100,000,000 bytes and no round trip. */
SL_API void sl_savings_config_init(struct sl_savings_config *config);

/* Savings of a traffic. */
struct sl_savings;

/* Makes a count of savings. The caller frees it. Statuses are those of sl_matcher_create. SL_EINVAL
 * also: a round trip out of its range. */
SL_CHECK SL_API enum sl_status sl_savings_create(struct sl_savings **savings,
                                                 const struct sl_savings_config *config,
                                                 struct sl_diag *diag);

/* Counts a dissected host batch, in the order of the traffic; `hits` are a sampler's of this batch.
 * Intervals end between batches. Statuses are those of sl_matcher_batch. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_savings_batch(struct sl_savings *savings,
                                                const struct sl_batch *batch, struct sl_hits *hits,
                                                struct sl_diag *diag);

/* Sets *total to all of the traffic, as one row. */
SL_API void sl_savings_total(const struct sl_savings *savings, struct sl_savings_row *total);

/* Each writes the rows with the most matched bytes, the largest first, at most max of them. Returns
 * how many it wrote. Protocols are all IP protocols seen; ports are those of TCP and UDP. The table
 * of flows holds 1,048,576; flows that come later are not listed. */
SL_API size_t sl_savings_protocols(const struct sl_savings *savings, struct sl_savings_row *rows,
                                   size_t max);
SL_API size_t sl_savings_ports(const struct sl_savings *savings, struct sl_savings_row *rows,
                               size_t max);
SL_API size_t sl_savings_flows(const struct sl_savings *savings, struct sl_savings_row *rows,
                               size_t max);

/* Returns the *n intervals in order, the last perhaps short. They are owned by `savings`, and valid
 * until the next batch. */
SL_API const struct sl_savings_row *sl_savings_intervals(const struct sl_savings *savings,
                                                         size_t *n);

/* Accepts NULL. */
SL_API void sl_savings_free(struct sl_savings *savings);

#ifdef __cplusplus
}
#endif
#endif
