/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of each type of data, and as operations on a set, which a list repeats. */
#include <stdlib.h>
#include <string.h>

#include "data_ref.h"
#include "detect/data/data_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool met)
{
    if (!met)
        abort();
}

/* Reads a file. The values in the set are found. */
static void read_file(enum data_type type, enum data_format format, const uint8_t *text, size_t len)
{
    const struct data_form form = {format, "a.b", len % 2 != 0 ? "c" : NULL};
    struct data_set set = {.type = type, .memory_max = 4096};
    struct data_value value;
    struct sl_diag diag = {0};
    size_t at = 0;
    uint32_t n = 0;
    uint16_t reputation;

    const enum sl_status status =
        data_text_read(&set, &form, "fuzz", (const char *)text, len, &diag);

    expect(status == SL_OK || (status == SL_EFORMAT && diag.text[0] != '\0' &&
                               (diag.line != 0 || format != DATA_LINES)));
    for (; data_set_next(&set, &at, &value); n++)
        expect((type == DATA_IPV4 || data_set_find(&set, value.bytes, value.len, &reputation)) &&
               (type == DATA_IPV4 || reputation == value.reputation));
    expect(n == set.n && set.memory <= set.memory_max);
    data_set_free(&set);
}

/* Each pair of bytes is an operation and a value of few. */
static void change(const uint8_t *data, size_t size)
{
    struct data_set set = {.type = DATA_STRING, .memory_max = 1 << 20, .secret = size};
    struct data_ref *ref = calloc(1, sizeof *ref);
    uint16_t reputation;

    for (size_t i = 0; i + 1 < size; i += 2) {
        const uint8_t value[4] = {data[i + 1], 1, 2, 3};
        const uint32_t len = 1 + data[i + 1] % 4;

        if (data[i] % 3 == 0)
            expect(data_set_remove(&set, value, len) == data_ref_remove(ref, value, len));
        else if (data[i] % 3 == 1)
            expect((data_set_add(&set, value, len, 0) == DATA_ADDED) ==
                   data_ref_add(ref, value, len, 0));
        else
            expect(data_set_find(&set, value, len, &reputation) ==
                   (data_ref_find(ref, value, len) != ref->n));
    }
    expect(set.n == ref->n);
    data_set_free(&set);
    free(ref);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 6 == 5)
        change(data + 1, size - 1);
    else
        read_file((enum data_type)(data[0] % 6), (enum data_format)(data[0] / 6 % 3), data + 1,
                  size - 1);
    return 0;
}
