/* SPDX-License-Identifier: MIT */
/* A set of data, slowly: a list of values that is searched from end to end. */
#ifndef DETECT_TEST_DATA_REF_H
#define DETECT_TEST_DATA_REF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_REF_MAX = 512, DATA_REF_LEN = 40 };

struct data_ref {
    struct {
        uint8_t bytes[DATA_REF_LEN];
        uint32_t len;
        uint16_t reputation;
    } value[DATA_REF_MAX];
    uint32_t n;
};

/* The index of a value; n: it is not there. */
static inline uint32_t data_ref_find(const struct data_ref *ref, const uint8_t *bytes, uint32_t len)
{
    uint32_t i = 0;

    while (i < ref->n && (ref->value[i].len != len || memcmp(ref->value[i].bytes, bytes, len) != 0))
        i++;
    return i;
}

/* False: it was there. */
static inline bool data_ref_add(struct data_ref *ref, const uint8_t *bytes, uint32_t len,
                                uint16_t reputation)
{
    if (data_ref_find(ref, bytes, len) != ref->n)
        return false;
    if (ref->n == DATA_REF_MAX || len > DATA_REF_LEN)
        abort();
    memcpy(ref->value[ref->n].bytes, bytes, len);
    ref->value[ref->n].len = len;
    ref->value[ref->n++].reputation = reputation;
    return true;
}

/* False: it was not there. */
static inline bool data_ref_remove(struct data_ref *ref, const uint8_t *bytes, uint32_t len)
{
    const uint32_t i = data_ref_find(ref, bytes, len);

    if (i == ref->n)
        return false;
    memmove(&ref->value[i], &ref->value[i + 1], (ref->n - i - 1) * sizeof ref->value[0]);
    ref->n--;
    return true;
}

#endif
