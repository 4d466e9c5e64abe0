/* SPDX-License-Identifier: MIT */
/* Tables in files: saving writes the parts of a view one after another, loading reads or maps
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/block_file.h"
#include "base/diag.h"
#include "base/file_bytes.h"
#include "base/new_file.h"
#include "fib_internal.h"

enum { ALIGN = 64, NAME_LEN = 16 };

/* Parts follow one another, each at a multiple of ALIGN from the block's first byte on. */
struct fib_block {
    struct block_head head;
    char plane[NAME_LEN];
    struct fib_secret secret;
    uint64_t n_entries;
    uint32_t root_hop, root, split, n_arrays;
    uint32_t n_places[FIB_PARTS];
    uint32_t pad_places;
    uint64_t reciprocal[FIB_PARTS];
    uint64_t part_len[FIB_PARTS];
    uint64_t part[FIB_PARTS];
};

static uint64_t aligned(uint64_t len)
{
    return (len + ALIGN - 1) / ALIGN * ALIGN;
}

static bool parts_fit(const struct fib_block *block)
{
    const uint64_t len = block->head.len;
    uint64_t at = aligned(sizeof *block);

    for (int i = 0; i < FIB_PARTS; i++) {
        if (block->part[i] != at || at > len || block->part_len[i] > len - at)
            return false;
        at += aligned(block->part_len[i]);
    }
    return at == len;
}

static const uint8_t zeros[ALIGN]; /* behind the head and each part */

static uint64_t sum_more(uint64_t sum, const void *bytes, uint64_t len)
{
    return len != 0 ? XXH3_64bits_withSeed(bytes, len, sum) : sum;
}

/* Of all behind the head, part after part. `in_block`: the parts lie in the block, with what should
 * be zeros behind them. */
static uint64_t sum_parts(const struct fib_block *block, const void *const part[FIB_PARTS],
                          bool in_block)
{
    const uint8_t *fields = (const uint8_t *)block + sizeof block->head;
    const uint8_t *end = (const uint8_t *)block + sizeof *block;
    uint64_t sum = sum_more(0, fields, sizeof *block - sizeof block->head);

    sum = sum_more(sum, in_block ? end : zeros, aligned(sizeof *block) - sizeof *block);
    for (int i = 0; i < FIB_PARTS; i++) {
        const uint64_t len = block->part_len[i];

        sum = sum_more(sum, part[i], len);
        sum = sum_more(sum, in_block ? (const uint8_t *)part[i] + len : zeros, aligned(len) - len);
    }
    return sum;
}

static bool sum_block(const void *memory, uint64_t *sum)
{
    const struct fib_block *block = (const struct fib_block *)memory;
    const void *part[FIB_PARTS];

    if (!parts_fit(block))
        return false;
    for (int i = 0; i < FIB_PARTS; i++)
        part[i] = (const uint8_t *)block + block->part[i];
    *sum = sum_parts(block, part, true);
    return true;
}

static const struct block_kind fib_block_kind = {
    .name = "compiled table of names",
    .magic = UINT64_C(0x00006269665F6C73), /* "sl_fib" */
    .version = 4,                          /* of the block, the parts of all planes included */
    .len_min = sizeof(struct fib_block),
    .read_max = FILE_BYTES_READ_MAX,
    .sum = sum_block,
};

size_t fib_block_len(const struct fib_view *view)
{
    uint64_t len = aligned(sizeof(struct fib_block));

    for (int i = 0; i < FIB_PARTS; i++)
        len += aligned(view->part_len[i]);
    return len;
}

/* The head of a view's block. */
static void make_head(struct fib_block *head, const struct fib_view *view, const char *plane)
{
    uint64_t at = aligned(sizeof *head);

    memset(head, 0, sizeof *head);
    head->head = block_head_make(&fib_block_kind, fib_block_len(view));
    (void)snprintf(head->plane, NAME_LEN, "%s", plane);
    head->secret = view->secret;
    head->n_entries = view->n_entries;
    head->root_hop = view->root_hop;
    head->root = view->root;
    head->split = view->split;
    head->n_arrays = view->n_arrays;
    for (int i = 0; i < FIB_PARTS; i++) {
        head->n_places[i] = view->n_places[i];
        head->reciprocal[i] = view->reciprocal[i];
        head->part_len[i] = view->part_len[i];
        head->part[i] = at;
        at += aligned(view->part_len[i]);
    }
    head->head.checksum = sum_parts(head, view->part, false);
}

void fib_block_make(struct fib_block *to, const struct fib_view *view, const char *plane)
{
    memset(to, 0, fib_block_len(view));
    make_head(to, view, plane);
    for (int i = 0; i < FIB_PARTS; i++)
        if (view->part_len[i] != 0)
            memcpy((uint8_t *)to + to->part[i], view->part[i], view->part_len[i]);
}

/* ---- save ------------------------------------------------------------------------------------ */

static void write_aligned(struct new_file *file, const void *bytes, uint64_t len)
{
    new_file_write(file, bytes, len);
    new_file_write(file, zeros, aligned(len) - len);
}

