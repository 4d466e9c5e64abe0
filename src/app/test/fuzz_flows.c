/* SPDX-License-Identifier: MIT */
/* Any bytes as both sides of a flow of TLS or DNS, or of no protocol so far: what is told does not
 * depend on the cuts. The first byte says which. Then two bytes of each act say its side, whether
 * it is a gap, and its length. */
#include <stdlib.h>
#include <string.h>

#include "app_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void play(struct app_trial *trial, const uint8_t *data, uint32_t len, uint32_t mean)
{
    static const struct {
        const char *bytes;
        uint32_t len;
    } begins[] = {
        {"\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9},
        {"\x00\x13\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01x\x00\x00\x01\x00\x01", 21},
        {"", 0}};
    const uint32_t which = len != 0 ? data[0] % 3 : 0;
    uint64_t seed = len + 1;

    trial_begin(trial);
    trial_give(trial, APP_CLIENT, begins[which].bytes, begins[which].len, mean, &seed);
    for (uint32_t at = 1; at + 2 <= len;) {
        const enum app_side side = (data[at] & 1) != 0 ? APP_SERVER : APP_CLIENT;
        const bool is_gap = (data[at] & 0xF0) == 0xF0;
        const uint32_t left = len - at - 2, want = (data[at] & 0x0E) * 64U + data[at + 1];
        const uint32_t n = want < left ? want : left;

        at += 2;
        if (is_gap) {
            trial_gap(trial, side, want);
            continue;
        }
        trial_give(trial, side, data + at, n, mean, &seed);
        at += n;
    }
    trial_end(trial);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t len = size < 65536 ? (uint32_t)size : 65536;
    struct app_trial whole, cut;

    play(&whole, data, len, 0);
    play(&cut, data, len, 3);
    if (whole.failed || cut.failed || whole.told.len != cut.told.len ||
        memcmp(whole.told.bytes, cut.told.bytes, whole.told.len) != 0)
        abort();
    trial_free(&whole);
    trial_free(&cut);
    return 0;
}
