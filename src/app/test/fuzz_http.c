/* SPDX-License-Identifier: MIT */
/* Any bytes as both sides of a flow of HTTP: the reports do not depend on the cuts. */
#include "app_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char begin[] = "GET / HTTP/1.1\r\n\r\n";

    trial_fuzz(begin, sizeof begin - 1, data, size);
    return 0;
}
