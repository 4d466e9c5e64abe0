/* SPDX-License-Identifier: MIT */
/* The object of a protocol in an event, as a visit of its members. A protocol knows names, values
 * and order; a format writes them. All arguments are borrowed for the call. */
#ifndef APP_VISIT_H
#define APP_VISIT_H

#include <stddef.h>
#include <stdint.h>

/* The functions of a format. `to` is its own. `key` is NULL for elements of a list. */
struct app_visit {
    void (*open)(void *to, const char *key, char bracket); /* '{': an object, '[': a list */
    void (*close)(void *to, char bracket);                 /* '}' or ']' */
    void (*number)(void *to, const char *key, uint64_t number);
    void (*truth)(void *to, const char *key);                              /* true */
    void (*text)(void *to, const char *key, const void *text, size_t len); /* any bytes */
    /* Bytes as two hexadecimal digits each, with the separator between them unless it is 0. */
    void (*hex)(void *to, const char *key, const uint8_t *bytes, size_t len, char separator);
    void *to;
};

#endif
