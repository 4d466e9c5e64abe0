/* SPDX-License-Identifier: MIT */
/* The server name of a ClientHello of TLS (RFC 8446). For host and CUDA code. */
#ifndef PACKET_NAMES_TLS_CORE_H
#define PACKET_NAMES_TLS_CORE_H

#include "packet_names_out_core.h"

enum {
    NAME_TLS_CHANGE_CIPHER = 20,
    NAME_TLS_HANDSHAKE = 22,
    NAME_TLS_CLIENT_HELLO = 1,
    NAME_TLS_SERVER_NAME = 0,
    NAME_TLS_SUPPORTED_VERSIONS = 43,
    NAME_TLS_RECORD_MAX = 16384 + 2048 /* bytes; RFC 5246, section 6.2.3 */
};

/* Goes over a message that may be spread over records. */
struct name_tls {
    const uint8_t *bytes;
    uint32_t len, at;
    uint32_t record_left; /* bytes of the present record */
    bool cut, bad;        /* why there is nothing more */
};

/* False: the next byte is not here. */
BYTES_INLINE bool name_tls_open_record(struct name_tls *tls)
{
    if (tls->record_left == 0) {
        if (tls->len - tls->at < 5) {
            tls->cut = true;
            return false;
        }
        const uint8_t *head = tls->bytes + tls->at;

        tls->record_left = load_be16(head + 3);
        if (head[0] != NAME_TLS_HANDSHAKE || head[1] != 3 || tls->record_left == 0 ||
            tls->record_left > NAME_TLS_RECORD_MAX) {
            tls->bad = true;
            return false;
        }
        tls->at += 5;
    }
    tls->cut = tls->at == tls->len;
    return !tls->cut;
}

BYTES_INLINE bool name_tls_skip(struct name_tls *tls, uint32_t n)
{
    while (n > 0) {
        if (!name_tls_open_record(tls))
            return false;
        uint32_t step = n < tls->record_left ? n : tls->record_left;

        if (step > tls->len - tls->at)
            step = tls->len - tls->at;
        tls->at += step;
        tls->record_left -= step;
        n -= step;
    }
    return true;
}

/* A number of n bytes, out of the *left that belong to what is read. */
BYTES_INLINE bool name_tls_number(struct name_tls *tls, uint32_t *left, uint32_t n,
                                  uint32_t *number)
{
    if (*left < n) {
        tls->bad = true;
        return false;
    }
    *left -= n;
    for (*number = 0; n > 0; n--) {
        if (!name_tls_open_record(tls))
            return false;
        *number = *number << 8 | tls->bytes[tls->at++];
        tls->record_left--;
    }
    return true;
}

/* A vector of bytes behind its length of n bytes, passed over. */
BYTES_INLINE bool name_tls_vector(struct name_tls *tls, uint32_t *left, uint32_t n)
{
    uint32_t len;

    if (!name_tls_number(tls, left, n, &len))
        return false;
    if (len > *left) {
        tls->bad = true;
        return false;
    }
    *left -= len;
    return name_tls_skip(tls, len);
}

/* The host name of an extension server_name (RFC 6066, section 3) of `left` bytes, into
 * host[NAME_HOST_TEXT_MAX + 1]; *host_len is what it has, maybe more. */
BYTES_INLINE bool name_tls_host(struct name_tls *tls, uint32_t left, char *host, uint32_t *host_len,
                                uint32_t *offset)
{
    uint32_t list, type, len;

    if (!name_tls_number(tls, &left, 2, &list))
        return false;
    if (list != left) {
        tls->bad = true;
        return false;
    }
    while (left > 0) {
        if (!name_tls_number(tls, &left, 1, &type) || !name_tls_number(tls, &left, 2, &len))
            return false;
        if (len > left) {
            tls->bad = true;
            return false;
        }
        left -= len;
        if (type != 0 || *offset != 0) {
            if (!name_tls_skip(tls, len))
                return false;
            continue;
        }
        for (uint32_t i = 0; i < len; i++) {
            uint32_t one = 1, byte;

            if (!name_tls_number(tls, &one, 1, &byte)) {
                *offset = 0;
                return false;
            }
            if (i == 0)
                *offset = tls->at - 1;
            if (i <= NAME_HOST_TEXT_MAX)
                host[i] = (char)byte;
        }
        *host_len = len;
        if (len == 0)
            *offset = tls->at; /* empty, and there all the same */
    }
    return true;
}

/* The highest version of an extension supported_versions (RFC 8446, section 4.2.1). Versions that
 * do not exist, as those of GREASE, do not count. */
