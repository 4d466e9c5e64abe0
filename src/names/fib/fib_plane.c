/* SPDX-License-Identifier: MIT */
/* The planes of this build, by name. */
#include <string.h>

#include "base/diag.h"
#include "fib_internal.h"

#ifdef SLUICE_PAPERS
static const struct fib_plane *const planes[] = {&fib_hash_plane, &fib_mata_plane, &fib_ata_plane,
                                                 &fib_stt_plane};
static const char *const names[] = {"hash", "mata", "ata", "stt", NULL};
static const char expected[] = "auto, hash, mata, ata or stt";
static const char *const absent[] = {NULL};
#else
static const struct fib_plane *const planes[] = {&fib_hash_plane, &fib_mata_plane};
static const char *const names[] = {"hash", "mata", NULL};
static const char expected[] = "auto, hash or mata";
static const char *const absent[] = {"ata", "stt", NULL};
#endif

const char *const *sl_fib_planes(void)
{
    return names;
}

const struct fib_plane *fib_find_plane(const char *name)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return planes[i];
    return NULL;
}

enum sl_status fib_choose_plane(const struct fib_plane **plane, const char *name,
                                struct sl_diag *diag)
{
    *plane = fib_find_plane(name == NULL || strcmp(name, "auto") == 0 ? names[0] : name);
    if (*plane != NULL)
        return SL_OK;
    for (size_t i = 0; absent[i] != NULL; i++)
        if (strcmp(absent[i], name) == 0)
            return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                            "the plane '%s' is one of the papers', which this build leaves out",
                            name);
    return diag_set(diag, SL_EINVAL, NULL, 0, "no plane '%s' (expected %s)", name, expected);
}
