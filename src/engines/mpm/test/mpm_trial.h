/* SPDX-License-Identifier: MIT */
/* One backend on trial: its hits are compared with the oracle's. */
#ifndef MPM_TRIAL_H
#define MPM_TRIAL_H

#include "test.h"

#include "base/cpu.h"
#include "device/device.h"
#include "engines/mpm/mpm_internal.h"
#include "sluice/device.h"
#include "sluice/mpm.h"

enum {
    MAX_BYTES = 4 << 20, /* of a batch */
    MAX_ITEMS = 1 << 16,
    MAX_HITS = 8 << 20
};

/* The backend on trial, and the memory that the trials share. */
struct trial_subject {
    char algorithm[32];
    const char *backend_name;
    enum sl_device_kind built_for; /* that of the backend, or of the one whose tiling it proves */
    struct sl_limits limits;
    uint32_t longest_literal; /* that the algorithm takes */
    bool takes_parts;         /* of each large test */
    size_t content_stride;    /* of the rules' literals that it is tried with on captures, */
    double captures_s;        /* and for how long */
    struct sl_batch *batch;
    struct sl_stage *stage; /* where the backend is CUDA's */
    struct sl_hits found;
    struct sl_hits expected;
};

extern struct trial_subject subject;

const struct sl_backend *trial_find_backend(const struct sl_mpm_table *table, const char *name);

/* Builds a table of the algorithm that is on trial, or of another one. */
struct sl_mpm_table *trial_build_with(const char *name, const struct sl_literal *literals,
                                      size_t n_literals);

struct sl_mpm_table *trial_build(const struct sl_literal *literals, size_t n_literals);

/* Opens a context within the subject's limits, or within others. */
void *trial_open_within(const struct sl_backend *backend, const struct sl_mpm_table *table,
                        const struct sl_limits *within);

void *trial_open_context(const struct sl_backend *backend, const struct sl_mpm_table *table);

/* Submits a host batch, over the stage where the backend wants it, and waits. */
enum sl_status trial_scan_batch(const struct sl_backend *backend, void *context,
                                const struct sl_batch *host, struct sl_hits *hits);

/* Scans a batch with a context of its own. */
enum sl_status trial_scan_table(const struct sl_mpm_table *table, const char *name,
                                const struct sl_batch *host, struct sl_hits *hits);

/* subject.found and subject.expected are the same set. */
void trial_assert_same_hits(void);

/* A scan of `host` with these literals gives the oracle's hits. */
void trial_check_batch(const struct sl_batch *host, const struct sl_literal *literals,
                       size_t n_literals);

/* trial_check_batch of subject.batch. */
void trial_check(const struct sl_literal *literals, size_t n_literals);

void trial_add_item(const void *bytes, uint32_t len);

struct sl_literal trial_literal_of(const char *text, uint32_t flags);

/* The size of a test: `few` instead of n where the backend takes a part of it. */
uint32_t trial_fewer(uint32_t n, uint32_t few);

double trial_seconds(void);

/* Fills with letters of an alphabet; NULL: with any bytes. */
void trial_fill_random(uint64_t *random, uint8_t *to, uint32_t len, const char *alphabet);

/* Literals that occur: most are cut from the text, some have a byte or a case changed, some repeat.
 */
void trial_cut_literals(uint64_t *random, struct sl_literal *literals, uint8_t *bytes, size_t n,
                        const uint8_t *text, uint32_t text_len, uint32_t max_len);

/* The trials. A pattern of tests selects them by their names. */
void test_small_sets_on_all_texts(void **state);
void test_random_sets(void **state);
void test_least_lengths(void **state);
void test_many_states(void **state);
void test_tables_for_both_devices(void **state);
void test_every_length(void **state);
void test_long_items(void **state);
void test_runs_of_one_byte(void **state);
void test_runs_in_texts(void **state);
void test_literals_that_begin_alike(void **state);
void test_a_million_duplicates(void **state);
void test_near_matches_everywhere(void **state);
void test_a_key_like_an_empty_slot(void **state);
void test_no_match_and_no_literal(void **state);
void test_known_hits(void **state);
void test_guard_pages(void **state);
void test_batches_after_hostile_ones(void **state);
void test_hits_that_stay(void **state);
void test_hostile_sets(void **state);
void test_overflow_counts_exactly(void **state);
void test_pieces_give_the_same_hits(void **state);
void test_order_of_items_changes_nothing(void **state);
void test_contexts_are_reusable(void **state);
void test_batches_outside_the_contract(void **state);
void test_hits_of_kinds(void **state);
void test_hits_inside_runs(void **state);
void test_bad_sets_are_refused(void **state);
void test_auto_picks_by_device_and_lengths(void **state);
void test_auto_picks_by_the_sample(void **state);
void test_wm_picks_block_length(void **state);
void test_rules_on_captures(void **state);

#endif
