/* SPDX-License-Identifier: MIT */
/* Containers (.cvd, .cld): a header with an MD5, and behind it a tar of databases, as it is or
 * deflated. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/diag.h"
#include "clamav/set.h"

enum {
    CVD_HEADER_LEN = 512, /* bytes, then tar.gz, or tar where the builder chose so */
    TAR_BLOCK = 512,
    INFLATE_FIRST = 1 << 20 /* bytes of room */
};

#define UNPACKED_LEN_MAX (UINT64_C(4) << 30)

/* ---- inflate ------------------------------------------------------------------------------- */

/* Makes room behind the first `have` bytes. */
static bool make_room(uint8_t **out, size_t *cap, size_t have)
{
    const size_t wanted = *cap > 0 ? *cap * 2 : INFLATE_FIRST;
    uint8_t *more;

    if (have < *cap)
        return true;
    if (wanted > UNPACKED_LEN_MAX || (more = realloc(*out, wanted)) == NULL)
        return false;
    *out = more;
    *cap = wanted;
    return true;
}

/* Inflates a whole gzip stream into memory that is malloc'ed. */
static enum sl_status inflate_all(const char *path, const uint8_t *bytes, size_t len, uint8_t **out,
                                  size_t *out_len, struct sl_diag *diag)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes};
    size_t cap = 0, have = 0, given = 0;
    int result = Z_OK;

    *out = NULL;
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return diag_set(diag, SL_ENOMEM, path, 0, "out of memory");
    while (result == Z_OK && make_room(out, &cap, have)) {
        const size_t room = cap - have < UINT_MAX ? cap - have : UINT_MAX;
        const size_t rest = len - given < UINT_MAX ? len - given : UINT_MAX;

        stream.avail_in = (uInt)rest;
        stream.next_out = *out + have;
        stream.avail_out = (uInt)room;
        result = inflate(&stream, Z_NO_FLUSH);
        given += rest - stream.avail_in;
        have += room - stream.avail_out;
        if (result == Z_BUF_ERROR && stream.avail_out == 0)
            result = Z_OK;
    }
    (void)inflateEnd(&stream);
    *out_len = have;
    if (result == Z_OK)
        return diag_set(diag, SL_ENOMEM, path, 0, "does not fit into memory unpacked");
    if (result != Z_STREAM_END)
        return diag_set(diag, SL_EFORMAT, path, 0, "is cut or damaged: it cannot be unpacked");
    return SL_OK;
}

/* ---- tar ------------------------------------------------------------------------------------- */

/* Reads an octal number of a tar header. Spaces and zeros end it. */
static bool read_octal(const uint8_t *at, size_t len, uint64_t *value)
{
    size_t i = 0;

    *value = 0;
    while (i < len && at[i] == ' ')
        i++;
    for (; i < len && at[i] >= '0' && at[i] <= '7'; i++)
        *value = *value << 3 | (uint64_t)(at[i] - '0');
    return i == len || at[i] == ' ' || at[i] == '\0';
}

static enum sl_status read_members(struct sl_clamav_set *set, const char *path, const uint8_t *tar,
                                   size_t len, bool ignores, struct sl_diag *diag)
{
    for (size_t at = 0; len - at >= TAR_BLOCK && tar[at] != '\0';) {
        char name[101], shown[512];
        uint64_t size;

        memcpy(name, tar + at, 100);
        name[100] = '\0';
        if (!read_octal(tar + at + 124, 12, &size) || size > len - at - TAR_BLOCK)
            return diag_set(diag, SL_EFORMAT, path, 0, "is cut or damaged at its member '%s'",
                            name);
        const enum clam_format format = clam_format_of(name);
        const bool is_file = tar[at + 156] == '0' || tar[at + 156] == '\0';

        if (is_file && format != CLAM_UNKNOWN && format != CLAM_CVD &&
            (format == CLAM_IGN2) == ignores) {
            snprintf(shown, sizeof shown, "%.300s:%s", path, name);
            const enum sl_status status = clam_text_read(
                set, shown, (const char *)tar + at + TAR_BLOCK, (size_t)size, true, diag);
            if (status != SL_OK)
                return status;
        }
        size = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK + TAR_BLOCK;
        at = size < len - at ? at + (size_t)size : len;
    }
    return SL_OK;
}

/* ---- the container --------------------------------------------------------------------------- */

/* ClamAV-VDB:time:version:signatures:level:MD5:signature:builder:seconds */
static enum sl_status check_header(const char *path, const uint8_t *bytes, size_t len,
                                   struct sl_diag *diag)
{
    struct clam_text rest = {(const char *)bytes, CVD_HEADER_LEN}, field = {NULL, 0};
    uint8_t digest[16];
    char text[33];

    if (len < CVD_HEADER_LEN || memcmp(bytes, "ClamAV-VDB:", 11) != 0)
        return diag_set(diag, SL_EFORMAT, path, 0, "is no ClamAV container");
    for (int i = 0; i < 6; i++)
        clam_text_cut(&rest, ':', &field);
    if (clam_md5_is_refused())
        return diag_set(diag, SL_EUNSUPPORTED, path, 0,
                        "cannot be checked: OpenSSL refuses to make its MD5");
    if (!clam_md5(bytes + CVD_HEADER_LEN, len - CVD_HEADER_LEN, digest))
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory to make its MD5");
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    if (field.len != 32 || strncasecmp(field.at, text, 32) != 0)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "is cut or damaged: its MD5 is %s (its header says %.*s)", text,
                        (int)(field.len < 64 ? field.len : 64), field.at);
    return SL_OK;
}

enum sl_status clam_container_read(struct sl_clamav_set *set, const char *path,
                                   const uint8_t *bytes, size_t len, bool ignores,
                                   struct sl_diag *diag)
{
    uint8_t *unpacked = NULL;
    enum sl_status status = check_header(path, bytes, len, diag);

    if (status != SL_OK || len < CVD_HEADER_LEN)
        return status;
    const uint8_t *tar = bytes + CVD_HEADER_LEN;
    len -= CVD_HEADER_LEN;
    if (len >= 2 && tar[0] == 0x1F && tar[1] == 0x8B) {
        status = inflate_all(path, tar, len, &unpacked, &len, diag);
        tar = unpacked;
    }
    if (status == SL_OK && tar != NULL)
        status = read_members(set, path, tar, len, ignores, diag);
    free(unpacked);
    set->n_unchecked += status == SL_OK && !ignores;
    return status;
}
