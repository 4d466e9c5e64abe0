/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "clamav/pcre.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/* As clamscan's defaults: steps of a match, depth of its recursion, bytes of a file. */
enum { PCRE_STEPS = 100000, PCRE_DEPTH = 2000, PCRE_FILE_MAX = 100 << 20 };

/* The limit of steps holds for each place where a match may begin. So the clock is read after some
 * places: as many as take about a millisecond. */
enum { PLACES_MIN = 64, PLACES_MAX = 1 << 16, PLACES_NS = 1000000 };

struct clam_pcres {
    pcre2_code **code; /* NULL: not needed yet */
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

void clam_pcres_free(struct clam_pcres *pcres, size_t n)
{
    if (pcres == NULL)
        return;
    for (size_t i = 0; pcres->code != NULL && i < n; i++)
        pcre2_code_free(pcres->code[i]);
    pcre2_match_data_free(pcres->data);
    pcre2_match_context_free(pcres->limits);
    free(pcres->code);
    free(pcres);
}

static struct clam_pcres *pcres_create(size_t n)
{
    struct clam_pcres *pcres = calloc(1, sizeof *pcres);

    if (pcres == NULL)
        return NULL;
    pcres->code = calloc(n, sizeof(pcre2_code *));
    pcres->data = pcre2_match_data_create(64, NULL);
    pcres->limits = pcre2_match_context_create(NULL);
    if (pcres->code == NULL || pcres->data == NULL || pcres->limits == NULL) {
        clam_pcres_free(pcres, n);
        return NULL;
    }
    pcre2_set_match_limit(pcres->limits, PCRE_STEPS);
    pcre2_set_depth_limit(pcres->limits, PCRE_DEPTH);
    return pcres;
}

/* "\G" is where a search begins: it must begin once. */
static uint32_t steps_option(const struct clam_match *match, const struct clam_pcre *pcre)
{
    return memmem(match->text + pcre->text, pcre->text_len, "\\G", 2) == NULL
               ? PCRE2_USE_OFFSET_LIMIT
               : 0;
}

static const pcre2_code *pcre_code(struct clam_match *match, uint32_t number)
{
    const struct clam_pcre *pcre = &match->pcres[number];
    int error;
    PCRE2_SIZE at;

    if (match->expressions == NULL)
        match->expressions = pcres_create(match->block->n[CLAM_A_PCRES]);
    if (match->expressions == NULL) {
        match->no_memory = true;
        return NULL;
    }
    pcre2_code **code = &match->expressions->code[number];
    if (*code == NULL)
        *code = pcre2_compile((PCRE2_SPTR)match->text + pcre->text, pcre->text_len,
                              pcre->options | steps_option(match, pcre), &error, &at, NULL);
    return *code;
}

/* Whether the search may begin anew at any place. */
static bool is_cut(const pcre2_code *code, uint32_t options)
{
    uint32_t own = 0;

    (void)pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &own);
    return (own & PCRE2_USE_OFFSET_LIMIT) != 0 && ((own | options) & PCRE2_ANCHORED) == 0;
}

/* The first match that begins from *at on, or an error of PCRE2. */
static int find_pcre(struct clam_match *match, const pcre2_code *code, uint32_t options,
                     const uint8_t *text, size_t len, size_t *at)
{
    const struct clam_pcres *pcres = match->expressions;
    const bool cut = is_cut(code, options);
    size_t n_places = PLACES_MIN;
    int result = PCRE2_ERROR_NOMATCH;

    while (result == PCRE2_ERROR_NOMATCH && *at < len && !clam_match_check_time(match)) {
        const uint64_t begin = clock_ns();

        pcre2_set_offset_limit(pcres->limits, cut ? *at + n_places - 1 : PCRE2_UNSET);
        result = pcre2_match(code, text, len, *at, options, pcres->data, pcres->limits);
        if (result != PCRE2_ERROR_NOMATCH)
            break;
        *at = cut ? *at + n_places : len;
        if (clock_ns() - begin > PLACES_NS)
            n_places = PLACES_MIN;
        else if (n_places < PLACES_MAX)
            n_places *= 2;
    }
    return result;
}

/* Runs it over text; `reach`: matches must begin no further on. */
static uint32_t run(struct clam_match *match, const pcre2_code *code, uint32_t options,
                    const uint8_t *text, size_t len, uint64_t reach, uint32_t max)
{
    const struct clam_pcres *pcres = match->expressions;
    uint32_t n = 0;

    for (size_t at = 0; n < max && at < len;) {
        if (find_pcre(match, code, options, text, len, &at) < 0)
            break;
        const PCRE2_SIZE *found = pcre2_get_ovector_pointer(pcres->data);
        if (found[0] > reach)
            break;
        n++;
        at = found[1] > at ? found[1] : at + 1;
    }
    return n;
}

/* How often a PCRE matches, up to max. */
uint32_t clam_pcre_count(struct clam_match *match, uint32_t number, uint32_t max)
{
    const struct clam_pcre *pcre = &match->pcres[number];
    struct clam_object *object = match->object;
    const pcre2_code *code = pcre_code(match, number);
    const bool encompass = (pcre->flags & CLAM_PCRE_ENCOMPASS) != 0;
    uint64_t from, to, len, reach = UINT64_MAX;

    if (code == NULL || object->len > PCRE_FILE_MAX ||
        !clam_match_range(match, pcre->offset_kind, pcre->section, pcre->offset, pcre->shift, &from,
                          &to) ||
        from >= object->len)
        return 0;
    if (!clam_object_load(object)) {
        match->no_memory = true;
        return 0;
    }
    const bool anchored =
        pcre->offset_kind != CLAM_ANYWHERE && to == from && (pcre->flags & CLAM_PCRE_ROLLING) == 0;
    len = object->len - from;
    if (pcre->offset_kind != CLAM_ANYWHERE && to > from) {
        if (encompass)
            len = to - from < len ? to - from : len;
        else
            reach = to - from;
    }
    if ((pcre->flags & CLAM_PCRE_GLOBAL) == 0 && max > 1)
        max = 1;
    return run(match, code, anchored ? PCRE2_ANCHORED : 0, object->bytes + from, (size_t)len, reach,
               max);
}
