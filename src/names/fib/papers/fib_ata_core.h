/* SPDX-License-Identifier: MIT */
/* The aligned transition array (section 2.2), and the two-dimensional table, which is the same with
 * a row of its own for each state. Compiled by C and by nvcc.
 *
 * A state is the place of its transition on byte 0, unlike all others; on byte b it is b slots on.
 * A slot holds the byte, so another state's transition there differs. The "byte" ATA_END leads from
 * a state that continues to its own entry's next hop. A slot is one 64-bit word: the byte, ATA_*
 * marks, and in the upper half the next state, or a leaf's next hop. */
#ifndef FIB_ATA_CORE_H
#define FIB_ATA_CORE_H

#include "names/fib/fib_view.h"

enum { ATA_END = 256, ATA_ROW = 257 /* slots that a state may read */ };

enum {
    ATA_BYTE = 511,
    ATA_USED = 512,
    ATA_ENTRY = 1024, /* an entry ends here */
    ATA_LEAF = 2048   /* nothing goes on from here */
};

FIB_CORE uint64_t ata_slot(uint32_t byte, uint32_t marks, uint32_t to)
{
    return (uint64_t)to << 32 | marks | ATA_USED | byte;
}

FIB_CORE const uint64_t *ata_at(const struct fib_view *view, uint32_t state, uint32_t byte)
{
    return (const uint64_t *)view->part[0] + state + byte;
}

/* The transition, 0: there is none. */
FIB_CORE uint64_t ata_find(const struct fib_view *view, uint32_t state, uint32_t byte)
{
    const uint64_t slot = fib_load64(ata_at(view, state, byte));

    return (slot & (ATA_BYTE | ATA_USED)) == (byte | ATA_USED) ? slot : 0;
}

struct ata_walk {
    uint32_t at;
    uint32_t state;
    uint64_t entry; /* the last transition with an entry, 0: none */
    uint32_t entry_len;
};

FIB_CORE void ata_begin(const struct fib_view *view, struct ata_walk *walk)
{
    walk->at = 0;
    walk->state = fib_load32(&view->root);
    walk->entry = 0;
    walk->entry_len = 0;
}

/* One byte; false: nothing goes on. */
FIB_CORE bool ata_step(const struct fib_view *view, struct ata_walk *walk, uint32_t byte)
{
    const uint64_t slot = ata_find(view, walk->state, byte);

    if (slot == 0)
        return false;
    walk->at++;
    if ((slot & ATA_ENTRY) != 0) {
        walk->entry = slot;
        walk->entry_len = walk->at;
    }
    walk->state = (uint32_t)(slot >> 32);
    return (slot & ATA_LEAF) == 0;
}

/* False: the entry went while the walk went on; it is to begin anew. */
FIB_CORE bool ata_answer(const struct fib_view *view, const struct ata_walk *walk,
                         struct fib_answer *answer)
{
    uint64_t leaf = walk->entry;

    if (leaf == 0) {
        *answer = fib_root_answer(view);
        return true;
    }
    if ((leaf & ATA_LEAF) == 0)
        leaf = ata_find(view, (uint32_t)(leaf >> 32), ATA_END);
    if (leaf == 0)
        return false;
    answer->next_hop = (uint32_t)(leaf >> 32);
    answer->len = walk->entry_len;
    return true;
}

FIB_CORE struct fib_answer ata_lookup(const struct fib_view *view, const struct fib_reader *name)
{
    struct fib_answer answer;
    struct ata_walk walk;

    do {
        ata_begin(view, &walk);
        while (walk.at < name->len && ata_step(view, &walk, fib_read8(name, walk.at)))
            ;
    } while (!ata_answer(view, &walk, &answer));
    return answer;
}

#endif
