/* SPDX-License-Identifier: MIT */
#ifndef ENGINES_HEADER_TILES_H
#define ENGINES_HEADER_TILES_H

#include "sluice/engine.h"

extern const struct sl_backend header_tiles;

#endif
