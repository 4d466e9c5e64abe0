/* SPDX-License-Identifier: MIT */
#include "redundancy_fixture.h"

#include <dirent.h>

void traffic_init(struct traffic *traffic, uint64_t seed, uint32_t history_cap)
{
    *traffic = (struct traffic){.random = seed * 2 + 1, .history_cap = history_cap};
    traffic->history = malloc(history_cap);
    for (int i = 0; i < 8; i++)
        test_random(&traffic->random);
    traffic->alphabet = 1 + test_below(&traffic->random, 4) * 85;
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->history);
}

static void remember(struct traffic *t, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        t->history[(t->history_len + i) % t->history_cap] = bytes[i];
    t->history_len += len;
}

static void fill_part(struct traffic *t, uint8_t *out, uint32_t len)
{
    const uint32_t kept = t->history_len < t->history_cap ? t->history_len : t->history_cap;
    const uint32_t kind = test_below(&t->random, 8);

    if (kind < 5 && kept > 0) {
        const uint32_t from = t->history_len - 1 - test_below(&t->random, kept);

        for (uint32_t i = 0; i < len; i++)
            out[i] = t->history[(from + i) % kept];
    } else if (kind == 5) {
        memset(out, (int)test_below(&t->random, 256), len);
    } else {
        for (uint32_t i = 0; i < len; i++)
            out[i] = (uint8_t)test_below(&t->random, t->alphabet);
    }
}

void traffic_packet(struct traffic *traffic, uint8_t *out, uint32_t len)
{
    for (uint32_t done = 0; done < len;) {
        const uint32_t most = len - done < 500 ? len - done : 500;
        const uint32_t part = 1 + test_below(&traffic->random, most);

        fill_part(traffic, out + done, part);
        done += part;
    }
    remember(traffic, out, len);
}

void fixture_sample(const struct sl_batch *batch, uint32_t window, uint32_t period,
                    struct sl_hits *hits)
{
    hits->n = 0;
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];

        for (uint32_t at = 0; at + window <= span.len; at++) {
            uint64_t hash = UINT64_C(0xCBF29CE484222325);

            for (uint32_t i = 0; i < window; i++)
                hash = (hash ^ batch->bytes[span.offset + at + i]) * UINT64_C(0x100000001B3);
            if ((hash >> 20) % period == 0 && hits->n < hits->cap)
                hits->hit[hits->n++] = (struct sl_hit){item, at, hash};
        }
    }
}

void single_init(struct single *single, uint8_t *bytes, uint32_t len)
{
    single->span = (struct sl_span){0, len};
    single->batch = (struct sl_batch){.n_items = 1,
                                      .max_items = 1,
                                      .bytes_len = len,
                                      .bytes_cap = len,
                                      .bytes = bytes,
                                      .payload = &single->span};
}

uint64_t fixture_each_capture(void (*visit)(void *user, const char *path), void *user)
{
    const char *const root = test_data();
    uint64_t n_files = 0;
    char path[4096];

    snprintf(path, sizeof path, "%s/pcap", root);
    DIR *const folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/pcap/%s", root, entry->d_name);
        visit(user, path);
        n_files++;
    }
    closedir(folder);
    return n_files;
}
