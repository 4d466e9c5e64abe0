/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "stream_operations.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_len);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_len)
{
    uint64_t n_trained = 0;

    if (stream_operations_check(input, input_len, &n_trained) != NULL)
        abort();
    return 0;
}
