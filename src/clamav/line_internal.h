/* SPDX-License-Identifier: MIT */
/* The readers of lines, by format, and of the fields that these share. */
#ifndef CLAMAV_LINE_INTERNAL_H
#define CLAMAV_LINE_INTERNAL_H

#include "clamav/set.h"

/* ---- formats --------------------------------------------------------------------------------- */

enum clam_taken line_read_ndb(struct sl_clamav_set *set, struct clam_text line);
enum clam_taken line_read_db(struct sl_clamav_set *set, struct clam_text line);
enum clam_taken line_read_ldb(struct sl_clamav_set *set, struct clam_text line);
enum clam_taken line_read_cdb(struct sl_clamav_set *set, struct clam_text line);
enum clam_taken line_read_pwdb(struct sl_clamav_set *set, struct clam_text line);
enum clam_taken line_read_crb(struct sl_clamav_set *set, struct clam_text line);
enum clam_taken line_read_domain(struct sl_clamav_set *set, enum clam_format format,
                                 struct clam_text line);
enum clam_taken line_read_hash(struct sl_clamav_set *set, enum clam_format format,
                               struct clam_text line);

/* Reads the subsignatures that the expression of `sig` names. */
enum clam_taken line_read_subs(struct sl_clamav_set *set, struct clam_text rest,
                               struct clam_sig *sig);

/* ---- fields ---------------------------------------------------------------------------------- */

enum clam_taken line_put_text(struct sl_clamav_set *set, struct clam_text text, uint32_t *index);

/* The same; a name is not empty. */
enum clam_taken line_put_name(struct sl_clamav_set *set, struct clam_text name, uint32_t *index);

/* Reads "X-Y", "X-" or "X". */
bool line_read_span(struct clam_text text, uint64_t max, uint64_t *from, uint64_t *to);

/* Skips what is not for this engine's level. */
enum clam_taken line_check_level(struct sl_clamav_set *set, uint64_t from, uint64_t to);

/* Reads the fields of the engine's level: least, highest. Both may be missing. */
enum clam_taken line_check_levels(struct sl_clamav_set *set, struct clam_text rest,
                                  uint64_t *least);

/* Reads a CL_TYPE_*. */
enum clam_taken line_read_kind(struct sl_clamav_set *set, struct clam_text text, uint8_t *kind);

enum clam_taken line_check_target(struct sl_clamav_set *set, uint64_t target);

/* Reads two hexadecimal digits a byte. False: there are others, or one is left. */
bool line_read_hex(struct clam_text text, uint8_t *bytes);

/* Reads an MD5, SHA-1 or SHA-256. */
bool line_read_digest(struct clam_text text, uint8_t digest[32], uint8_t *kind);

/* A signature that any file of the target may match. NULL: no memory. */
struct clam_sig *line_new_sig(struct sl_clamav_set *set, uint8_t target);

#endif
