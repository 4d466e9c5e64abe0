/* SPDX-License-Identifier: MIT */
/* A piece of a file on its way to a frame. Pieces have one order, and the cache one log. Each step
 * of a piece may run on any thread, and the frame does not depend on that:
 *
 *   placed    in the order of the file (shared_cache_place)
 *   loaded    once all pieces of rounds before are copied to the log
 *   looked up by each part of the cache in the order of the file (shared_cache_look_up)
 *   matched   once all parts have looked up */
#ifndef REDUNDANCY_FILE_PIECE_H
#define REDUNDANCY_FILE_PIECE_H

#include "file_encoder.h"
#include "redundancy/match/matcher.h"
#include "redundancy/match/shared_cache.h"

struct file_piece {
    struct sl_batch batch; /* one item, or none */
    struct sl_span payload;
    uint16_t overlap;
    struct sl_hits hits; /* its samples */
    struct cached_batch cached;
    bool goes_on;         /* as the log does: one match has all of it */
    struct sl_match last; /* the last one; of length 0: none */
    uint8_t *frame;
    uint32_t frame_len;
    enum sl_status status; /* of loading */
    struct sl_diag diag;
};

/* What a thread takes to a piece. */
struct piece_tools {
    const struct sl_backend *sampler;
    void *context;
    struct match_search search; /* counts */
    struct hits_scratch scratch;
};

/* Bytes of a piece and its frame. They lie in memory of the caller, which has zeros at first. */
enum {
    PIECE_FRAME = FILE_PACKET_LEN + SL_BATCH_SLACK,
    PIECE_ROOM = PIECE_FRAME + FILE_PACKET_LEN + 64
};

/* SL_ENOMEM, SL_EUNSUPPORTED. Both are to be closed then, too; zeroed ones can be. */
enum sl_status piece_open(struct file_piece *piece, uint8_t *room,
                          const struct sl_redundancy_file_config *config, struct sl_diag *diag);
void piece_close(struct file_piece *piece);
enum sl_status piece_tools_open(struct piece_tools *tools, const struct file_encoder *e,
                                struct sl_diag *diag);
void piece_tools_close(struct piece_tools *tools);

/* Loads: piece->status. Copies the piece, whose batch has its bytes, to the log. Samples it, unless
 * it equals the log `distance` bytes before it, which is of rounds before; 0: no such log. */
void piece_load(struct file_piece *piece, struct piece_tools *tools,
                const struct shared_cache *cache, uint64_t distance);

/* Samples alone: for a piece that is in the log. */
void piece_sample(struct file_piece *piece, struct piece_tools *tools);

/* Makes the frame. */
void piece_match(struct file_piece *piece, struct piece_tools *tools,
                 const struct shared_cache *cache, uint32_t epoch);

/* The distance to the log that the piece's end equals, 0: none. Once it is matched. */
uint64_t piece_distance(const struct file_piece *piece);

#endif
