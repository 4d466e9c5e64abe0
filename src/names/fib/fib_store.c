/* SPDX-License-Identifier: MIT */
/* Tables in files: saving is writing the parts of a view one after another, loading is mapping. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/mapped_file.h"
#include "base/new_file.h"
#include "fib_internal.h"

#define MAGIC UINT64_C(0x00006269665F6C73) /* "sl_fib" */

enum {
    VERSION = 3, /* of the block, the parts of all planes included */
    ALIGN = 64,
    NAME_LEN = 16
};

/* Parts follow, each at a multiple of ALIGN from the block's first byte on. */
struct fib_block {
    uint64_t magic;
    uint32_t version;
    uint32_t pad;
    uint64_t len;      /* bytes of the whole block */
    uint64_t checksum; /* of all behind it */
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

/* What is summed is everything behind the checksum, part after part. */
static uint64_t block_sum(const struct fib_block *head, const void *const part[FIB_PARTS])
{
    const size_t begin = offsetof(struct fib_block, checksum) + sizeof head->checksum;
    uint64_t sum = XXH3_64bits((const uint8_t *)head + begin, sizeof *head - begin);

    for (int i = 0; i < FIB_PARTS; i++)
        if (head->part_len[i] != 0)
            sum = XXH3_64bits_withSeed(part[i], head->part_len[i], sum);
    return sum;
}

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
    head->magic = MAGIC;
    head->version = VERSION;
    head->len = fib_block_len(view);
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
    head->checksum = block_sum(head, view->part);
}

void fib_block_make(struct fib_block *to, const struct fib_view *view, const char *plane)
{
    memset(to, 0, fib_block_len(view));
    make_head(to, view, plane);
    for (int i = 0; i < FIB_PARTS; i++)
        if (view->part_len[i] != 0)
            memcpy((uint8_t *)to + to->part[i], view->part[i], view->part_len[i]);
}

static uint64_t block_checksum(const struct fib_block *block)
{
    const void *part[FIB_PARTS];

    for (int i = 0; i < FIB_PARTS; i++)
        part[i] = (const uint8_t *)block + block->part[i];
    return block_sum(block, part);
}

/* ---- save ------------------------------------------------------------------------------------ */

static void write_aligned(struct new_file *file, const void *bytes, uint64_t len)
{
    static const uint8_t zeros[ALIGN];

    new_file_write(file, bytes, len);
    new_file_write(file, zeros, aligned(len) - len);
}

enum sl_status sl_fib_save(struct sl_fib *fib, const char *path, struct sl_diag *diag)
{
    struct fib_block head;
    struct new_file file;
    const enum sl_status status = new_file_create(&file, path, diag);

    if (status != SL_OK)
        return status;
    pthread_mutex_lock(&fib->lock);

    const struct fib_view *view = fib_view_of(fib);
    make_head(&head, view, fib->table.plane->name);
    write_aligned(&file, &head, sizeof head);
    for (int i = 0; i < FIB_PARTS; i++)
        write_aligned(&file, view->part[i], view->part_len[i]);
    pthread_mutex_unlock(&fib->lock);
    return new_file_end(&file, diag);
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool parts_fit(const struct fib_block *block)
{
    for (int i = 0; i < FIB_PARTS; i++)
        if (block->part[i] % ALIGN != 0 || block->part[i] > block->len ||
            block->part_len[i] > block->len - block->part[i])
            return false;
    return true;
}

/* What must be known before anything else can be. */
static enum sl_status check_head(const struct fib_block *block, uint64_t len, const char *path,
                                 struct sl_diag *diag)
{
    if (len < sizeof *block || (block->magic != MAGIC && block->magic != __builtin_bswap64(MAGIC)))
        return diag_set(diag, SL_EFORMAT, path, 0, "is no compiled table of names");
    if (block->magic != MAGIC)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "was compiled on a machine of another byte order");
    if (block->version != VERSION)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "is a compiled table of version %" PRIu32 " (expected %d)", block->version,
                        VERSION);
    if (block->len != len)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "has %" PRIu64 " bytes (expected %" PRIu64 "): it was cut or damaged", len,
                        block->len);
    if (!parts_fit(block) || block->checksum != block_checksum(block))
        return diag_set(diag, SL_EFORMAT, path, 0, "is damaged: its checksum is wrong");
    return SL_OK;
}

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

enum sl_status fib_block_open(const void *memory, uint64_t len, const char *path, uint64_t n_hops,
                              struct fib_view *view, const struct fib_plane **plane,
                              struct sl_diag *diag)
{
    const struct fib_block *block = (const struct fib_block *)memory;
    const enum sl_status status = check_head(block, len, path, diag);

    if (status != SL_OK)
        return status;
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

void fib_block_seal(struct fib_block *block, uint64_t len)
{
    block->len = len;
    if (parts_fit(block))
        block->checksum = block_checksum(block);
}

/* ---- load ------------------------------------------------------------------------------------ */

static enum sl_status make_table(struct sl_fib_table **table, void *memory, size_t len,
                                 const char *path, uint64_t n_hops, struct sl_diag *diag)
{
    struct sl_fib_table *made = (struct sl_fib_table *)malloc(sizeof *made);
    struct fib_view *view = fib_view_make();
    const struct fib_plane *plane = NULL;

    enum sl_status status;

    if (made == NULL || view == NULL)
        status = diag_set(diag, SL_ENOMEM, path, 0, "no memory for a table");
    else
        status = fib_block_open(memory, len, path, n_hops, view, &plane, diag);
    if (status != SL_OK || made == NULL) {
        free(made);
        free(view);
        return status;
    }
    fib_table_init(made, plane);
    atomic_store(&made->view, view);
    made->file = memory;
    made->file_len = len;
    *table = made;
    return SL_OK;
}

enum sl_status fib_table_load(struct sl_fib_table **table, const char *path, uint64_t n_hops,
                              struct sl_diag *diag)
{
    void *memory;
    size_t len = 0;
    enum sl_status status = mapped_file_open(&memory, &len, path, sizeof(struct fib_block), diag);

    if (status != SL_OK)
        return status;
    status = make_table(table, memory, len, path, n_hops, diag);
    if (status != SL_OK && memory != NULL)
        (void)munmap(memory, len);
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
    (void)munmap(table->file, table->file_len);
    fib_table_end(table);
    free(table);
}

void sl_fib_table_info(const struct sl_fib_table *table, struct sl_fib_table_info *info)
{
    const struct fib_view *view = atomic_load(&table->view);

    *info = (struct sl_fib_table_info){table->plane->name, view->n_entries, fib_block_len(view)};
}
