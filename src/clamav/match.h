/* SPDX-License-Identifier: MIT */
/* Bodies and expressions evaluated exactly, on one object at a time. A result of a body is kept
 * until the next object. */
#ifndef CLAMAV_MATCH_H
#define CLAMAV_MATCH_H

#include "base/clock.h"
#include "clamav/block.h"
#include "clamav/find.h"
#include "clamav/find_many.h"
#include "clamav/object.h"

struct clam_positions {
    uint64_t *at;
    size_t n, cap;
};

/* A body whose literal is searched for in the whole object. */
struct clam_sought {
    uint32_t pattern, seg;
    uint32_t back; /* bytes from the segment's first to the literal's */
    bool over;     /* no other place of it matters */
    bool alone;    /* it is too short to be looked for together with others */
    uint64_t next; /* places below have been tried */
    struct clam_needle needle;
};

/* While it is set expressions are not decided: the first bodies that would be searched for are put
 * on the list, and taken for present. */
struct clam_ahead {
    struct clam_sought sought[FIND_FOURS_MAX];
    size_t n;
    uint32_t deferred; /* bodies of the present expression; above 0 its value means nothing */

    struct clam_many many; /* those that are not alone, */
    struct clam_sought *together[FIND_FOURS_MAX];
    uint16_t places[FIND_FOURS_CHUNK];
};

/* Places of a body that were tried in an object. */
struct clam_tries {
    uint32_t epoch, n;
};

struct clam_pcres; /* compiled where first needed */

struct clam_match {
    const struct clam_block *block;
    const char *text;
    const uint8_t *bytes;
    const struct clam_alt *alts;
    const struct clam_elem *elems;
    const struct clam_seg *segs;
    const struct clam_pattern *patterns;
    const uint32_t *variants;
    const struct clam_sub *subs;
    const struct clam_pcre *pcres;
    const struct clam_node *nodes;
    const struct clam_demand *demands;
    const struct clam_sig *sigs;
    clam_find_fn *find;
    find_fours_fn *find_fours;

    struct clam_object *object;
    uint32_t epoch;  /* counts objects: notes of another one do not hold */
    uint32_t *known; /* by pattern: 4 * epoch + enum clam_known */
    uint32_t *found; /* by pattern of one segment: places where it matched, once it is known */
    struct clam_tries *tries; /* by pattern */
    bool complete;            /* all places where the matcher's literals lie have been tried */
    struct clam_positions now, next;
    const struct clam_seg *needle_of; /* whose literal `needle` is; NULL: none */
    struct clam_needle needle;
    struct clam_ahead *ahead; /* NULL: unknown bodies are searched for at once */
    struct clam_pcres *expressions;
    bool no_memory;

    /* When the time of an object is over, nothing is searched for any more: an unknown body counts
     * as absent. */
    uint64_t deadline_ns; /* 0: none */
    uint32_t ticks;       /* calls of clam_match_is_late */
    uint64_t work;        /* comparisons of segments, alternates and places, of all objects */
    bool late;
};

bool clam_match_open(struct clam_match *match, const struct clam_block *block);
void clam_match_close(struct clam_match *match);
void clam_match_begin(struct clam_match *match, struct clam_object *object);

/* Reads the clock. */
static inline bool clam_match_check_time(struct clam_match *match)
{
    if (match->deadline_ns != 0 && !match->late)
        match->late = clock_ns() > match->deadline_ns;
    return match->late;
}

/* The same, for each step of a loop: most calls do not read the clock. */
static inline bool clam_match_is_late(struct clam_match *match)
{
    enum { STEPS = 64 };

    return ++match->ticks % STEPS == 0 ? clam_match_check_time(match) : match->late;
}

enum clam_known { CLAM_NOT_KNOWN, CLAM_ABSENT, CLAM_PRESENT };

enum clam_known clam_match_known(const struct clam_match *match, uint32_t number);

/* Targets of the signatures that an object may match, as bits. */
static inline uint32_t clam_targets(const struct clam_object *object)
{
    return object->part ? UINT32_MAX : UINT32_C(1) << CLAM_GENERIC | UINT32_C(1) << object->target;
}

/* All places where it may match have been tried, or as many as matter: it is absent, or counted. */
void clam_match_note_all_tried(struct clam_match *match, uint32_t number);

/* Whether to take a body for present without knowing: it is searched for later. */
bool clam_match_defer(struct clam_match *match, uint32_t number);

/* Searches for the bodies that decide the signatures, in few passes over the object. */
void clam_match_search_ahead(struct clam_match *match, const uint32_t *sigs, size_t n);

/* Whether another place of the body matters. */
bool clam_match_wanted(const struct clam_match *match, uint32_t number);

/* Whether the body matches with the segment lying at `at`, a place not tried before. */
bool clam_match_at(struct clam_match *match, uint32_t number, uint32_t seg, uint64_t at);

/* Of a body that is absent from a part: whether it may match with the segment lying at `at`, and
 * with bytes before or behind the part. Sets the object's `before` and `behind`. */
void clam_match_reach(struct clam_match *match, uint32_t number, uint32_t seg, uint64_t at);

/* Whether it matches anywhere. */
bool clam_match_exists(struct clam_match *match, uint32_t number);

/* How often, counted up to max. */
uint32_t clam_match_count(struct clam_match *match, uint32_t number, uint32_t max);

/* Whether a signature matches: its target, sizes and expression. */
bool clam_match_sig(struct clam_match *match, uint32_t number);

/* Whether no match of a body can refute its expression: then a body that was not searched for does
 * not make it hold. */
bool clam_match_only_gains(const struct clam_match *match, uint32_t number);

/* Whether its target and sizes allow it to. */
bool clam_match_applies(const struct clam_match *match, uint32_t number);

/* The places where a body with such an offset may begin. False: nowhere. */
bool clam_match_range(const struct clam_match *match, uint32_t kind, uint32_t section,
                      uint32_t offset, uint32_t shift, uint64_t *from, uint64_t *to);

#endif
