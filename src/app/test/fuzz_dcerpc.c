/* SPDX-License-Identifier: MIT */
/* Any bytes as both sides of a flow of DCE/RPC, behind a bind: the reports do not depend on the
 * cuts. */
#include "app_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char bind[] = "\5\0\x0b\3\x10\0\0\0\x48\0\0\0\1\0\0\0"
                               "\0\0\0\0\0\0\0\0\1\0\0\0"
                               "\0\0\1\0"
                               "0123456789abcdef\1\0\0\0"
                               "0123456789abcdef\2\0\0\0";

    trial_fuzz(bind, sizeof bind - 1, data, size);
    return 0;
}
