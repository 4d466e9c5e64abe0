/* SPDX-License-Identifier: MIT */
/* Lines of databases. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <openssl/evp.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hex.h"
#include "clamav/set.h"

enum clam_format clam_format_of(const char *name)
{
    static const struct {
        const char *ending;
        enum clam_format format;
    } formats[] = {
        {".ndb", CLAM_NDB},           {".db", CLAM_DB},
        {".ldb", CLAM_LDB},           {".hdb", CLAM_HDB},
        {".hsb", CLAM_HSB},           {".mdb", CLAM_MDB},
        {".msb", CLAM_MSB},           {".fp", CLAM_FP},
        {".sfp", CLAM_SFP},           {".ign2", CLAM_IGN2},
        {".ign", CLAM_IGN2},          {".cvd", CLAM_CVD},
        {".cld", CLAM_CVD},           {".cud", CLAM_CVD},
        {".cdb", CLAM_OTHER_FORMAT},  {".crb", CLAM_OTHER_FORMAT},
        {".pdb", CLAM_OTHER_FORMAT},  {".gdb", CLAM_OTHER_FORMAT},
        {".wdb", CLAM_OTHER_FORMAT},  {".idb", CLAM_OTHER_FORMAT},
        {".ftm", CLAM_OTHER_FORMAT},  {".imp", CLAM_OTHER_FORMAT},
        {".cbc", CLAM_OTHER_FORMAT},  {".yar", CLAM_OTHER_FORMAT},
        {".yara", CLAM_OTHER_FORMAT}, {".pwdb", CLAM_OTHER_FORMAT},
        {".zmd", CLAM_OTHER_FORMAT},  {".rmd", CLAM_OTHER_FORMAT},
    };
    const char *ending = strrchr(name, '.');

    for (size_t i = 0; ending != NULL && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(ending, formats[i].ending) == 0)
            return formats[i].format;
    return CLAM_UNKNOWN;
}

void clam_md5(const void *bytes, size_t len, uint8_t digest[16])
{
    if (EVP_Digest(bytes, len, digest, NULL, EVP_md5(), NULL) != 1)
        memset(digest, 0, 16);
}

/* ---- common fields --------------------------------------------------------------------------- */

static enum clam_taken put_text(struct sl_clamav_set *set, struct clam_text text, uint32_t *index)
{
    char *room;

    if (memchr(text.at, '\0', text.len) != NULL)
        return clam_bad(set, "a text holds a zero byte");
    room = clam_push(set, CLAM_A_TEXT, text.len + 1, index);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    memcpy(room, text.at, text.len);
    return CLAM_TAKEN;
}

static enum clam_taken put_name(struct sl_clamav_set *set, struct clam_text name, uint32_t *index)
{
    return name.len == 0 ? clam_bad(set, "there is no name") : put_text(set, name, index);
}

/* "X-Y", "X-" or "X". */
static bool read_span(struct clam_text text, uint64_t max, uint64_t *from, uint64_t *to)
{
    struct clam_text first;

    const bool two = clam_text_cut(&text, '-', &first);
    if (!clam_text_number(first, max, from))
        return false;
    *to = two ? max : *from;
    return !two || text.len == 0 || clam_text_number(text, max, to);
}

/* Fields of the engine's level: least, highest; both may be missing. */
static enum clam_taken check_levels(struct sl_clamav_set *set, struct clam_text rest,
                                    uint64_t *least)
{
    struct clam_text field;
    uint64_t level[2] = {0, UINT32_MAX};

    for (int i = 0; i < 2 && rest.len > 0; i++) {
        clam_text_cut(&rest, ':', &field);
        if (field.len > 0 && !clam_text_number(field, UINT32_MAX, &level[i]))
            return clam_bad(set, "an engine level is no number");
    }
    if (rest.len > 0)
        return clam_bad(set, "there are too many fields");
    *least = level[0];
    if (level[0] > CLAM_LEVEL || level[1] < CLAM_LEVEL)
        return clam_skip(set, "for other engine levels than %d", CLAM_LEVEL);
    return CLAM_TAKEN;
}

