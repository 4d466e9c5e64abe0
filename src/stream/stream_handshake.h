/* SPDX-License-Identifier: MIT */
/* How halves begin. */
#ifndef STREAM_STREAM_HANDSHAKE_H
#define STREAM_STREAM_HANDSHAKE_H

#include "stream_half.h"

/* Starts the segment's half where it has not. The segment has no RST. False: it is left out. */
bool stream_handshake(const struct stream_site *site, const struct stream_segment *segment);

#endif
