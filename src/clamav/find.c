/* SPDX-License-Identifier: MIT */
#include "clamav/find.h"

#include "base/cpu.h"

static uint8_t fold_of(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ? 0x20 : 0;
}

void clam_needle_init(struct clam_needle *needle, const uint8_t *key, size_t len, bool nocase)
{
    needle->key = key;
    needle->len = len;
    needle->nocase = nocase;
    for (size_t i = 0; i < CLAM_PROBES; i++) {
        needle->at[i] = i * (len - 1) / (CLAM_PROBES - 1);
        needle->fold[i] = nocase ? fold_of(key[needle->at[i]]) : 0;
        needle->value[i] = key[needle->at[i]] | needle->fold[i];
    }
}

bool clam_needle_equals(const struct clam_needle *needle, const uint8_t *text)
{
    if (!needle->nocase)
        return memcmp(text, needle->key, needle->len) == 0;
    for (size_t i = 0; i < needle->len; i++) {
        const uint8_t fold = fold_of(needle->key[i]);

        if ((text[i] | fold) != (needle->key[i] | fold))
            return false;
    }
    return true;
}

size_t clam_find_scalar(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    if (!needle->nocase && n > 0) {
        const uint8_t *found = memmem(text, n + needle->len - 1, needle->key, needle->len);

        return found != NULL ? (size_t)(found - text) : n;
    }
    for (size_t at = 0; at < n; at++)
        if ((text[at] | needle->fold[0]) == needle->value[0] &&
            clam_needle_equals(needle, text + at))
            return at;
    return n;
}

clam_find_fn *clam_find_choose(void)
{
    switch (cpu_level()) {
#if defined(__x86_64__)
    case CPU_AVX512:
        return clam_find_avx512;
    case CPU_AVX2:
        return clam_find_avx2;
#endif
    default:
        return clam_find_scalar;
    }
}