static struct clam_sig *new_sig(struct sl_clamav_set *set, uint8_t target)
{
    uint32_t index;
    struct clam_sig *sig = clam_push(set, CLAM_A_SIGS, 1, &index);

    if (sig != NULL) {
        sig->target = target;
        sig->flags = set->official ? CLAM_OFFICIAL : 0;
        sig->size_max = UINT64_MAX;
        sig->ep_max = sig->nos_max = UINT32_MAX;
        sig->count_max = 1;
    }
    return sig;
}

static enum clam_taken check_target(struct sl_clamav_set *set, uint64_t target)
{
    if (target >= CLAM_TARGETS)
        return clam_skip(set, "target type %u is not known", (unsigned)target);
    if (target == CLAM_UNUSED || target >= CLAM_INTERNAL)
        return clam_skip(set, "target type %u is not supported", (unsigned)target);
    return CLAM_TAKEN;
}

/* ---- .ndb, .db ------------------------------------------------------------------------------- */

/* A signature of one body. */
static enum clam_taken put_body_sig(struct sl_clamav_set *set, struct clam_text name,
                                    uint8_t target, const struct clam_offset *offset,
                                    struct clam_text hex)
{
    struct clam_sig *sig;
    struct clam_sub *sub;
    struct clam_node *node;
    uint32_t pattern = 0, text = 0, *variant, at_variant, at_sub, at_node;

    enum clam_taken taken = put_name(set, name, &text);
    if (taken == CLAM_TAKEN)
        taken = clam_body_read(set, hex, 0, offset, &pattern);
    if (taken != CLAM_TAKEN)
        return taken;
    variant = clam_push(set, CLAM_A_VARIANTS, 1, &at_variant);
    sub = clam_push(set, CLAM_A_SUBS, 1, &at_sub);
    node = clam_push(set, CLAM_A_NODES, 1, &at_node);
    sig = new_sig(set, target);
    if (variant == NULL || sub == NULL || node == NULL || sig == NULL)
        return CLAM_NO_MEMORY;
    *variant = pattern;
    *sub = (struct clam_sub){CLAM_SUB_BODY, at_variant, 1};
    node->depth = 1;
    node->first = at_node;
    sig->name = text;
    sig->subs = at_sub;
    sig->n_subs = 1;
    sig->node = at_node;
    return CLAM_TAKEN;
}

static enum clam_taken read_ndb(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text name, target, offset, hex;
    struct clam_offset place;
    uint64_t number = 0, least;

    if (!clam_text_cut(&line, ':', &name) || !clam_text_cut(&line, ':', &target) ||
        !clam_text_cut(&line, ':', &offset))
        return clam_bad(set, "has less than four fields");
    clam_text_cut(&line, ':', &hex);
    enum clam_taken taken = check_levels(set, line, &least);
    if (taken != CLAM_TAKEN)
        return taken;
    if (!clam_text_number(target, UINT32_MAX, &number))
        return clam_bad(set, "the target type is no number");
    taken = check_target(set, number);
    if (taken == CLAM_TAKEN)
        taken = clam_offset_read(set, offset, (uint8_t)number, &place);
    if (taken != CLAM_TAKEN)
        return taken;
    return put_body_sig(set, name, (uint8_t)number, &place, hex);
}

static enum clam_taken read_db(struct sl_clamav_set *set, struct clam_text line)
{
    const struct clam_offset anywhere = {0};
    struct clam_text name;

