/* SPDX-License-Identifier: MIT */
/* How halves begin. */
#ifndef STREAM_STREAM_HANDSHAKE_H
#define STREAM_STREAM_HANDSHAKE_H

#include "stream_half.h"

/* Whether the segment answers a SYN as no host does: without SYN and RST, or with a timestamp that
 * does not echo that of the SYN (CVE-2021-37592). It is left out. */
bool stream_is_early(const struct stream_site *site, const struct stream_segment *segment);

/* Starts the segment's half. */
void stream_handshake_start(const struct stream_site *site, const struct stream_segment *segment);

/* Starts the segment's half where it has not. The segment has no RST. False: it is left out. */
bool stream_handshake(const struct stream_site *site, const struct stream_segment *segment);

#endif
