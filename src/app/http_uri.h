/* SPDX-License-Identifier: MIT */
/* URIs of HTTP, cut and normalised as libhtp does for Suricata (personality IDS, which keeps the
 * case of letters). */
#ifndef APP_HTTP_URI_H
#define APP_HTTP_URI_H

#include "app_text.h"

/* Parts of a URI, where they lie in it. bytes NULL: the part is not there. */
struct http_uri {
    struct app_span scheme, host, port, path, query, fragment;
};

void http_uri_cut(struct http_uri *uri, struct app_span text);

/* The host and the port of a field Host, or of the URI of CONNECT. */
void http_host_cut(struct app_span *host, struct app_span *port, struct app_span text);

/* Appends path, query and fragment: %XX and %uXXXX decoded; of the path also UTF-8 brought to one
 * byte a character, backslashes turned, runs of slashes made one, and dot segments taken out. */
void http_uri_normal(struct app_text *text, const struct http_uri *uri);

/* Appends a host in lower case, decoded where it is a URI's, without periods at its end. */
void http_host_normal(struct app_text *text, struct app_span host, bool of_uri);

#endif