    if (!clam_text_cut(&line, '=', &name))
        return clam_bad(set, "has no '='");
    return put_body_sig(set, name, CLAM_GENERIC, &anywhere, line);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static bool read_digest(struct clam_text text, uint8_t digest[32], uint8_t *kind)
{
    for (*kind = 0; *kind < CLAM_HASHES; ++*kind)
        if (text.len == 2 * (size_t)clam_hash_len[*kind])
            break;
    if (*kind == CLAM_HASHES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const int digit = hex_digit(text.at[i]);

        if (digit < 0)
            return false;
        digest[i / 2] = (uint8_t)(digest[i / 2] << 4 | digit);
    }
    return true;
}

static enum clam_taken read_hash(struct sl_clamav_set *set, enum clam_format format,
                                 struct clam_text line)
{
    const bool of_section = format == CLAM_MDB || format == CLAM_MSB;
    struct clam_text fields[2], name;
    struct clam_read_hash *hash;
    uint8_t digest[32] = {0}, kind;
    uint64_t size = CLAM_ANY_SIZE, least = 0;
    uint32_t text = 0;

    if (!clam_text_cut(&line, ':', &fields[0]) || !clam_text_cut(&line, ':', &fields[1]))
        return clam_bad(set, "has less than three fields");
    clam_text_cut(&line, ':', &name);
    enum clam_taken taken = check_levels(set, line, &least);
    if (taken != CLAM_TAKEN)
        return taken;
    const struct clam_text length = fields[of_section ? 0 : 1];
    if (!read_digest(fields[of_section ? 1 : 0], digest, &kind))
        return clam_bad(set, "has no MD5, SHA-1 or SHA-256 in hexadecimal");
    if (clam_text_is(length, "*")) {
        if (least < 73)
            return clam_bad(set, "a size of '*' needs engine level 73");
    } else if (!clam_text_number(length, INT64_MAX, &size)) {
        return clam_bad(set, "the size is no number");
    }
    taken = put_name(set, name, &text);
    if (taken != CLAM_TAKEN)
        return taken;
    hash = clam_grow(&set->hashes, sizeof *hash, 1);
    if (hash == NULL)
        return CLAM_NO_MEMORY;
    hash->kind = kind;
    hash->purpose = of_section                                ? CLAM_OF_SECTION
                    : format == CLAM_FP || format == CLAM_SFP ? CLAM_OF_ALLOWED
                                                              : CLAM_OF_FILE;
    set->n_allowed += hash->purpose == CLAM_OF_ALLOWED;
    hash->hash.size = size;
    hash->hash.name = text;
    hash->hash.official = set->official;
    memcpy(hash->hash.digest, digest, sizeof digest);
    return CLAM_TAKEN;
}

/* Name, or Name:MD5 of the signature's line; .ign: Database:Line:Name. */
static enum clam_taken read_ignore(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text fields[4];
    struct clam_ignore *ignore;
    uint8_t digest[32] = {0}, kind;
    size_t n = 0;

    while (n < 4 && clam_text_cut(&line, ':', &fields[n++]))
        continue;
    const struct clam_text name = fields[n >= 3 ? 2 : 0];
    if (name.len == 0)
        return clam_bad(set, "there is no name");
    if (n == 2 && (!read_digest(fields[1], digest, &kind) || kind != CLAM_MD5))
        return clam_bad(set, "what follows the name is no MD5");
    char *copy = strndup(name.at, name.len); /* first: what is in the set has a name */
    ignore = copy != NULL ? clam_grow(&set->ignores, sizeof *ignore, 1) : NULL;
    if (ignore == NULL) {
        free(copy);
        return CLAM_NO_MEMORY;
    }
    ignore->name = copy;
    ignore->has_digest = n == 2;
    memcpy(ignore->digest, digest, sizeof ignore->digest);
    return CLAM_TAKEN;
}

/* ---- .ldb ------------------------------------------------------------------------------------ */

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

/* One Arg:Val of the target description block. */
static enum clam_taken read_argument(struct sl_clamav_set *set, struct clam_text argument,
                                     struct clam_sig *sig)
{
    struct clam_text name;
    uint64_t from = 0, to = 0;

