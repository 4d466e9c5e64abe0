/* SPDX-License-Identifier: MIT */
#include "base/cpu.h"
#include "batch/cpu_backend.h"
#include "engines/seam/seam_look.h"
#include "engines/seam/seam_table.h"

/* The places of a direction that are looked at next. */
struct group {
    struct seam_set set;
    uint32_t n;
    uint32_t item[SEAM_PLACES];
};

/* Appends the hits of a place, in the ways that it passed. */
static void compare(const struct seam_set *set, const struct sl_batch *batch, uint32_t item,
                    uint32_t ways, struct sl_hits *hits)
{
    uint8_t room[SEAM_BEFORE_MAX];
    const struct seam_sides sides = seam_sides_of(batch, item, set->n_before, room);
    struct seam_walk walk = seam_walk_of(set, &sides, ways);
    const struct seam_cut *cut;

    while ((cut = seam_walk_next(&walk)) != NULL)
        cpu_hits_append(hits, item, set->base + cut->n_behind, set->literal[cut->literal].id);
}

static struct sl_span span_before(const struct sl_batch *batch, uint32_t item)
{
    return batch->payload[(batch->before[item] & SL_BEFORE_NUMBER) - 1];
}

/* Reads the nearest bytes of the group's places. Returns those that have so many on either side. */
static uint32_t read_near(const struct group *group, const struct sl_batch *batch,
                          struct seam_places *places)
{
    uint32_t usual = 0;

    for (uint32_t i = 0; i < group->n; i++) {
        const struct sl_span before = span_before(batch, group->item[i]);
        const struct sl_span behind = batch->payload[group->item[i]];

        if (before.len < SEAM_NEAR || behind.len < SEAM_NEAR)
            continue;
        memcpy(&places->before[i], batch->bytes + before.offset + before.len - SEAM_NEAR,
               SEAM_NEAR);
        memcpy(&places->behind[i], batch->bytes + behind.offset, SEAM_NEAR);
        usual |= UINT32_C(1) << i;
    }
    return usual;
}

/* Fetches the first cuts of a place's ways. */
static void fetch_cuts(const struct seam_set *set, const struct seam_places *places, uint32_t i)
{
    const struct seam_near near = {places->before[i], places->behind[i]};

    for (uint32_t ways = places->ways[i]; ways != 0; ways &= ways - 1)
        __builtin_prefetch(
            &set->cut[set->slot[seam_slot_of(set, (enum seam_way)__builtin_ctz(ways), near)]
                          .first]);
}

/* Looks at all places of the group, which is empty then. */
static void find(struct group *group, const struct sl_batch *batch, seam_look_fn *look,
                 struct sl_hits *hits)
{
    const struct seam_set *const set = &group->set;
    struct seam_places places;
    const uint32_t usual = read_near(group, batch, &places);
    const uint32_t passed = look(set, &places, usual);

    for (uint32_t rest = passed; rest != 0; rest &= rest - 1)
        fetch_cuts(set, &places, (uint32_t)__builtin_ctz(rest));
    for (uint32_t i = 0; i < group->n; i++) {
        const uint32_t item = group->item[i];
        const uint32_t ways = (passed >> i & 1) != 0  ? places.ways[i]
                              : (usual >> i & 1) != 0 ? 0
                                                      : seam_ways_at(set, batch, item);

        if (ways != 0)
            compare(set, batch, item, ways, hits);
    }
    group->n = 0;
}

static void add(struct group *group, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_span before = span_before(batch, item);

    __builtin_prefetch(batch->bytes + before.offset + before.len - 1);
    __builtin_prefetch(batch->bytes + batch->payload[item].offset);
    group->item[group->n++] = item;
}

static enum sl_status scan(const struct seam_table *table, const struct sl_batch *batch,
                           seam_look_fn *look, struct sl_hits *hits)
{
    struct group group[2] = {{.set = seam_set_of(table, false)}, {.set = seam_set_of(table, true)}};

    for (uint32_t item = 0; batch->has_before && item < batch->n_items; item++) {
        struct group *const mine = &group[(batch->before[item] & SL_BEFORE_TO_SERVER) != 0];

        if (batch->before[item] == 0 || batch->payload[item].len == 0)
            continue;
        add(mine, batch, item);
        if (mine->n == SEAM_PLACES)
            find(mine, batch, look, hits);
    }
    for (int to = 0; to < 2; to++)
        find(&group[to], batch, look, hits);
    return SL_OK;
}

static enum sl_status scan_scalar(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    return scan(cpu->table, batch, seam_look_scalar, hits);
}

CPU_BACKEND(seam_scalar, "scalar", scan_scalar);

#if defined(__x86_64__)
static bool avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

static enum sl_status scan_avx512(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    return scan(cpu->table, batch, seam_look_avx512, hits);
}

CPU_BACKEND_WHERE(seam_avx512, "avx512", avx512_usable, scan_avx512);
#endif

static const struct sl_backend *const backends[] = {&seam_cuda,
#if defined(__x86_64__)
                                                    &seam_avx512,
#endif
                                                    &seam_scalar, NULL};

const struct sl_engine *seam_engine(void)
{
    static const struct sl_engine engine = {.name = "seams", .backends = backends};

    return &engine;
}
