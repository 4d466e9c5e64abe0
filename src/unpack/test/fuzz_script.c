/* SPDX-License-Identifier: MIT */
#include "unpack/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct unpack_buffer buffer = {.max = 1 << 20};

    (void)script_normalize(data, len, &buffer);
    unpack_buffer_free(&buffer);
    return 0;
}
