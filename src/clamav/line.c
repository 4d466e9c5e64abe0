/* SPDX-License-Identifier: MIT */
/* A line of any database. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clamav/line_internal.h"
#include "clamav/md5.h"

/* ---- formats --------------------------------------------------------------------------------- */

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
        {".cdb", CLAM_CDB},           {".crb", CLAM_CRB},
        {".pdb", CLAM_PDB},           {".gdb", CLAM_PDB},
        {".wdb", CLAM_WDB},           {".idb", CLAM_OTHER_FORMAT},
        {".ftm", CLAM_OTHER_FORMAT},  {".imp", CLAM_OTHER_FORMAT},
        {".cbc", CLAM_OTHER_FORMAT},  {".yar", CLAM_OTHER_FORMAT},
        {".yara", CLAM_OTHER_FORMAT}, {".pwdb", CLAM_PWDB},
        {".zmd", CLAM_OTHER_FORMAT},  {".rmd", CLAM_OTHER_FORMAT},
        {".ndu", CLAM_NDB},           {".ldu", CLAM_LDB}, /* unwanted programs (PUA) */
        {".hdu", CLAM_HDB},           {".hsu", CLAM_HSB},
        {".mdu", CLAM_MDB},           {".msu", CLAM_MSB},
    };
    const char *ending = strrchr(name, '.');

    for (size_t i = 0; ending != NULL && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(ending, formats[i].ending) == 0)
            return formats[i].format;
    return CLAM_UNKNOWN;
}

bool clam_is_of_pua(const char *name)
{
    const size_t len = strlen(name);

    return len > 0 && (name[len - 1] == 'u' || name[len - 1] == 'U');
}

/* ---- ignored names --------------------------------------------------------------------------- */

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
    if (n == 2 && (!line_read_digest(fields[1], digest, &kind) || kind != CLAM_MD5))
        return clam_bad(set, "what follows the name is no MD5");
    if (n == 2 && set->md5_is_refused)
        return clam_skip(set, "has an MD5, which OpenSSL refuses to make");
    char *copy = strndup(name.at, name.len); /* first: each entry of the set has a name */
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

/* Only names that an .ign2 file lists with a digest need the digest of their line. *made: false
 * where there is no memory for it. */
static bool is_ignored_line(const struct sl_clamav_set *set, struct clam_text line, bool *made)
{
    const struct clam_ignore *ignores = (const struct clam_ignore *)set->ignores.at;
    uint8_t digest[16];

    *made = true;
    for (size_t i = 0; i < set->ignores.n; i++) {
        if (!ignores[i].has_digest ||
            memmem(line.at, line.len, ignores[i].name, strlen(ignores[i].name)) == NULL)
            continue;
        *made = clam_md5(line.at, line.len, digest);
        if (!*made)
            return false;
        if (memcmp(digest, ignores[i].digest, sizeof digest) == 0)
            return true;
    }
    return false;
}

/* ---- any line -------------------------------------------------------------------------------- */

enum clam_taken clam_line_read(struct sl_clamav_set *set, enum clam_format format,
                               struct clam_text line)
{
    bool made = true;

    if (format != CLAM_IGN2 && is_ignored_line(set, line, &made))
        return clam_skip(set, "named in an .ign2 file");
    if (!made)
        return CLAM_NO_MEMORY;
    switch (format) {
    case CLAM_NDB:
        return line_read_ndb(set, line);
    case CLAM_DB:
        return line_read_db(set, line);
    case CLAM_LDB:
        return line_read_ldb(set, line);
    case CLAM_CDB:
        return line_read_cdb(set, line);
    case CLAM_PWDB:
        return line_read_pwdb(set, line);
    case CLAM_CRB:
        return line_read_crb(set, line);
    case CLAM_PDB:
    case CLAM_WDB:
        return line_read_domain(set, format, line);
    case CLAM_IGN2:
        return read_ignore(set, line);
    default:
        return line_read_hash(set, format, line);
    }
}
