/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "stream_operations.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_len);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_len)
{
    if (stream_operations_check(input, input_len) != NULL)
        abort();
    return 0;
}
