/* SPDX-License-Identifier: MIT */
/* The subsignatures of a logical signature: bodies and PCREs. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "clamav/line_internal.h"

/* ---- PCREs ----------------------------------------------------------------------------------- */

static enum clam_taken read_pcre_flags(struct sl_clamav_set *set, struct clam_text text,
                                       struct clam_pcre *pcre)
{
    static const struct {
        char letter;
        uint32_t flags;
        uint32_t options;
    } known[] = {
        {'g', CLAM_PCRE_GLOBAL, 0}, {'r', CLAM_PCRE_ROLLING, 0}, {'e', CLAM_PCRE_ENCOMPASS, 0},
        {'i', 0, PCRE2_CASELESS},   {'s', 0, PCRE2_DOTALL},      {'m', 0, PCRE2_MULTILINE},
        {'x', 0, PCRE2_EXTENDED},   {'A', 0, PCRE2_ANCHORED},    {'E', 0, PCRE2_DOLLAR_ENDONLY},
        {'U', 0, PCRE2_UNGREEDY},
    };
    const size_t n_known = sizeof known / sizeof *known;

    for (size_t i = 0; i < text.len; i++) {
        size_t k = 0;

        while (k < n_known && known[k].letter != text.at[i])
            k++;
        if (k == n_known)
            return clam_bad(set, "PCRE flag '%c' is not known", text.at[i]);
        pcre->flags |= known[k].flags;
        pcre->options |= known[k].options;
    }
    return CLAM_TAKEN;
}

/* Whether PCRE2 accepts the expression. The scanner compiles it again where it needs it. */
static enum clam_taken try_pcre(struct sl_clamav_set *set, struct clam_text text, uint32_t options)
{
    int error;
    PCRE2_SIZE offset;
    PCRE2_UCHAR message[128] = "";
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text.at, text.len, options, &error, &offset, NULL);

    if (code == NULL) {
        pcre2_get_error_message(error, message, sizeof message);
        return clam_bad(set, "PCRE at %zu: %s", (size_t)offset, (const char *)message);
    }
    pcre2_code_free(code);
    return CLAM_TAKEN;
}