    if (!clam_text_cut(&argument, ':', &name))
        return clam_bad(set, "the target description has no value for '%.*s'",
                        (int)(name.len < 32 ? name.len : 32), name.at);
    if (clam_text_is(name, "Target")) {
        if (!clam_text_number(argument, UINT32_MAX, &from))
            return clam_bad(set, "the target type is no number");
        sig->target = (uint8_t)(from < CLAM_TARGETS ? from : CLAM_TARGETS);
        return check_target(set, from);
    }
    if (clam_text_is(name, "Container") || clam_text_is(name, "Intermediates"))
        return clam_text_is(argument, "CL_TYPE_ANY")
                   ? CLAM_TAKEN /* not inside a container: all that is scanned here */
                   : clam_skip(set, "%.*s: containers are not unpacked", (int)name.len, name.at);
    if (clam_text_is(name, "IconGroup1") || clam_text_is(name, "IconGroup2"))
        return clam_skip(set, "icon groups are not supported");
    if (clam_text_is(name, "HandlerType"))
        return clam_skip(set, "HandlerType is not supported");
    if (!clam_text_is(name, "Engine") && !clam_text_is(name, "FileSize") &&
        !clam_text_is(name, "EntryPoint") && !clam_text_is(name, "NumberOfSections"))
        return clam_skip(set, "target description '%.*s' is not known",
                         (int)(name.len < 32 ? name.len : 32), name.at);
    if (!read_span(argument, clam_text_is(name, "FileSize") ? UINT64_MAX : UINT32_MAX, &from, &to))
        return clam_bad(set, "%.*s is no range", (int)name.len, name.at);
    if (clam_text_is(name, "Engine")) {
        if (from > CLAM_LEVEL || to < CLAM_LEVEL)
            return clam_skip(set, "for other engine levels than %d", CLAM_LEVEL);
    } else if (clam_text_is(name, "FileSize")) {
        sig->size_min = from;
        sig->size_max = to;
    } else if (clam_text_is(name, "EntryPoint")) {
        sig->ep_min = (uint32_t)from;
        sig->ep_max = (uint32_t)to;
    } else {
        sig->nos_min = (uint32_t)from;
        sig->nos_max = (uint32_t)to;
    }
    return CLAM_TAKEN;
}

static enum clam_taken read_description(struct sl_clamav_set *set, struct clam_text block,
                                        struct clam_sig *sig)
{
    struct clam_text argument;
    enum clam_taken taken = CLAM_TAKEN;
    bool more = true;

    sig->target = CLAM_TARGETS;
    while (more && taken == CLAM_TAKEN) {
        more = clam_text_cut(&block, ',', &argument);
        taken = read_argument(set, argument, sig);
    }
    if (taken == CLAM_TAKEN && sig->target == CLAM_TARGETS)
        return clam_bad(set, "the target description has no Target");
    const bool wants_header = sig->ep_min > 0 || sig->ep_max != UINT32_MAX || sig->nos_min > 0 ||
                              sig->nos_max != UINT32_MAX;
    if (taken == CLAM_TAKEN && wants_header && !clam_is_executable(sig->target))
        return clam_bad(set, "EntryPoint and NumberOfSections need target 1, 6 or 9");
    return taken;
}

static enum clam_taken read_pcre_flags(struct sl_clamav_set *set, struct clam_text flags,
                                       struct clam_pcre *pcre)
{
    for (size_t i = 0; i < flags.len; i++)
        switch (flags.at[i]) {
        case 'g':
            pcre->flags |= CLAM_PCRE_GLOBAL;
            break;
        case 'r':
            pcre->flags |= CLAM_PCRE_ROLLING;
            break;
        case 'e':
            pcre->flags |= CLAM_PCRE_ENCOMPASS;
            break;
        case 'i':
            pcre->options |= PCRE2_CASELESS;
            break;
        case 's':
            pcre->options |= PCRE2_DOTALL;
            break;
        case 'm':
            pcre->options |= PCRE2_MULTILINE;
            break;
        case 'x':
            pcre->options |= PCRE2_EXTENDED;
            break;
        case 'A':
            pcre->options |= PCRE2_ANCHORED;
            break;
        case 'E':
            pcre->options |= PCRE2_DOLLAR_ENDONLY;
            break;
        case 'U':
            pcre->options |= PCRE2_UNGREEDY;
            break;
        default:
            return clam_bad(set, "PCRE flag '%c' is not known", flags.at[i]);
        }
    return CLAM_TAKEN;
}

/* Whether the library takes it; what it keeps is made again where it is first needed. */
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
        taken = put_text(set, text, &pcre.text);
    if (taken != CLAM_TAKEN)
        return taken;
    pcre.text_len = (uint32_t)text.len;
    pcre.offset_kind = place.kind;
    pcre.section = place.section;
    pcre.offset = place.offset;
    pcre.shift = place.shift;
    *sub = (struct clam_sub){CLAM_SUB_PCRE, 0, 1};
    room = clam_push(set, CLAM_A_PCRES, 1, &sub->first);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = pcre;
    return CLAM_TAKEN;
}

