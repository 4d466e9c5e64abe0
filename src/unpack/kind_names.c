/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "unpack/kind.h"
#include "unpack/target.h"

static const struct {
    const char *name, *clam;
    uint8_t target;
    bool is_container;
} kinds[KINDS] = {
#define X(constant, name, clam, target, opened) {name, clam, CLAM_##target, opened},
#include "unpack/kind_list.h"
#undef X
};

const char *kind_name(enum kind kind)
{
    return kinds[kind].name;
}

const char *kind_clam_name(enum kind kind)
{
    return kinds[kind].clam;
}

bool kind_is_same(enum kind a, enum kind b)
{
    return a == b || (a < KINDS && b < KINDS && strcmp(kinds[a].clam, kinds[b].clam) == 0);
}

enum kind kind_of_clam_name(const char *name, size_t len)
{
    for (int k = 0; k < KINDS; k++)
        if (len > 0 && strlen(kinds[k].clam) == len && memcmp(kinds[k].clam, name, len) == 0)
            return (enum kind)k;
    return KINDS;
}

uint8_t kind_target(enum kind kind)
{
    return kinds[kind].target;
}

bool kind_is_container(enum kind kind)
{
    return kinds[kind].is_container;
}
