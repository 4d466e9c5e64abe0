/* SPDX-License-Identifier: MIT */
#include "fib_copy.h"

#include <stdlib.h>

#include "base/diag.h"
#include "device/cuda_internal.h"

/* ---- snapshots ------------------------------------------------------------------------------- */

struct fib_snapshot *fib_copy_latest(const struct fib_copy *copy)
{
    copy->latest->n_users++;
    return copy->latest;
}

void fib_copy_release(struct fib_snapshot *snapshot)
{
    if (snapshot == NULL || --snapshot->n_users != 0)
        return;
    cuda_free(snapshot->d_block, snapshot->device);
    free(snapshot);
}

static size_t aligned(uint64_t len)
{
    return (size_t)(len + 255) & ~(size_t)255;
}

/* All that look-ups read, with some room behind each part: they may read a little beyond. */
static enum sl_status send_parts(struct fib_snapshot *snapshot, const struct fib_view *view,
                                 struct sl_diag *diag)
{
    size_t len = 0;

    for (int i = 0; i < FIB_PARTS; i++)
        len += aligned(view->part_len[i]) + 256;
    enum sl_status status = cuda_take((void **)&snapshot->d_block, len, "a table of names", diag);
    if (status != SL_OK)
        return status;

    snapshot->view = *view;
    uint8_t *d_part = snapshot->d_block;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < FIB_PARTS && error == cudaSuccess; i++) {
        snapshot->view.part[i] = d_part;
        if (view->part_len[i] != 0)
            error = cudaMemcpy(d_part, view->part[i], view->part_len[i], cudaMemcpyHostToDevice);
        d_part += aligned(view->part_len[i]) + 256;
    }
    if (error == cudaSuccess) /* kernels' streams do not wait for the one it is on */
        error = cudaStreamSynchronize(cudaStreamLegacy);
    return cuda_status(error, "copying a table of names to the GPU", diag);
}

/* Under the updater's lock alone: look-ups begin meanwhile. */
static enum sl_status take_snapshot(struct fib_snapshot **taken, int device,
                                    const struct fib_view *view, struct sl_diag *diag)
{
    struct fib_snapshot *made = (struct fib_snapshot *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a snapshot");
    made->n_users = 1;
    made->device = device;

    enum sl_status status = cuda_choose(device, diag);
    if (status == SL_OK)
        status = send_parts(made, view, diag);
    if (status != SL_OK) {
        fib_copy_release(made);
        return status;
    }
    *taken = made;
    return SL_OK;
}

/* ---- publishing ------------------------------------------------------------------------------ */

static enum sl_status replace(struct sl_fib_table *table, struct fib_copy *copy,
                              const struct fib_view *view, struct sl_diag *diag)
{
    struct fib_snapshot *snapshot = NULL;
    enum sl_status status = take_snapshot(&snapshot, copy->device, view, diag);

    if (status != SL_OK)
        return status;
    fib_table_lock(table);
    fib_copy_release(copy->latest);
    copy->latest = snapshot;
    struct fib_persistent *persistent = copy->persistent;
    fib_table_unlock(table);
    return persistent == NULL ? SL_OK : fib_persistent_follow(persistent);
}

/* The first copy, or the one behind another, and it stays until it is left. */
static struct fib_copy *hold(struct sl_fib_table *table, const struct fib_copy *before)
{
    fib_table_lock(table);
    struct fib_copy *copy =
        before != NULL ? before->next : (struct fib_copy *)fib_table_copies(table);
    if (copy != NULL)
        copy->n_contexts++;
    fib_table_unlock(table);
    return copy;
}

static enum sl_status publish_copies(struct sl_fib_table *table, const struct fib_view *view,
                                     struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (struct fib_copy *copy = hold(table, NULL), *next; copy != NULL; copy = next) {
        if (status == SL_OK)
            status = replace(table, copy, view, diag);
        next = hold(table, copy);
        fib_table_lock(table);
        fib_copy_detach(table, copy);
        fib_table_unlock(table);
    }
    return status;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static enum sl_status make_copy(struct fib_copy **made, struct sl_fib_table *table, int device,
                                const struct fib_view *view, struct sl_diag *diag)
{
    struct fib_copy *copy = (struct fib_copy *)calloc(1, sizeof *copy);

    if (copy == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a copy");
    copy->device = device;

    const enum sl_status status = take_snapshot(&copy->latest, device, view, diag);
    if (status != SL_OK) {
        free(copy);
        return status;
    }
    copy->n_contexts = 1;
    copy->next = (struct fib_copy *)fib_table_copies(table);
    fib_table_set_copies(table, copy, publish_copies);
    *made = copy;
    return SL_OK;
}

/* The copy that there is, or NULL. Under the lock. */
static struct fib_copy *join_copy(struct sl_fib_table *table, int device)
{
    struct fib_copy *copy = (struct fib_copy *)fib_table_copies(table);

    while (copy != NULL && copy->device != device)
        copy = copy->next;
    if (copy != NULL)
        copy->n_contexts++;
    return copy;
}

/* Only the maker of a copy waits until updates and publishing pause. */
enum sl_status fib_copy_attach(struct fib_copy **joined, struct sl_fib_table *table, int device,
                               struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    fib_table_lock(table);
    *joined = join_copy(table, device);
    fib_table_unlock(table);
    if (*joined != NULL)
        return SL_OK;

    const struct fib_view *view = fib_table_freeze(table);
    fib_table_lock(table);
    *joined = join_copy(table, device);
    if (*joined == NULL)
        status = make_copy(joined, table, device, view, diag);
    fib_table_unlock(table);
    fib_table_thaw(table);
    return status;
}

void fib_copy_detach(struct sl_fib_table *table, struct fib_copy *copy)
{
    struct fib_copy *first = (struct fib_copy *)fib_table_copies(table);
    struct fib_copy **link = &first;

    if (copy == NULL || --copy->n_contexts != 0)
        return;
    while (*link != copy)
        link = &(*link)->next;
    *link = copy->next;
    fib_table_set_copies(table, first, publish_copies);
    fib_persistent_free(copy->persistent);
    fib_copy_release(copy->latest);
    free(copy);
}