static enum clam_taken read_options(struct sl_clamav_set *set, struct clam_text text,
                                    unsigned *options)
{
    for (size_t i = 0; i < text.len; i++)
        switch (text.at[i]) {
        case 'i':
            *options |= CLAM_NOCASE;
            break;
        case 'w':
            *options |= CLAM_WIDE;
            break;
        case 'f':
            *options |= CLAM_FULLWORD;
            break;
        case 'a':
            *options |= CLAM_ASCII_TOO;
            break;
        default:
            return clam_bad(set, "modifier '%c' is not known", text.at[i]);
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

    *sub = (struct clam_sub){CLAM_SUB_BODY, 0, both ? 2 : 1};
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

static enum clam_taken read_subs(struct sl_clamav_set *set, struct clam_text rest,
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

static enum clam_taken read_ldb(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text name, description, expression;
    struct clam_sig *room, sig;
    uint32_t n_subs, index;

    if (!clam_text_cut(&line, ';', &name) || !clam_text_cut(&line, ';', &description) ||
        !clam_text_cut(&line, ';', &expression))
        return clam_bad(set, "has less than four fields");
    room = new_sig(set, CLAM_GENERIC);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    sig = *room;
    index = clam_count(set, CLAM_A_SIGS) - 1;
    sig.flags |= CLAM_LOGICAL;
    enum clam_taken taken = read_description(set, description, &sig);
    if (taken == CLAM_TAKEN)
        taken = clam_logic_read(set, expression, &sig.node, &n_subs, &sig.count_max);
    if (taken != CLAM_TAKEN)
        return taken;
    sig.n_subs = (uint16_t)n_subs;
    taken = read_subs(set, line, &sig);
    if (taken == CLAM_TAKEN)
        taken = put_name(set, name, &sig.name);
    if (taken == CLAM_TAKEN)
        ((struct clam_sig *)set->records[CLAM_A_SIGS].at)[index] = sig;
    return taken;
}

/* ---- any line -------------------------------------------------------------------------------- */

/* Only names that an .ign2 file lists with a digest need the digest of their line. */
static bool is_ignored_line(const struct sl_clamav_set *set, struct clam_text line)
{
    const struct clam_ignore *ignores = (const struct clam_ignore *)set->ignores.at;
    uint8_t digest[16];

    for (size_t i = 0; i < set->ignores.n; i++) {
        if (!ignores[i].has_digest ||
            memmem(line.at, line.len, ignores[i].name, strlen(ignores[i].name)) == NULL)
            continue;
        clam_md5(line.at, line.len, digest);
        if (memcmp(digest, ignores[i].digest, sizeof digest) == 0)
            return true;
    }
    return false;
}

enum clam_taken clam_line_read(struct sl_clamav_set *set, enum clam_format format,
                               struct clam_text line)
{
    if (format != CLAM_IGN2 && is_ignored_line(set, line))
        return clam_skip(set, "named in an .ign2 file");
    switch (format) {
    case CLAM_NDB:
        return read_ndb(set, line);
    case CLAM_DB:
        return read_db(set, line);
    case CLAM_LDB:
        return read_ldb(set, line);
    case CLAM_IGN2:
        return read_ignore(set, line);
    default:
        return read_hash(set, format, line);
    }
}
