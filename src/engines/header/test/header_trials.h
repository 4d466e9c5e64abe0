/* SPDX-License-Identifier: MIT */
/* Packets for tests: for each check one that trips it and one that just does not. */
#ifndef ENGINES_HEADER_TRIALS_H
#define ENGINES_HEADER_TRIALS_H

#include "dissect/test/frame_fixture.h"
#include "sluice/batch.h"
#include "sluice/header.h"

enum { TRIAL_EDITS = 3 };

struct trial {
    const char *name;
    void (*build)(struct frame *frame); /* an Ethernet frame that trips nothing */
    struct {
        const char *bytes; /* NULL: no edit */
        uint16_t at;
        uint16_t len;
    } edit[TRIAL_EDITS];
    uint16_t cut;    /* not 0: the frame ends there */
    uint16_t unseen; /* bytes on the wire that were not captured */
    bool raw;        /* the checksums are those before the edits */
    uint16_t flip;   /* not 0: a byte of which a bit is turned once the checksums are right */
    uint64_t tripped;
    uint32_t offset; /* in each hit */
};

extern const struct trial header_trials[];
extern const uint32_t n_header_trials;

/* Builds a trial's frame. */
void trial_build(const struct trial *trial, struct frame *frame);

/* Sets every checksum of a packet that a check would verify. Slow and simple. */
void header_seal(uint8_t *bytes, uint32_t len, uint32_t wire_len, uint16_t link_type);

/* RFC 1071 over bytes, begun with `sum`: the value that the checksum field must hold. */
uint16_t header_checksum(const uint8_t *bytes, uint32_t len, uint32_t sum);

#endif