/* [Offset:]Trigger/expression/[flags] */
static enum clam_taken read_pcre(struct sl_clamav_set *set, struct clam_text text, uint32_t number,
                                 const struct clam_sig *sig, struct clam_sub *sub,
                                 uint32_t *count_max)
{
    struct clam_text trigger, offset = {"*", 1}, before;
    struct clam_pcre pcre = {0}, *room;
    struct clam_offset place;
    uint32_t n_subs;

    clam_text_cut(&text, '/', &trigger);
    if (memchr(trigger.at, ':', trigger.len) != NULL) {
        clam_text_cut(&trigger, ':', &before);
        offset = before;
    }
    const char *end = text.len > 0 ? memrchr(text.at, '/', text.len) : NULL;
    if (end == NULL || end == text.at)
        return clam_bad(set, "subsignature %u is no PCRE", number);
    const struct clam_text flags = {end + 1, (size_t)(text.at + text.len - end - 1)};
    text.len = (size_t)(end - text.at);
    enum clam_taken taken = read_pcre_flags(set, flags, &pcre);
    if (taken == CLAM_TAKEN)
        taken = clam_offset_read(set, offset, sig->target, &place);
    if (taken == CLAM_TAKEN)
        taken = clam_logic_read(set, trigger, &pcre.node, &n_subs, count_max);
    if (taken == CLAM_TAKEN && n_subs > number)
        return clam_bad(set, "the trigger of subsignature %u names later ones", number);
    if (taken == CLAM_TAKEN)
        taken = try_pcre(set, text, pcre.options);
    if (taken == CLAM_TAKEN)
        taken = line_put_text(set, text, &pcre.text);
    if (taken != CLAM_TAKEN)
        return taken;
    pcre.text_len = (uint32_t)text.len;
    pcre.offset_kind = place.kind;
    pcre.section = place.section;
    pcre.offset = place.offset;
    pcre.shift = place.shift;
    *sub = (struct clam_sub){CLAM_SUB_PCRE, 1, 0};
    room = clam_push(set, CLAM_A_PCRES, 1, &sub->first);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = pcre;
    return CLAM_TAKEN;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static enum clam_taken read_options(struct sl_clamav_set *set, struct clam_text text,
                                    unsigned *options)
{
    static const char letters[] = "iwfa";
    static const unsigned known[] = {CLAM_NOCASE, CLAM_WIDE, CLAM_FULLWORD, CLAM_ASCII_TOO};

    for (size_t i = 0; i < text.len; i++) {
        const char *letter = memchr(letters, text.at[i], sizeof letters - 1);

        if (letter == NULL)
            return clam_bad(set, "modifier '%c' is not known", text.at[i]);
        *options |= known[letter - letters];
    }
    return CLAM_TAKEN;
}

static enum clam_taken put_variants(struct sl_clamav_set *set, struct clam_text hex,
                                    unsigned options, const struct clam_offset *place,
                                    struct clam_sub *sub)
{
    const bool both = (options & CLAM_WIDE) != 0 && (options & CLAM_ASCII_TOO) != 0;
    const unsigned own = options & ~(unsigned)CLAM_ASCII_TOO;
    uint32_t patterns[2], *variants;

    *sub = (struct clam_sub){CLAM_SUB_BODY, both ? 2 : 1, 0};
    enum clam_taken taken = clam_body_read(set, hex, own, place, &patterns[0]);
    if (taken == CLAM_TAKEN && both)
        taken = clam_body_read(set, hex, own & ~(unsigned)CLAM_WIDE, place, &patterns[1]);
    if (taken != CLAM_TAKEN)
        return taken;
    variants = clam_push(set, CLAM_A_VARIANTS, sub->n, &sub->first);
    if (variants == NULL)
        return CLAM_NO_MEMORY;
    memcpy(variants, patterns, sub->n * sizeof *patterns);
    return CLAM_TAKEN;
}

/* [Offset:]hex[::modifiers] */
static enum clam_taken read_sub_body(struct sl_clamav_set *set, struct clam_text text,
                                     const struct clam_sig *sig, struct clam_sub *sub)
{
    struct clam_text fields[4], offset = {"*", 1};
    struct clam_offset place;
    unsigned options = 0;
    int n = 0;

    while (n < 4 && clam_text_cut(&text, ':', &fields[n++]))
        continue;
    if (text.len > 0)
        return clam_bad(set, "a subsignature has too many fields");
    if (n % 2 == 0)
        offset = fields[0];
    enum clam_taken taken = clam_offset_read(set, offset, sig->target, &place);
    if (taken == CLAM_TAKEN && n > 2)
        taken = read_options(set, fields[n - 1], &options);
    if (taken != CLAM_TAKEN)
        return taken;
    return put_variants(set, fields[n % 2 == 0 ? 1 : 0], options, &place, sub);
}

static enum clam_taken read_sub(struct sl_clamav_set *set, struct clam_text text, uint32_t number,
                                const struct clam_sig *sig, struct clam_sub *sub,
                                uint32_t *count_max)
{
    if (text.len == 0)
        return clam_bad(set, "subsignature %u is empty", number);
    if (text.at[0] == '$')
        return clam_skip(set, "macros are not supported");
    if (text.len > 10 && memcmp(text.at, "fuzzy_img#", 10) == 0)
        return clam_skip(set, "fuzzy hashes of images are not supported");
    if (memchr(text.at, '/', text.len) != NULL)
        return read_pcre(set, text, number, sig, sub, count_max);
    if (memchr(text.at, '#', text.len) != NULL)
        return clam_skip(set, "byte comparisons are not supported");
    return read_sub_body(set, text, sig, sub);
}

/* ---- all of a signature ---------------------------------------------------------------------- */

/* The next field; an expression between slashes may hold the separator. */
static bool cut_field(struct clam_text *rest, char end, struct clam_text *field)
{
    bool inside = false;

    field->at = rest->at;
    for (size_t i = 0; i < rest->len; i++) {
        if (!inside && rest->at[i] == end) {
            field->len = i;
            rest->at += i + 1;
            rest->len -= i + 1;
            return true;
        }
        if (rest->at[i] == '/' && i > 0 && rest->at[i - 1] != '\\')
            inside = !inside;
    }
    field->len = rest->len;
    rest->at += rest->len;
    rest->len = 0;
    return false;
}

enum clam_taken line_read_subs(struct sl_clamav_set *set, struct clam_text rest,
                               struct clam_sig *sig)
{
    struct clam_sub subs[CLAM_SUBS_MAX];
    struct clam_text text;
    uint32_t n = 0;
    bool more = true;

    while (more) {
        more = cut_field(&rest, ';', &text);
        if (n == sig->n_subs)
            return clam_bad(set, "has more subsignatures than its expression names (%u)",
                            sig->n_subs);
        const enum clam_taken taken = read_sub(set, text, n, sig, &subs[n], &sig->count_max);
        if (taken != CLAM_TAKEN)
            return taken;
        n++;
    }
    if (n != sig->n_subs)
        return clam_bad(set, "has %u subsignatures, its expression names %u", n, sig->n_subs);
    struct clam_sub *room = clam_push(set, CLAM_A_SUBS, n, &sig->subs);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    memcpy(room, subs, n * sizeof *subs);
    return CLAM_TAKEN;
}
