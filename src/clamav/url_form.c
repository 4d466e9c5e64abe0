/* SPDX-License-Identifier: MIT */
/* The canonical form of an address, as lists of hashes (.gdb) have it. */
#include <string.h>

#include "clamav/url.h"
#include "clamav/url_internal.h"

/* Takes "/./" and "/part/../" out. ClamAV makes one pass, so that some stay. */
static char *take_out_dots(char *host, char *end)
{
    char *slash = strchr(host, '/');

    for (char *at = host; at < end; at++) {
        if (at + 2 < end && at[0] == '/' && at[1] == '.') {
            if (at[2] == '/') {
                memmove(at + 1, at + 3, (size_t)(end - at) - 3);
                end -= 2;
            } else if (at[2] == '.' && (at[3] == '/' || at[3] == '\0') && slash != NULL) {
                if (at + 4 < end)
                    memmove(slash + 1, at + 4, (size_t)(end - at) - 4);
                end -= 3 + (at - slash);
            }
        }
        if (*at == '/')
            slash = at;
    }
    *end = '\0';
    return end;
}

/* Writes what is no printable character as "%0A", as far as there is room. */
static char *escape(char *at, char *end, const char *limit)
{
    static const char digits[] = "0123456789ABCDEF";

    for (; at < end && end < limit; at++) {
        const unsigned char c = (unsigned char)*at;

        if (c > ' ' && c < 0x7F && c != '%' && c != '#')
            continue;
        memmove(at + 3, at + 1, (size_t)(end - at) - 1);
        *at++ = '%';
        *at++ = digits[c >> 4];
        *at = digits[c & 15];
        end += 2;
    }
    *at = '\0';
    return at;
}

/* Behind the scheme and the name of a user. */
static char *behind_user(char *url)
{
    char *host = strchr(url, ':');

    if (host == NULL)
        return NULL;
    host += 1 + strspn(host + 1, "/");
    char *const sign = memchr(host, '@', strcspn(host, ":/?"));
    return sign != NULL ? sign + 1 : host;
}

bool url_canonical(const char *url, struct url_form *form)
{
    char *const room = form->room;
    const size_t len = strlen(url);

    memset(form, 0, sizeof *form);
    if (len > URL_LEN_MAX)
        return false;
    memcpy(room, url, len);
    struct url_part part = {behind_user(room), room + len};
    if (part.at == NULL)
        return false;
    url_unescape(&part);
    char *host = part.at, *end = part.last;
    while (host < end && *host == '/')
        host++;
    while (host < end && *host == '.')
        host++;
    end = take_out_dots(host, end);
    end = escape(host, end, room + URL_LEN_MAX);
    const size_t host_len = strcspn(host, ":/?");
    for (char *c = host; c < host + host_len; c++)
        *c = url_lower(*c);
    /* The byte behind the host becomes "/", and the path begins one byte later. */
    if (host + host_len < end) {
        form->path = host + host_len + 2;
        memmove(host + host_len + 2, host + host_len + 1, (size_t)(end - host) - host_len);
        form->path_len = (size_t)(end - host) - host_len - 1;
    } else {
        form->path = host + host_len + 1;
    }
    host[host_len] = '/';
    host[host_len + 1] = '\0';
    form->host = host;
    form->host_len = host_len + 1;
    return true;
}

size_t url_hosts(const struct url_form *form, const char *hosts[URL_HOSTS])
{
    const char *const end = form->host + form->host_len;
    const char *dot = end;
    size_t n = 0, n_dots = 0;

    while (dot > form->host && n + 1 < URL_HOSTS) {
        dot--;
        if (*dot == '.' && n_dots++ > 0)
            hosts[n++] = dot + 1;
    }
    hosts[n++] = form->host;
    return n;
}

size_t url_paths(const struct url_form *form, size_t lengths[URL_PATHS])
{
    const char *const path = form->path;
    const size_t query = strcspn(path, "?"), reserved = query < form->path_len ? 3 : 2;
    size_t n = 0, at = 0, starts[URL_PATHS], n_starts = 0;

    while (n_starts < URL_PATHS - reserved && at + 1 < form->path_len) {
        const char *const slash = memchr(path + at + 1, '/', form->path_len - at - 1);

        if (slash == NULL)
            break;
        at = (size_t)(slash - path) + 1;
        starts[n_starts++] = at;
    }
    while (n_starts > 0)
        lengths[n++] = starts[--n_starts];
    lengths[n++] = 0;
    if (query < form->path_len)
        lengths[n++] = query;
    if (form->path_len > 0)
        lengths[n++] = form->path_len;
    return n;
}
