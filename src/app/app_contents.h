/* SPDX-License-Identifier: MIT */
/* The bytes of a file that passes: in memory at first, and beyond a bound in a temporary file that
 * has no name. A shard pays for them with credit, as for messages, so that no limit depends on cuts
 * into batches. A temporary file costs APP_CONTENTS_SPILL_PRICE, which calls with bytes of the file
 * may have brought. */
#ifndef APP_CONTENTS_H
#define APP_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "app_credit.h"

enum {
    APP_CONTENTS_MEMORY = 256 << 10, /* bytes of a file that lie in memory at most */
    APP_CONTENTS_MAX = 64 << 20,     /* bytes of a file that are kept */
    APP_CONTENTS_SPILLED_MAX = 8,    /* temporary files of a shard's flows */
    APP_CONTENTS_SPILL_PRICE = 256 << 10
};

/* The budget of a shard for its files. */
struct app_contents_budget {
    struct app_credit credit;
    uint64_t call;  /* counts */
    uint64_t share; /* that it brought */
    uint32_t n_spilled;
};

struct app_contents {
    struct app_contents *next; /* of those of a batch */
    struct sl_app_file *file;  /* that was reported with them */
    uint8_t *bytes;            /* all of them, or the last ones that `spilled` lacks */
    FILE *spilled;             /* NULL: none. Its descriptor has all bytes once they are complete */
    uint64_t len;
    uint64_t call, brought; /* the last with bytes of the file, and what all such have brought */
    uint32_t held, max;     /* bytes at `bytes`, and room there */
    bool is_lost;           /* some could not be kept, so that none is */
    bool is_wanted;         /* a rule wants the file stored */
    uint32_t n_found;       /* of a scan: so many entries, */
    uint32_t first_found;   /* from this one on */
};

/* A call with bytes of a flow begins. */
void app_contents_call(struct app_contents_budget *budget, uint32_t len);

/* NULL: no memory. */
struct app_contents *app_contents_create(void);

/* Adds bytes behind those before. */
void app_contents_add(struct app_contents *contents, struct app_contents_budget *budget,
                      const uint8_t *bytes, uint32_t len);

/* No more bytes come, or they are not wanted any more: the flow holds no temporary file. Once. */
void app_contents_end(const struct app_contents *contents, struct app_contents_budget *budget);

/* Behind the end: `spilled` gets all bytes, or they are lost. */
void app_contents_complete(struct app_contents *contents);

/* Frees a list. Accepts NULL. */
void app_contents_free(struct app_contents *contents);

#endif