BYTES_INLINE bool name_tls_versions(struct name_tls *tls, uint32_t left, uint32_t *version)
{
    uint32_t len, offered;

    if (!name_tls_number(tls, &left, 1, &len))
        return false;
    while (left >= 2) {
        if (!name_tls_number(tls, &left, 2, &offered))
            return false;
        if (offered >= 0x0300 && offered <= 0x0304 && offered > *version)
            *version = offered;
    }
    return name_tls_skip(tls, left);
}

struct name_tls_hello {
    char host[NAME_HOST_TEXT_MAX + 1];
    uint32_t host_len, offset; /* offset 0: no server name */
    uint32_t version;
};

BYTES_INLINE bool name_tls_extensions(struct name_tls *tls, uint32_t left,
                                      struct name_tls_hello *hello)
{
    uint32_t all, type, len;

    if (left == 0)
        return true;
    if (!name_tls_number(tls, &left, 2, &all))
        return false;
    if (all != left) {
        tls->bad = true;
        return false;
    }
    while (left > 0) {
        if (!name_tls_number(tls, &left, 2, &type) || !name_tls_number(tls, &left, 2, &len))
            return false;
        if (len > left) {
            tls->bad = true;
            return false;
        }
        left -= len;
        const bool good =
            type == NAME_TLS_SERVER_NAME && hello->offset == 0
                ? name_tls_host(tls, len, hello->host, &hello->host_len, &hello->offset)
            : type == NAME_TLS_SUPPORTED_VERSIONS ? name_tls_versions(tls, len, &hello->version)
                                                  : name_tls_skip(tls, len);
        if (!good)
            return false;
    }
    return true;
}

/* False: no ClientHello. As much of it is read as is there, also where its end is cut off. */
BYTES_INLINE bool name_tls_read(struct name_tls *tls, struct name_tls_hello *hello)
{
    uint32_t head = 6, left, type;

    if (!name_tls_number(tls, &head, 1, &type) || type != NAME_TLS_CLIENT_HELLO)
        return false;
    if (!name_tls_number(tls, &head, 3, &left))
        return true;
    if (!name_tls_number(tls, &left, 2, &hello->version))
        return true;
    if (hello->version >> 8 != 3)
        return false; /* encrypted bytes that begin with a 1 */
    if (left < 32) {
        tls->bad = true;
        return true;
    }
    left -= 32;
    if (name_tls_skip(tls, 32) && name_tls_vector(tls, &left, 1) &&
        name_tls_vector(tls, &left, 2) && name_tls_vector(tls, &left, 1))
        (void)name_tls_extensions(tls, left, hello);
    return true;
}

/* A client that must try again sends a record of its own before its second ClientHello, for old
 * middleboxes (appendix D.4). */
BYTES_INLINE bool name_tls_is_change_cipher(const uint8_t *bytes, uint32_t len)
{
    return len >= 6 && bytes[0] == NAME_TLS_CHANGE_CIPHER && bytes[1] == 3 &&
           load_be16(bytes + 3) == 1;
}

BYTES_INLINE void name_extract_tls(struct name_out *out, const uint8_t *bytes, uint32_t len)
{
    struct name_tls tls = {bytes, len, 0, 0, false, false};
    struct sl_packet_name *found = &out->found[out->n];
    struct name_tls_hello hello;
    struct name_build build;

    if (name_tls_is_change_cipher(bytes, len))
        tls.at = 6;
    if (len - tls.at < 2 || bytes[tls.at] != NAME_TLS_HANDSHAKE || bytes[tls.at + 1] != 3)
        return;
    hello.host_len = hello.offset = hello.version = 0;
    if (!name_tls_read(&tls, &hello)) {
        if (tls.cut)
            name_miss(out, SL_PACKET_NAMES_MISS_TLS_CUT);
        return;
    }
    if (hello.offset == 0 || tls.bad) {
        name_miss(out, tls.bad   ? SL_PACKET_NAMES_MISS_TLS_BAD
                       : tls.cut ? SL_PACKET_NAMES_MISS_TLS_CUT
                                 : SL_PACKET_NAMES_MISS_TLS_NO_NAME);
        return;
    }
    name_begin(out, &build);
    if (hello.host_len > NAME_HOST_TEXT_MAX + 1 ||
        name_core_domain(&build, hello.host, hello.host_len) != NAME_GOOD) {
        name_miss(out, SL_PACKET_NAMES_MISS_TLS_HOST);
        return;
    }
    found->tls.version = (uint16_t)hello.version;
    out->len += build.len;
    name_keep(out, found, SL_PACKET_NAMES_TLS, hello.offset, SL_NAME_DOMAIN, build.bytes, build.len,
              build.len);
}

#endif
