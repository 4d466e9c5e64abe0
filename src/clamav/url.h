/* SPDX-License-Identifier: MIT */
/* Addresses of links, brought into the forms that ClamAV compares. All texts end with a NUL and
 * have at most URL_LEN_MAX bytes. */
#ifndef CLAMAV_URL_H
#define CLAMAV_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { URL_LEN_MAX = 1024, URL_ROOM = URL_LEN_MAX + 8 };

/* Whether a text is an address: that of a link, or, with any scheme, what is shown of it. What is
 * shown may be cut behind a top-level domain. */
bool url_is_link(char *text, bool any_scheme);

/* Reduces an address to its scheme and its host in lower case. `before` gets what is shown before
 * its blanks are taken out; NULL: the address is that of a link. */
void url_reduce(char url[URL_ROOM], char *before);

/* The place of the host in a reduced address. False: the link is one of a mail address. */
bool url_find_host(const char *url, bool is_shown, size_t *from, size_t *to);

/* The domain that a host belongs to, as one registers it. */
const char *url_domain(const char *host);

/* The canonical form of an address, of which hashes are made: a host with "/" behind it, and a
 * path without "/" before it. */
struct url_form {
    char room[URL_ROOM + URL_LEN_MAX];
    const char *host, *path;
    size_t host_len, path_len; /* of the host with its "/" */
};

/* False: it has no scheme. */
bool url_canonical(const char *url, struct url_form *form);

/* The starts of up to five parts of the host that are looked up, and the lengths of up to six
 * starts of the path, in ClamAV's order. Return their numbers. */
enum { URL_HOSTS = 5, URL_PATHS = 6 };
size_t url_hosts(const struct url_form *form, const char *hosts[URL_HOSTS]);
size_t url_paths(const struct url_form *form, size_t lengths[URL_PATHS]);

#endif
