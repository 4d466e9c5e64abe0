/* SPDX-License-Identifier: MIT */
/* A reader, FUZZ_KIND, or with KINDS the whole tree of any bytes. Each byte that is given is read.
 */
#include <stdlib.h>

#include "unpack/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool read_event(void *user, struct unpack_event *event, const uint8_t *bytes)
{
    uint64_t *sum = user;

    if (event->kind >= KINDS || event->n_containers > UNPACK_CONTAINERS_MAX)
        abort();
    for (uint64_t i = 0; bytes != NULL && i < event->len; i++)
        *sum += bytes[i];
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct unpack_request request = {
        .limits = {1 << 20, 4 << 20, 6, 200, .html_len_max = 1 << 20, .html_text_len_max = 1 << 18,
                   .text_len_max = 1 << 20},
        .normalizes = true,
        .wants_links = true};
    uint64_t sum = 0;
    struct unpack *unpack = unpack_create(read_event, &sum);

    if (unpack == NULL)
        return 0;
    static const uint8_t passwords[] = "\0\1a";
    unpack_set_passwords(unpack, passwords, sizeof passwords - 1);
    if (FUZZ_KIND == KINDS)
        unpack_file(unpack, &request, data, len);
    else
        unpack_file_as(unpack, &request, data, len, FUZZ_KIND);
    unpack_free(unpack);
    return 0;
}
