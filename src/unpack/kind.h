/* SPDX-License-Identifier: MIT */
/* The kind of an object, by its content. */
#ifndef UNPACK_KIND_H
#define UNPACK_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
#define X(constant, name, clam, target, opened) KIND_##constant,
#include "unpack/kind_list.h"
#undef X
    KINDS
};

enum {
    KIND_HEAD_LEN = 1024,  /* bytes that kind_of_head reads */
    KIND_MARK_AT = 0x8001, /* images of discs have a mark here, */
    KIND_MARK_LEN = 5,
    KIND_TAIL_LEN = 512 /* others in the last bytes, as the end of a zip */
};

/* By an object's first bytes. */
enum kind kind_of_head(const uint8_t *head, size_t head_len);

/* By marks elsewhere, for an object whose head is of KIND_BINARY: the bytes at KIND_MARK_AT and the
 * last ones, each with a length of 0 where the object ends before. */
enum kind kind_of_marks(const uint8_t *mark, size_t mark_len, const uint8_t *tail, size_t tail_len);

/* By all of its bytes. */
enum kind kind_of(const uint8_t *bytes, size_t len);

const char *kind_name(enum kind kind);

/* "CL_TYPE_ZIP"; "": ClamAV has no such type. */
const char *kind_clam_name(enum kind kind);

/* Whether ClamAV has one name for both. */
bool kind_is_same(enum kind a, enum kind b);

/* The kind of a ClamAV's name of len bytes; KINDS: it has none. */
enum kind kind_of_clam_name(const char *name, size_t len);

/* ClamAV's target type for it: enum clam_target. */
uint8_t kind_target(enum kind kind);

/* By the rules for texts and HTML alone, or KIND_BINARY: what ClamAV takes an object for whose
 * format it does not know. */
enum kind kind_of_raw_text(const uint8_t *bytes, size_t len);

/* The next local header of a zip from `at` on, or NULL. */
const uint8_t *kind_next_local(const uint8_t *at, const uint8_t *end);

/* Whether a text has one of the tags by which ClamAV takes it for HTML. */
bool kind_has_tag(const uint8_t *bytes, size_t len);

/* Whether ClamAV takes it for a text; HTML is not among them. */
bool kind_is_text(enum kind kind);

/* Whether it holds other objects: archives, mail and documents. */
bool kind_is_container(enum kind kind);

#endif
