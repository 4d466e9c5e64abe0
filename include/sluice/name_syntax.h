/* SPDX-License-Identifier: MIT */
/* A name: its encoding in memory, and the syntaxes in which people write it.
 *
 * A name in memory is its components back to back, in the encoding of NDN's packet format 0.3. A
 * component is a type, a length and the bytes; type and length are VAR-NUMBERs in their shortest
 * form. So a prefix of components is a prefix of bytes that ends where a component ends. /com/par
 * is no prefix of /com/parc. Any byte may stand in a component, and a component may be empty. The
 * root is the name of 0 bytes.
 *
 * A domain is its labels from the last to the first, in lower case, without the root's empty label:
 * www.parc.com is /com/parc/www. A URL is its host in that form, then each segment of its path.
 *
 * Every function here may be called from any thread. */
#ifndef SLUICE_NAME_SYNTAX_H
#define SLUICE_NAME_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- components ------------------------------------------------------------------------------ */

/* Numbers of components and names. */
enum {
    SL_NAME_GENERIC = 8,      /* the type of ordinary components (NDN's GenericNameComponent) */
    SL_NAME_TYPE_MAX = 65535, /* NDN's largest type; the smallest is 1 */
    SL_NAME_LEN_MAX = 16384,  /* bytes of a name in a table; an NDN packet has at most 8,800 */
    SL_NAME_HEAD_MAX = 8      /* bytes of a type and a length, at most, in names of a table */
};

/* A component of a name, in its memory. */
struct sl_name_component {
    const uint8_t *bytes;
    uint32_t len; /* bytes */
    uint32_t type;
};

/* Appends a component to the name of *name_len bytes in name[cap]. False: the component does not
 * fit, or its type is 0 or too large; nothing changes then. `bytes` may be NULL where len is 0. */
SL_CHECK SL_API bool sl_name_append(uint8_t *name, size_t cap, size_t *name_len, uint32_t type,
                                    const void *bytes, size_t len);

/* Reads the component at *at, which advances to the next one. False: the name ends at *at, or is
 * not well formed from there on; *at stays. */
SL_API bool sl_name_next(const uint8_t *name, size_t len, size_t *at,
                         struct sl_name_component *component);

/* Returns the bytes of the leading well-formed components: `len` where all is well formed. */
SL_API size_t sl_name_well_formed(const uint8_t *name, size_t len);

/* ---- syntaxes -------------------------------------------------------------------------------- */

/* The syntaxes of names. */
enum sl_name_syntax {
    SL_NAME_AUTO,   /* for reading: "/..." and "ndn:..." are NDN; a text with '/', ':', '?' or '['
                       is a URL; any other text is a domain */
    SL_NAME_NDN,    /* /com/parc/8=www/v=7 */
    SL_NAME_DOMAIN, /* www.parc.com */
    SL_NAME_URL     /* https://www.parc.com/a/b?c */
};

/* A name in memory. */
struct sl_name {
    const uint8_t *bytes;
    uint32_t len;      /* bytes, at most SL_NAME_LEN_MAX */
    uint32_t host_len; /* the first bytes, which are a URL's host; in other syntaxes len */
    enum sl_name_syntax syntax;
};

/* Reads a name of text_len bytes into the caller's bytes[bytes_cap], to which name->bytes then
 * points. Returns NULL, or the reason why the text is no name or has no room (static).
 *
 * NDN (Naming Conventions, NDN URI scheme): "/a/b" or "ndn:/a/b" with percent-escapes. A component
 * may be TYPE=VALUE, sha256digest= or params-sha256= in hexadecimal, or one of the numbers seg=,
 * off=, v=, t= and seq=. An empty component is "..."; a component of periods has three more. A
 * slash at the end has no meaning; "/" is the root.
 *
 * Domains: labels of letters, digits, '-' and '_'; a trailing dot has no meaning. A label beyond
 * ASCII must be an A-label (xn--...), which stays as it is. An IPv4 address is one component. "."
 * is the root.
 *
 * URLs (RFC 3986): the host as a domain, where an IPv6 address is one component; then the path's
 * segments. Percent-escapes of unreserved characters are undone, others are kept in upper case. "."
 * and ".." are resolved, and empty segments left out. A query is one more component, which begins
 * with '?'. Scheme, user, port and fragment are left out. */
SL_CHECK SL_API const char *sl_name_read(struct sl_name *name, enum sl_name_syntax syntax,
                                         uint8_t *bytes, uint32_t bytes_cap, const char *text,
                                         size_t text_len);

/* Writes a name in its syntax (AUTO: NDN) and in canonical form: reading the text gives a name that
 * is written the same. The text is cut to text_cap bytes with its NUL; it may be NULL where
 * text_cap is 0. Returns the bytes of the whole text without the NUL. */
SL_API size_t sl_name_write(const struct sl_name *name, char *text, size_t text_cap);

/* Reads the name of an NDN Interest or Data packet (packet format 0.3), bare or in an NDNLPv2
 * packet. Bytes behind the packet are ignored, for Ethernet pads. name->bytes points into the
 * packet. Returns NULL, or the reason why there is no name (static). */
SL_CHECK SL_API const char *sl_name_from_packet(struct sl_name *name, const uint8_t *packet,
                                                size_t packet_len);

#ifdef __cplusplus
}
#endif
#endif
