/* SPDX-License-Identifier: MIT */
#include "clamav/container_check.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/hex.h"
#include "clamav/line_internal.h"
#include "clamav/md5.h"
#include "clamav/signature.h"

enum container_kind container_kind_of(const char *path)
{
    const char *ending = strrchr(path, '.');

    return ending == NULL                    ? CONTAINER_CVD
           : strcasecmp(ending, ".cld") == 0 ? CONTAINER_CLD
           : strcasecmp(ending, ".cud") == 0 ? CONTAINER_CUD
                                             : CONTAINER_CVD;
}

static enum sl_status say(const char *path, enum clam_signed found, struct sl_diag *diag)
{
    if (found == CLAM_SIGNED)
        return SL_OK;
    if (found == CLAM_SIGNED_NO_MEMORY)
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory to check its signature");
    if (found == CLAM_SIGNED_UNKNOWN)
        return diag_set(diag, SL_EUNSUPPORTED, path, 0,
                        "cannot be checked: OpenSSL refuses ClamAV's signatures");
    return diag_set(diag, SL_EFORMAT, path, 0, "is not signed by ClamAV, or was changed");
}

/* ClamAV-VDB:time:version:signatures:level:MD5:signature:builder:seconds */
enum sl_status container_check_header(const struct sl_clamav_set *set, const char *path,
                                      const uint8_t *bytes, size_t len, struct sl_diag *diag)
{
    struct clam_text rest = {(const char *)bytes, CONTAINER_HEADER_LEN}, field = {NULL, 0};
    uint8_t digest[16];
    char text[33];

    if (len < CONTAINER_HEADER_LEN || memcmp(bytes, "ClamAV-VDB:", 11) != 0)
        return diag_set(diag, SL_EFORMAT, path, 0, "is no ClamAV container");
    if (container_kind_of(path) == CONTAINER_CLD)
        return SL_OK; /* an MD5 there is another container's */
    for (int i = 0; i < 6; i++)
        clam_text_cut(&rest, ':', &field);
    if (clam_md5_is_refused())
        return diag_set(diag, SL_EUNSUPPORTED, path, 0,
                        "cannot be checked: OpenSSL refuses to make its MD5");
    if (!clam_md5(bytes + CONTAINER_HEADER_LEN, len - CONTAINER_HEADER_LEN, digest))
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory to make its MD5");
    hex_write(text, digest, 16);
    if (field.len != 32 || strncasecmp(field.at, text, 32) != 0)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "is cut or damaged: its MD5 is %s (its header says %.*s)", text,
                        (int)(field.len < 64 ? field.len : 64), field.at);
    if (container_kind_of(path) == CONTAINER_CUD)
        return SL_OK;
    clam_text_cut(&rest, ':', &field);
    return say(path, clam_signature_of_md5(set->header_key, field, digest), diag);
}

/* Lines, of which the last one is the signature of all before: DSIG:signature. */
enum sl_status container_check_list(const struct sl_clamav_set *set, const char *path,
                                    struct clam_text *list, struct sl_diag *diag)
{
    static const char mark[] = "\nDSIG:";
    const char *found = memmem(list->at, list->len, mark, sizeof mark - 1);
    uint8_t digest[32];

    if (found == NULL)
        return diag_set(diag, SL_EFORMAT, path, 0, "has a list of members that is not signed");
    const size_t len = (size_t)(found + 1 - list->at);
    struct clam_text rest = {found + sizeof mark - 1, list->len - len - (sizeof mark - 2)},
                     signature;
    clam_text_cut(&rest, '\n', &signature);
    while (signature.len > 0 && signature.at[signature.len - 1] == '\r')
        signature.len--;
    list->len = len;
    if (EVP_Digest(list->at, len, digest, NULL, EVP_sha256(), NULL) != 1)
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory to make a SHA-256");
    return say(path, clam_signature_of_sha256(set->list_key, signature, digest), diag);
}

/* A line of the list: name:length:SHA-256. */
enum sl_status container_check_member(struct clam_text list, const char *path, const char *name,
                                      const void *bytes, size_t len, struct sl_diag *diag)
{
    uint8_t stated[32], digest[32], kind;
    struct clam_text line, field;
    uint64_t stated_len;
    bool more = true;

    while (more) {
        more = clam_text_cut(&list, '\n', &line);
        if (!clam_text_cut(&line, ':', &field) || !clam_text_is(field, name))
            continue;
        clam_text_cut(&line, ':', &field);
        while (line.len > 0 && line.at[line.len - 1] == '\r')
            line.len--;
        if (!clam_text_number(field, UINT64_MAX, &stated_len) || stated_len != len ||
            !line_read_digest(line, stated, &kind) || kind != CLAM_SHA256)
            break;
        if (EVP_Digest(bytes, len, digest, NULL, EVP_sha256(), NULL) != 1)
            return diag_set(diag, SL_ENOMEM, path, 0, "no memory to make a SHA-256");
        if (memcmp(stated, digest, sizeof digest) == 0)
            return SL_OK;
        break;
    }
    return diag_set(diag, SL_EFORMAT, path, 0, "has a member '%s' that its signed list has not",
                    name);
}
