/* SPDX-License-Identifier: MIT */
/* The approximate sort of packets against the exact one (Rabin fingerprinting on GPUs, TPDS 2016,
 * figure 9). The measures are the lengths at the same place of both, and how long the threads of a
 * warp wait for its longest packet. */
#include <stdlib.h>
#include <string.h>

#include "engines/sampling/papers/rabin_buckets.h"
#include "study_rabin.h"

enum { N = RABIN_PAPER_PACKETS, WARP = 32, N_BUCKETS_MAX = 1024 };

struct order {
    uint32_t lens[N];
};

static int compare_lens(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static void sort_exactly(struct order *order)
{
    qsort(order->lens, N, sizeof *order->lens, compare_lens);
}

/* In a bucket as they came, which is one of the orders that a GPU may take. */
static void sort_approximately(struct order *order, uint32_t n_buckets)
{
    const struct order came = *order;
    uint32_t least = came.lens[0], most = came.lens[0], begins[N_BUCKETS_MAX + 1] = {0};

    for (uint32_t i = 1; i < N; i++) {
        least = came.lens[i] < least ? came.lens[i] : least;
        most = came.lens[i] > most ? came.lens[i] : most;
    }
    for (uint32_t i = 0; i < N; i++)
        begins[rabin_bucket_of(n_buckets, least, most, came.lens[i]) + 1]++;
    for (uint32_t i = 0; i < n_buckets; i++)
        begins[i + 1] += begins[i];
    for (uint32_t i = 0; i < N; i++)
        order->lens[begins[rabin_bucket_of(n_buckets, least, most, came.lens[i])]++] = came.lens[i];
}

/* Percent of the bytes that a warp's threads would take while they wait for its longest packet. */
static double waited_percent(const struct order *order)
{
    uint64_t bytes = 0, taken = 0;

    for (uint32_t i = 0; i < N; i += WARP) {
        uint32_t longest = 0;

        for (uint32_t k = i; k < i + WARP; k++) {
            bytes += order->lens[k];
            longest = order->lens[k] > longest ? order->lens[k] : longest;
        }
        taken += (uint64_t)longest * WARP;
    }
    return 100 * ((double)taken / (double)bytes - 1);
}

static void print_order(struct study *study, const char *sizes, const char *text,
                        uint32_t n_buckets, const struct order *order, const struct order *exact)
{
    struct study_row row = {.note = ""};
    uint64_t off = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < N; i++) {
        const uint32_t apart = (uint32_t)abs((int)order->lens[i] - (int)exact->lens[i]);

        off += apart;
        most = apart > most ? apart : most;
    }
    study_text(&row, "bytes", sizes);
    study_text(&row, "sort", text);
    study_number(&row, "buckets", n_buckets > 0 ? (double)n_buckets : -1, 0);
    study_number(&row, "bytes off, mean", (double)off / N, 2);
    study_number(&row, "most", most, 0);
    study_number(&row, "waits %", waited_percent(order), 2);
    study_print(&study->table, &row);
}

static void print_sizes(struct study *study, const char *sizes, struct rabin_packets packets)
{
    static const uint32_t n_buckets[] = {16, 32, 64, RABIN_BUCKETS, 256, N_BUCKETS_MAX};
    uint8_t bytes[RABIN_LEN_MAX + 4];
    struct order came, sorted, exact;

    for (uint32_t i = 0; i < N; i++)
        came.lens[i] = rabin_packet_fill(&packets, bytes);
    exact = came;
    sort_exactly(&exact);
    print_order(study, sizes, "none", 0, &came, &exact);
    for (size_t i = 0; i < sizeof n_buckets / sizeof *n_buckets; i++) {
        sorted = came;
        sort_approximately(&sorted, n_buckets[i]);
        print_order(study, sizes, "approximate", n_buckets[i], &sorted, &exact);
    }
    print_order(study, sizes, "exact", 0, &exact, &exact);
}

bool study_closeness(struct study *study)
{
    study_print_note(&study->table,
                     "Figure 9: of 16 K packets sorted approximately into 128 buckets and sorted "
                     "exactly the lengths make two almost perfectly overlapping curves.\n"
                     "Here: by how many bytes they differ, and how much longer warps take than if "
                     "no thread waited for another's packet.");
    print_sizes(
        study, "100 to 1460",
        (struct rabin_packets){.random = 1, .min_len = RABIN_LEN_MIN, .max_len = RABIN_LEN_MAX});
    print_sizes(
        study, "200, 1300",
        (struct rabin_packets){.random = 1, .min_len = 200, .max_len = 1300, .skewed = true});
    return true;
}
