/* SPDX-License-Identifier: MIT */
/* One sampler and one of its backends against the oracle: test_sampling SAMPLER.BACKEND */
#include "test.h"

#include <dirent.h>

#include "sampling_rig.h"

static void scan_pieces(const struct sl_sampling_config *config, double *n_bytes, size_t *n_hits)
{
    rig_check(config);
    *n_bytes += rig.batch->bytes_len;
    *n_hits += rig.found.n;
    sl_batch_reset(rig.batch);
}

/* Whole files, in pieces where they do not fit into the room that is left. */
static void scan_captures(const char *folder, const struct sl_sampling_config *config,
                          double *n_bytes, size_t *n_hits)
{
    static uint8_t file_bytes[MAX_BYTES / 4];
    struct dirent *entry;
    DIR *dir = opendir(folder);
    int n_batches = 0;

    assert_non_null(dir);
    sl_batch_reset(rig.batch);
    while (n_batches < (int)test_times() && (entry = readdir(dir)) != NULL) {
        char path[2048];
        uint64_t done = 0;

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        if (file == NULL)
            continue;
        const size_t len = fread(file_bytes, 1, sizeof file_bytes, file);
        fclose(file);
        while (done < len) {
            const uint32_t piece_len = 200 + (uint32_t)(len * 7 % 9000);

            sl_batch_add_pieces(rig.batch, file_bytes, len, piece_len,
                                (uint16_t)(config->window - 1), &done);
            if (done < len || rig.batch->bytes_len > MAX_BYTES / 2) {
                scan_pieces(config, n_bytes, n_hits);
                n_batches++;
            }
        }
    }
    scan_pieces(config, n_bytes, n_hits);
    closedir(dir);
}

static void test_captures(void **state)
{
    const char *data = test_data();
    struct sl_sampling_config config = rig_default_config();
    char folder[1024];
    double n_bytes = 0;
    size_t n_hits = 0;

    (void)state;
    snprintf(folder, sizeof folder, "%s/pcap", data);
    scan_captures(folder, &config, &n_bytes, &n_hits);
    printf("%zu hits in %.0f MB as the oracle's\n", n_hits, n_bytes / 1e6);
    assert_true(n_hits > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_captures)};

    if (!rig_create(argc == 2 ? argv[1] : ""))
        return TEST_SKIPPED;

    const int failed = sampling_text_tests() + sampling_contract_tests() +
                       cmocka_run_group_tests_name("captures", tests, NULL, NULL);
    rig_free();
    return failed;
}
