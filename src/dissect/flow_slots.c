/* SPDX-License-Identifier: MIT */
#include "flow_slots.h"

#include <string.h>

#include "base/diag.h"

enum { LEN_MAX = 256, ALIGN_MAX = 16 };

static uint32_t round_up(uint32_t len, uint32_t align)
{
    return (len + align - 1) / align * align;
}

static void add_slot(struct flow_slots *slots, const struct sl_flow_slot *slot)
{
    slots->slot[slots->n] = *slot;
    slots->at[slots->n] = round_up(slots->len, slot->align);
    slots->len = slots->at[slots->n++] + slot->len;
    slots->more_len += slot->more_len;
}

enum sl_status flow_slots_lay_out(struct flow_slots *slots, const struct sl_flow_config *config,
                                  struct sl_diag *diag)
{
    const struct sl_flow_slot own = {.len = sizeof(struct flow_settled),
                                     .align = _Alignof(struct flow_settled)};
    uint32_t align = own.align;

    *slots = (struct flow_slots){.n = 0};
    if (!config->keep_ends && config->n_slots == 0)
        return SL_OK;
    if (config->n_slots > SL_FLOW_SLOTS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u slots a flow (expected at most %d)",
                        config->n_slots, SL_FLOW_SLOTS_MAX);
    add_slot(slots, &own);
    for (uint32_t i = 0; i < config->n_slots; i++) {
        const struct sl_flow_slot *slot = &config->slots[i];

        if (slot->len == 0 || slot->len > LEN_MAX || slot->align == 0 || slot->align > ALIGN_MAX ||
            (slot->align & (slot->align - 1)) != 0)
            return diag_set(diag, SL_EINVAL, NULL, 0,
                            "a slot of %u bytes, aligned to %u (expected 1 to %d, and a power of "
                            "two up to %d)",
                            slot->len, slot->align, LEN_MAX, ALIGN_MAX);
        add_slot(slots, slot);
        if (slot->align > align)
            align = slot->align;
    }
    slots->len = round_up(slots->len, align);
    return SL_OK;
}

void flow_slots_list(const struct flow_slots *slots, uint8_t *of_flow,
                     void *slot[SL_FLOW_SLOTS_MAX])
{
    for (uint32_t i = 1; i < slots->n; i++)
        slot[i - 1] = of_flow + slots->at[i];
}

void flow_slots_release(const struct flow_slots *slots, uint32_t shard, uint8_t *of_flow)
{
    for (uint32_t i = 1; i < slots->n; i++)
        if (slots->slot[i].release != NULL)
            slots->slot[i].release(slots->slot[i].user, shard, of_flow + slots->at[i]);
    memset(of_flow, 0, slots->len);
}
