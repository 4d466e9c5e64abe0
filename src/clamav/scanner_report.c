/* SPDX-License-Identifier: MIT */
/* Reports of an object: its matches, hashes among them, unless a list of allowed files has its
 * hash. */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "clamav/hash_name.h"
#include "clamav/scanner_internal.h"

/* ---- hashes ---------------------------------------------------------------------------------- */

static const EVP_MD *digest_of(int kind)
{
    return kind == CLAM_MD5 ? EVP_md5() : kind == CLAM_SHA1 ? EVP_sha1() : EVP_sha256();
}

static const uint8_t *hashes_of(const struct clam_block *block, int purpose, int kind)
{
    return (const uint8_t *)clam_at(block, CLAM_A_HASHES) + block->hashes[purpose][kind][0];
}

/* The first of n hashes that has this size; n: none has. */
static uint64_t find_size(const uint8_t *hashes, int kind, uint64_t n, uint64_t size)
{
    uint64_t from = 0, to = n;

    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;

        if (clam_hash_in(hashes, kind, middle)->size < size)
            from = middle + 1;
        else
            to = middle;
    }
    return from < n && clam_hash_in(hashes, kind, from)->size == size ? from : n;
}

/* Adds a part to a digest. False: the object ends before. Where the object's time is over, the rest
 * is left out, but lists of allowed files hold then, too. *made: OpenSSL did its share. */
static bool hash_bytes(struct clam_match *match, int purpose, uint64_t at, uint64_t len,
                       EVP_MD_CTX *context, bool *made)
{
    while (*made && len > 0 && (purpose == CLAM_OF_ALLOWED || !clam_match_check_time(match))) {
        const size_t n = len < CLAM_WINDOW_LEN / 2 ? (size_t)len : CLAM_WINDOW_LEN / 2;
        const uint8_t *bytes = clam_object_at(match->object, at, n);

        if (bytes == NULL)
            return false;
        *made = EVP_DigestUpdate(context, bytes, n) == 1;
        at += n;
        len -= n;
    }
    return len == 0;
}

/* False: there is no digest. Where OpenSSL makes none, the object has an error: the signatures that
 * its hash would match are not known. */
static bool hash_part(struct clam_match *match, int purpose, uint64_t at, uint64_t len, int kind,
                      uint8_t digest[32])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool made = context != NULL && EVP_DigestInit_ex(context, digest_of(kind), NULL) == 1;

    memset(digest, 0, 32);
    const bool whole = hash_bytes(match, purpose, at, len, context, &made);
    made = made && (!whole || EVP_DigestFinal_ex(context, digest, NULL) == 1);
    if (!made)
        match->object->error = context == NULL ? ENOMEM : ENOTSUP;
    EVP_MD_CTX_free(context);
    return made && whole;
}

static void report_hash(struct sl_clamav_scanner *scanner, const struct clam_hash *hash)
{
    const char *const name = clam_hash_name(scanner->db, hash);

    if (name != NULL)
        scanner_report(scanner, name, hash->official);
    else
        scanner->object.error = ENOMEM;
}

/* Whether a part of the object has a hash of that purpose; each is reported, but for allowed ones.
 */
bool scanner_match_hashes(struct sl_clamav_scanner *scanner, int purpose, uint64_t at, uint64_t len)
{
    const struct clam_block *block = scanner->db->block;
    const uint64_t sizes[] = {len, CLAM_ANY_SIZE};
    bool found = false;

    for (int kind = 0; kind < CLAM_HASHES && !scanner->over; kind++) {
        const uint64_t n = block->hashes[purpose][kind][1];
        const uint8_t *hashes = hashes_of(block, purpose, kind);
        uint8_t digest[32];
        bool made = false;

        for (int s = 0; s < 2; s++) {
            uint64_t i = find_size(hashes, kind, n, sizes[s]);

            if (i < n && !made && !hash_part(&scanner->match, purpose, at, len, kind, digest))
                break; /* hashes of another kind may be possible */
            made |= i < n;
            for (; i < n && clam_hash_in(hashes, kind, i)->size == sizes[s]; i++) {
                const struct clam_hash *hash = clam_hash_in(hashes, kind, i);

                if (memcmp(hash->digest, digest, clam_hash_len[kind]) != 0)
                    continue;
                found = true;
                if (purpose != CLAM_OF_ALLOWED)
                    report_hash(scanner, hash);
            }
        }
    }
    return found;
}

bool scanner_has_size(const struct clam_block *block, uint64_t size)
{
    static const int purposes[] = {CLAM_OF_FILE, CLAM_OF_ALLOWED};

    for (int i = 0; i < 2 * CLAM_HASHES; i++) {
        const int purpose = purposes[i / CLAM_HASHES], kind = i % CLAM_HASHES;
        const uint64_t n = block->hashes[purpose][kind][1];
        const uint8_t *hashes = hashes_of(block, purpose, kind);

        if (n > 0 && (clam_hash_in(hashes, kind, n - 1)->size == CLAM_ANY_SIZE ||
                      find_size(hashes, kind, n, size) < n))
            return true;
    }
    return false;
}

void scanner_match_sections(struct sl_clamav_scanner *scanner)
{
    const struct clam_exe *exe = &scanner->exe;
    const struct clam_block *block = scanner->db->block;
    bool any = false;

    for (int kind = 0; kind < CLAM_HASHES; kind++)
        any |= block->hashes[CLAM_OF_SECTION][kind][1] > 0;
    if (!any || scanner->object.target != CLAM_PE || !exe->good)
        return;
    for (uint32_t i = 0; i < exe->n_sections && !scanner->over; i++)
        if (exe->sections[i].len > 0)
            (void)scanner_match_hashes(scanner, CLAM_OF_SECTION, exe->sections[i].raw,
                                       exe->sections[i].len);
}

/* ---- certificates ---------------------------------------------------------------------------- */

void scanner_end_certificates(struct sl_clamav_scanner *scanner)
{
    clam_authenticode_free(scanner->signature);
    scanner->signature = NULL;
}

void scanner_match_certificates(struct sl_clamav_scanner *scanner)
{
    const struct clam_block *block = scanner->db->block;
    const struct clam_certificate *found;
    int at = 0;

    if (scanner->config.ignores_certificates || block->n[CLAM_A_CERTIFICATES] == 0 ||
        scanner->object.target != CLAM_PE)
        return;
    struct clam_authenticode *signature = clam_authenticode_read(&scanner->object);
    if (signature == NULL)
        return;
    while ((found = clam_authenticode_blocked(signature, block, &at)) != NULL)
        scanner_report(scanner, scanner->match.text + found->name, true);
    scanner->signature = signature;
}

/* ---- matches --------------------------------------------------------------------------------- */

static bool is_allowed(struct sl_clamav_scanner *scanner)
{
    const struct clam_block *block = scanner->db->block;

    return (scanner_has_size(block, scanner->object.len) &&
            scanner_match_hashes(scanner, CLAM_OF_ALLOWED, 0, scanner->object.len)) ||
           (scanner->signature != NULL &&
            clam_authenticode_trusted(scanner->signature, block, &scanner->object));
}

void scanner_report(struct sl_clamav_scanner *scanner, const char *name, bool official)
{
    const struct sl_clamav_match match = {name, official};

    if (scanner->over)
        return;
    if (scanner->result.matches == 0 && !scanner->object.part && is_allowed(scanner)) {
        scanner->result.allowed = true;
        scanner->over = true;
        return;
    }
    scanner->result.matches++;
    if (scanner->config.match != NULL)
        scanner->config.match(scanner->config.user, scanner->token, &match);
    scanner->over = !scanner->config.all_matches;
}