uint64_t fib_table_write(struct sl_fib *fib, struct new_file *file)
{
    struct fib_block head;

    pthread_mutex_lock(&fib->lock);

    const struct fib_view *view = fib_view_of(fib);
    make_head(&head, view, fib->table.plane->name);
    write_aligned(file, &head, sizeof head);
    for (int i = 0; i < FIB_PARTS; i++)
        write_aligned(file, view->part[i], view->part_len[i]);
    pthread_mutex_unlock(&fib->lock);
    return head.head.len;
}

enum sl_status sl_fib_save(struct sl_fib *fib, const char *path, struct sl_diag *diag)
{
    struct new_file file;
    const enum sl_status status = new_file_create(&file, path, diag);

    if (status != SL_OK)
        return status;
    (void)fib_table_write(fib, &file);
    return new_file_end(&file, diag);
}

/* ---- check ----------------------------------------------------------------------------------- */

static void open_view(const struct fib_block *block, struct fib_view *view)
{
    memset(view, 0, sizeof *view);
    view->secret = block->secret;
    view->n_entries = block->n_entries;
    view->root_hop = block->root_hop;
    view->root = block->root;
    view->split = block->split;
    view->n_arrays = block->n_arrays;
    for (int i = 0; i < FIB_PARTS; i++) {
        view->n_places[i] = block->n_places[i];
        view->reciprocal[i] = block->reciprocal[i];
        view->part_len[i] = block->part_len[i];
        view->part[i] = (const uint8_t *)block + block->part[i];
    }
}

/* Of a block whose head and checksum have been checked. */
static enum sl_status open_block(const struct fib_block *block, const char *path, uint64_t n_hops,
                                 struct fib_view *view, const struct fib_plane **plane,
                                 struct sl_diag *diag)
{
    *plane = block->plane[NAME_LEN - 1] == '\0' ? fib_find_plane(block->plane) : NULL;
    if (*plane == NULL)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "was compiled for the plane '%.*s', which this build lacks", NAME_LEN,
                        block->plane);
    open_view(block, view);

    const char *wrong = view->root_hop != SL_FIB_NONE && view->root_hop >= n_hops
                            ? FIB_NO_SUCH_HOP
                            : (*plane)->check(view, n_hops);
    if (wrong != NULL)
        return diag_set(diag, SL_EFORMAT, path, 0, "cannot be used: %s", wrong);
    return SL_OK;
}

enum sl_status fib_block_open(const void *memory, uint64_t len, const char *path, uint64_t n_hops,
                              struct fib_view *view, const struct fib_plane **plane,
                              struct sl_diag *diag)
{
    const struct fib_block *block = (const struct fib_block *)memory;
    const enum sl_status status = block_check(&fib_block_kind, block, len, path, diag);

    return status == SL_OK ? open_block(block, path, n_hops, view, plane, diag) : status;
}

void fib_block_seal(struct fib_block *block, uint64_t len)
{
    block->head.len = len;
    block_seal(&fib_block_kind, block);
}

/* ---- load ------------------------------------------------------------------------------------ */

static enum sl_status make_table(struct sl_fib_table **table, const struct fib_block *block,
                                 const char *path, uint64_t n_hops, struct sl_diag *diag)
{
    struct sl_fib_table *made = (struct sl_fib_table *)malloc(sizeof *made);
    struct fib_view *view = fib_view_make();
    const struct fib_plane *plane = NULL;

    enum sl_status status;

    if (made == NULL || view == NULL)
        status = diag_set(diag, SL_ENOMEM, path, 0, "no memory for a table");
    else
        status = open_block(block, path, n_hops, view, &plane, diag);
    if (status != SL_OK || made == NULL) {
        free(made);
        free(view);
        return status;
    }
    fib_table_init(made, plane);
    atomic_store(&made->view, view);
    *table = made;
    return SL_OK;
}

enum sl_status fib_table_lend(struct sl_fib_table **table, const void *memory, uint64_t len,
                              const char *path, uint64_t n_hops, struct sl_diag *diag)
{
    const struct fib_block *block = (const struct fib_block *)memory;
    const enum sl_status status = block_check(&fib_block_kind, block, len, path, diag);

    return status == SL_OK ? make_table(table, block, path, n_hops, diag) : status;
}

enum sl_status fib_table_load(struct sl_fib_table **table, const char *path, uint64_t n_hops,
                              struct sl_diag *diag)
{
    const void *memory;
    enum sl_status status = block_file_load(&fib_block_kind, &memory, path, diag);

    if (status != SL_OK)
        return status;
    status = make_table(table, (const struct fib_block *)memory, path, n_hops, diag);
    if (status == SL_OK)
        (*table)->file = (const struct fib_block *)memory;
    else
        block_file_unload(memory);
    return status;
}

enum sl_status sl_fib_load(struct sl_fib_table **table, const char *path, struct sl_diag *diag)
{
    return fib_table_load(table, path, UINT64_MAX, diag);
}

void sl_fib_unload(struct sl_fib_table *table)
{
    if (table == NULL)
        return;
    free(atomic_load(&table->view));
    if (table->file != NULL)
        block_file_unload(table->file);
    fib_table_end(table);
    free(table);
}

void sl_fib_table_info(const struct sl_fib_table *table, struct sl_fib_table_info *info)
{
    const struct fib_view *view = atomic_load(&table->view);

    *info = (struct sl_fib_table_info){table->plane->name, view->n_entries, fib_block_len(view)};
}
