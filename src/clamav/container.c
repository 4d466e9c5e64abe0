/* SPDX-License-Identifier: MIT */
/* Containers (.cvd, .cld, .cud): a header, and behind it a tar of databases, as it is or
 * deflated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/inflate.h"
#include "clamav/container_check.h"

enum {
    TAR_BLOCK = 512,
    INFLATE_FIRST = 1 << 20 /* bytes of room */
};

#define UNPACKED_LEN_MAX (UINT64_C(4) << 30)

/* ---- inflate ------------------------------------------------------------------------------- */

static bool make_room(struct inflate_out *out)
{
    const size_t wanted = out->end > 0 ? out->end * 2 : INFLATE_FIRST;
    uint8_t *more;

    if (wanted > UNPACKED_LEN_MAX || (more = realloc(out->bytes, wanted)) == NULL)
        return false;
    out->bytes = more;
    out->end = wanted;
    return true;
}

/* Inflates a whole gzip stream into memory that is malloc'ed. */
static enum sl_status inflate_all(const char *path, const uint8_t *bytes, size_t len, uint8_t **out,
                                  size_t *out_len, struct sl_diag *diag)
{
    struct inflate *const inflate = inflate_open(INFLATE_GZIP);
    enum inflate_status result = INFLATE_GOES_ON;
    struct inflate_out to = {NULL, 0, 0};

    while (inflate != NULL && result == INFLATE_GOES_ON && to.at == to.end && make_room(&to))
        result = inflate_into(inflate, &bytes, &len, &to);
    inflate_close(inflate);
    *out = to.bytes;
    *out_len = to.at;
    if (result == INFLATE_GOES_ON && to.at == to.end)
        return diag_set(diag, SL_ENOMEM, path, 0, "does not fit into memory unpacked");
    if (result != INFLATE_OVER)
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

struct member {
    char name[101];
    uint8_t *bytes;
    size_t len;
    bool is_file;
};

/* A container whose header was checked. */
struct container {
    struct sl_clamav_set *set;
    const char *path;
    uint8_t *tar;
    size_t len;
    struct clam_text list; /* of members; NULL: none */
};

/* Reads the member at *at, which moves behind it. *ended: none is there. */
static enum sl_status next_member(const struct container *container, size_t *at,
                                  struct member *member, bool *ended, struct sl_diag *diag)
{
    const size_t left = container->len - *at;
    uint8_t *head = container->tar + *at;
    uint64_t size;

    *ended = left < TAR_BLOCK || head[0] == '\0';
    if (*ended)
        return SL_OK;
    memcpy(member->name, head, 100);
    member->name[100] = '\0';
    if (!read_octal(head + 124, 12, &size) || size > left - TAR_BLOCK)
        return diag_set(diag, SL_EFORMAT, container->path, 0,
                        "is cut or damaged at its member '%s'", member->name);
    member->bytes = head + TAR_BLOCK;
    member->len = (size_t)size;
    member->is_file = head[156] == '0' || head[156] == '\0';
    size = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK + TAR_BLOCK;
    *at += size < left ? (size_t)size : left;
    return SL_OK;
}

/* Finds the list of members, NAME.info, and checks it. */
static enum sl_status find_list(struct container *container, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    struct member member;
    bool ended = false;

    for (size_t at = 0; status == SL_OK && container->list.at == NULL;) {
        status = next_member(container, &at, &member, &ended, diag);
        if (status != SL_OK || ended)
            break;
        const size_t n = strlen(member.name);
        if (n > 5 && strcmp(member.name + n - 5, ".info") == 0)
            container->list = (struct clam_text){(const char *)member.bytes, member.len};
    }
    if (status == SL_OK && container->list.at != NULL)
        return container_check_list(container->set, container->path, &container->list, diag);
    if (status == SL_OK && container_kind_of(container->path) == CONTAINER_CLD)
        return diag_set(diag, SL_EFORMAT, container->path, 0, "has no signed list of members");
    return status;
}

static enum sl_status read_member(const struct container *container, const struct member *member,
                                  struct sl_diag *diag)
{
    const bool official = container_kind_of(container->path) != CONTAINER_CUD;
    enum sl_status status = SL_OK;
    char shown[512];

    if (container->list.at != NULL && official)
        status = container_check_member(container->list, container->path, member->name,
                                        member->bytes, member->len, diag);
    snprintf(shown, sizeof shown, "%.300s:%s", container->path, member->name);
    return status == SL_OK ? clam_text_read(container->set, shown, (char *)member->bytes,
                                            member->len, official, diag)
                           : status;
}

static enum sl_status read_members(const struct container *container, bool ignores,
                                   struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    struct member member;
    bool ended;

    for (size_t at = 0; status == SL_OK;) {
        status = next_member(container, &at, &member, &ended, diag);
        if (status != SL_OK || ended)
            break;
        const enum clam_format format = clam_format_of(member.name);
        if (member.is_file && format != CLAM_UNKNOWN && format != CLAM_CVD &&
            (format == CLAM_IGN2) == ignores)
            status = read_member(container, &member, diag);
    }
    return status;
}

/* ---- the container --------------------------------------------------------------------------- */

/* Each pass checks anew: the file was read again, and may have become another one. */
enum sl_status clam_container_read(struct sl_clamav_set *set, const char *path, uint8_t *bytes,
                                   size_t len, bool ignores, struct sl_diag *diag)
{
    const bool is_signed = container_kind_of(path) != CONTAINER_CUD;
    uint8_t *unpacked = NULL;
    enum sl_status status = container_check_header(set, path, bytes, len, diag);

    if (status != SL_OK || len < CONTAINER_HEADER_LEN)
        return status;
    struct container container = {
        set, path, bytes + CONTAINER_HEADER_LEN, len - CONTAINER_HEADER_LEN, {NULL, 0}};
    if (container.len >= 2 && container.tar[0] == 0x1F && container.tar[1] == 0x8B) {
        status = inflate_all(path, container.tar, container.len, &unpacked, &container.len, diag);
        container.tar = unpacked;
    }
    if (status == SL_OK && container.tar != NULL && is_signed)
        status = find_list(&container, diag);
    if (status == SL_OK && container.tar != NULL)
        status = read_members(&container, ignores, diag);
    free(unpacked);
    set->n_unchecked += status == SL_OK && !ignores && !is_signed;
    return status;
}
