/* SPDX-License-Identifier: MIT */
#ifndef UNPACK_HTML_ENTITY_H
#define UNPACK_HTML_ENTITY_H

#include <stddef.h>
#include <stdint.h>

/* The character of an entity that begins with "&" at `at`. Returns the entity's length; 0: it is
 * none. */
size_t html_entity(const uint8_t *at, size_t len, uint32_t *value);

#endif
