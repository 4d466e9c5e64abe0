/* SPDX-License-Identifier: MIT */
/* Chooses the backend that is tried, and runs the trials. */
#include "mpm_trials.h"

#include "mpm_trial.h"

/* Backends whose time a set of thousands would multiply by as much. */
static bool compares_one_by_one(const char *argument)
{
    static const char *const names[] = {"rk.cuda-block", "rk.cuda-thread", "rk.tiled-block"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(argument, names[i]) == 0)
            return true;
    return false;
}

/* On CPUs a check gives papers' algorithms a part of each large test, and a soak all of it. */
static void choose_sizes(const char *argument)
{
    const bool is_product =
        strcmp(subject.algorithm, "ac") == 0 || strcmp(subject.algorithm, "gram") == 0;
    const bool is_soak = getenv("SLUICE_TEST_TRIES") != NULL;
    const bool is_large = is_product || is_soak || strstr(argument, ".cuda") != NULL;

    subject.takes_parts = compares_one_by_one(argument) || !is_large;
    if (subject.takes_parts)
        printf("%s takes a part of each large test\n", argument);
    if (compares_one_by_one(argument) ||
        strcmp(subject.algorithm, "naive") == 0) /* all would take an hour a capture */
        subject.content_stride = is_large ? 200 : 1000;
    if (is_soak)
        subject.captures_s = 40;
    else if (!is_large)
        subject.captures_s /= 3;
}

/* Reads "ac.scalar"; false, with the reason printed, where that cannot run here. */
static bool choose_backend(const char *argument)
{
    const char *dot = strchr(argument, '.');
    char why[SL_WHY_LEN] = "";

    if (dot == NULL || (size_t)(dot - argument) >= sizeof subject.algorithm) {
        fprintf(stderr, "usage: ALGORITHM.BACKEND\n");
        exit(2);
    }
    memcpy(subject.algorithm, argument, (size_t)(dot - argument));
    subject.backend_name = dot + 1;
    if (mpm_find_algorithm(subject.algorithm) == NULL) {
        printf("skipped: this build has no algorithm %s\n", subject.algorithm);
        return false;
    }

    if (strcmp(subject.algorithm, "vectorscan") == 0)
        subject.longest_literal = 3999; /* its expressions end at 16,000 characters */
    subject.built_for = strstr(argument, ".cuda") != NULL || strstr(argument, ".tiled") != NULL
                            ? SL_DEVICE_CUDA
                            : SL_DEVICE_CPU;
    choose_sizes(argument);

    struct sl_mpm_table *table = trial_build(NULL, 0);
    const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
    if (backend == NULL) {
        fprintf(stderr, "%s has no backend %s\n", subject.algorithm, subject.backend_name);
        exit(2);
    }
    const bool usable = backend->usable(why);
    if (!usable)
        printf("skipped: %s\n", why);
    else if (backend->device == SL_DEVICE_CUDA &&
             sl_stage_open(&subject.stage, &subject.limits, NULL) != SL_OK)
        exit(1);
    sl_mpm_free(table);
    return usable;
}

int mpm_trials(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_hits),
        cmocka_unit_test(test_small_sets_on_all_texts),
        cmocka_unit_test(test_random_sets),
        cmocka_unit_test(test_least_lengths),
        cmocka_unit_test(test_many_states),
        cmocka_unit_test(test_tables_for_both_devices),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_long_items),
        cmocka_unit_test(test_runs_of_one_byte),
        cmocka_unit_test(test_runs_in_texts),
        cmocka_unit_test(test_literals_that_begin_alike),
        cmocka_unit_test(test_a_million_duplicates),
        cmocka_unit_test(test_near_matches_everywhere),
        cmocka_unit_test(test_a_key_like_an_empty_slot),
        cmocka_unit_test(test_no_match_and_no_literal),
        cmocka_unit_test(test_guard_pages),
        cmocka_unit_test(test_hostile_sets),
        cmocka_unit_test(test_batches_after_hostile_ones),
        cmocka_unit_test(test_hits_that_stay),
        cmocka_unit_test(test_overflow_counts_exactly),
        cmocka_unit_test(test_pieces_give_the_same_hits),
        cmocka_unit_test(test_order_of_items_changes_nothing),
        cmocka_unit_test(test_contexts_are_reusable),
        cmocka_unit_test(test_batches_outside_the_contract),
        cmocka_unit_test(test_hits_of_kinds),
        cmocka_unit_test(test_hits_inside_runs),
        cmocka_unit_test(test_bad_sets_are_refused),
        cmocka_unit_test(test_auto_picks_by_device_and_lengths),
        cmocka_unit_test(test_auto_picks_by_the_sample),
        cmocka_unit_test(test_wm_picks_block_length),
        cmocka_unit_test(test_rules_on_captures),
    };

    if (!choose_backend(argc >= 2 ? argv[1] : ""))
        return TEST_SKIPPED;
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    subject.found.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *subject.found.hit);
    subject.expected.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *subject.expected.hit);
    subject.found.cap = subject.expected.cap = MAX_HITS;
    if (subject.found.hit == NULL || subject.expected.hit == NULL ||
        sl_batch_create(&subject.batch, MAX_BYTES, MAX_ITEMS, NULL) != SL_OK)
        return 1;

    const int failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    sl_batch_free(subject.batch);
    sl_stage_close(subject.stage);
    free(subject.found.hit);
    free(subject.expected.hit);
    return failed;
}
