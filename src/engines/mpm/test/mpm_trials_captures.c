/* SPDX-License-Identifier: MIT */
/* Contents of real rules on real captures. */
#include "mpm_trial.h"

#include <dirent.h>

enum { MAX_CONTENTS = 30000 };

struct contents {
    struct sl_literal *literals;
    size_t n;
    uint8_t *bytes;
    size_t bytes_len;
    size_t bytes_cap;
};

static uint8_t *read_file(const char *folder, const char *name, size_t *len)
{
    char path[1024];
    uint8_t *bytes = NULL;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        *len = (size_t)ftell(file);
        rewind(file);
        bytes = (uint8_t *)malloc(*len + 1);
        if (bytes != NULL) {
            *len = fread(bytes, 1, *len, file);
            bytes[*len] = '\0';
        }
    }
    fclose(file);
    return bytes;
}

/* The bytes of a rule's content up to its closing quote; returns where that is, or NULL. */
static const char *decode_content(const char *text, uint8_t *to, uint32_t *len)
{
    bool hex = false;

    *len = 0;
    for (; *text != '"'; text++) {
        if (*text == '\0' || *text == '\n' || *len == SL_LITERAL_LEN_MAX)
            return NULL;
        if (*text == '|') {
            hex = !hex;
        } else if (hex && *text != ' ') {
            const char digits[] = {text[0], text[1], '\0'};
            char *last;

            to[(*len)++] = (uint8_t)strtoul(digits, &last, 16);
            if (*last != '\0')
                return NULL;
            text++;
        } else if (!hex) {
            text += *text == '\\' && text[1] != '\0';
            to[(*len)++] = (uint8_t)*text;
        }
    }
    return text;
}

/* Where the next content begins, or NULL. A sanitizer's strstr measures the whole text each time.
 */
static const char *next_content(const char *rules)
{
    static const char begin[] = "content:\"";

    for (; *rules != '\0'; rules++)
        if (*rules == begin[0] && strncmp(rules, begin, sizeof begin - 1) == 0)
            return rules + sizeof begin - 1;
    return NULL;
}

/* One byte alone is no literal to test with: it is found so often that little else would be. */
static void take_contents(struct contents *contents, const char *rules)
{
    while ((rules = next_content(rules)) != NULL && contents->n < MAX_CONTENTS &&
           contents->bytes_cap - contents->bytes_len > SL_LITERAL_LEN_MAX) {
        uint8_t *to = contents->bytes + contents->bytes_len;
        uint32_t len;
        const char *end = decode_content(rules, to, &len);

        if (end == NULL || len < 2)
            continue;
        contents->literals[contents->n++] = (struct sl_literal){
            .bytes = to, .len = len, .flags = strncmp(end, "\"; nocase;", 10) == 0};
        contents->bytes_len += len;
        rules = end;
    }
}

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t len = strlen(name);

    return len >= strlen(suffix) && strcmp(name + len - strlen(suffix), suffix) == 0;
}

static int compare_literals(const void *left, const void *right)
{
    const struct sl_literal *a = (const struct sl_literal *)left;
    const struct sl_literal *b = (const struct sl_literal *)right;

    if (a->len != b->len || a->flags != b->flags)
        return a->len != b->len ? (a->len < b->len ? -1 : 1) : (a->flags < b->flags ? -1 : 1);
    return memcmp(a->bytes, b->bytes, a->len);
}

static void read_contents(struct contents *contents, const char *folder)
{
    struct dirent *entry;
    DIR *dir = opendir(folder);
    size_t n = 0;

    contents->bytes_cap = 32 << 20;
    contents->bytes = (uint8_t *)malloc(contents->bytes_cap);
    contents->literals = (struct sl_literal *)calloc(MAX_CONTENTS, sizeof *contents->literals);
    contents->n = 0;
    contents->bytes_len = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        size_t len;
        uint8_t *text =
            has_suffix(entry->d_name, ".rules") ? read_file(folder, entry->d_name, &len) : NULL;

        if (text == NULL)
            continue;
        take_contents(contents, (const char *)text);
        free(text);
        /* Only distinct ones. */
        qsort(contents->literals, contents->n, sizeof *contents->literals, compare_literals);
        n = 0;
        for (size_t i = 0; i < contents->n; i++)
            if (i == 0 || compare_literals(&contents->literals[i], &contents->literals[n - 1]) != 0)
                contents->literals[n++] = contents->literals[i];
        contents->n = n;
    }
    closedir(dir);
}

/* Keeps every n-th, as evenly over lengths as they are. */
static void thin_contents(struct contents *contents, size_t every)
{
    for (size_t i = 0; i * every < contents->n; i++)
        contents->literals[i] = contents->literals[i * every];
    contents->n = (contents->n + every - 1) / every;
}

/* Another algorithm, whose first CPU backend then is the judge: the peer if there is one. */
static const char *choose_judge(void)
{
    if (mpm_find_algorithm("vectorscan") != NULL && strcmp(subject.algorithm, "vectorscan") != 0)
        return "vectorscan";
    if (strcmp(subject.algorithm, "ac") != 0)
        return "ac";
    return mpm_find_algorithm("pfac") != NULL ? "pfac" : "gram";
}

struct trial {
    const struct sl_mpm_table *table;
    const struct sl_mpm_table *judge;
    const char *judge_backend;
    size_t n_hits;
    double n_bytes;
};

/* Scans the batch with both, and empties it. Where the hits are too many for the arrays, which
 * happens in long runs of one byte, their number must be the same. */
static void compare_with_judge(struct trial *trial)
{
    const enum sl_status status =
        trial_scan_table(trial->table, subject.backend_name, subject.batch, &subject.found);

    assert_int_equal(
        trial_scan_table(trial->judge, trial->judge_backend, subject.batch, &subject.expected),
        status);
    assert_int_equal(status, subject.found.n > MAX_HITS ? SL_EOVERFLOW : SL_OK);
    if (status == SL_EOVERFLOW)
        assert_int_equal(subject.found.n, subject.expected.n);
    else
        trial_assert_same_hits();
    trial->n_hits += subject.found.n;
    trial->n_bytes += subject.batch->bytes_len;
    sl_batch_reset(subject.batch);
}

/* Whole files, in pieces where they do not fit into the room that is left. */
static void scan_captures(struct trial *trial, const char *folder, uint16_t overlap, double limit_s)
{
    const double end = trial_seconds() + limit_s;
    struct dirent *entry;
    DIR *dir = opendir(folder);

    assert_non_null(dir);
    sl_batch_reset(subject.batch);
    while (trial_seconds() < end && (entry = readdir(dir)) != NULL) {
        size_t len;
        uint64_t done = 0;
        uint8_t *bytes = entry->d_name[0] != '.' ? read_file(folder, entry->d_name, &len) : NULL;

        while (bytes != NULL && done < len && trial_seconds() < end) {
            sl_batch_add_pieces(subject.batch, bytes, len, trial_fewer(1 << 18, 1 << 13), overlap,
                                &done);
            if (subject.batch->bytes_len > 1 << 20)
                compare_with_judge(trial);
        }
        free(bytes);
    }
    compare_with_judge(trial);
    closedir(dir);
}

void test_rules_on_captures(void **state)
{
    const char *data = getenv("SLUICE_TEST_DATA");
    char folder[1024];
    struct contents contents;
    struct trial trial = {0};

    (void)state;
    if (data == NULL)
        test_skip("SLUICE_TEST_DATA names no folder of rules and captures");
    snprintf(folder, sizeof folder, "%s/rules/et-open-2024-04", data);
    read_contents(&contents, folder);
    assert_true(contents.n > 10000);
    thin_contents(&contents, subject.content_stride);

    const char *judge = choose_judge();
    struct sl_mpm_table *table = trial_build(contents.literals, contents.n);
    struct sl_mpm_table *judge_table = trial_build_with(judge, contents.literals, contents.n);
    trial = (struct trial){
        .table = table,
        .judge = judge_table,
        .judge_backend = sl_engine_choose(sl_mpm_engine(judge_table), SL_DEVICE_CPU, NULL)->name};
    snprintf(folder, sizeof folder, "%s/pcap", data);
    scan_captures(&trial, folder, SL_OVERLAP_MAX, subject.captures_s);
    printf("%zu literals (1 in %zu), %zu hits in %.0f MB as %s's\n", contents.n,
           subject.content_stride, trial.n_hits, trial.n_bytes / 1e6, judge);
    assert_true(trial.n_hits > 0);
    sl_mpm_free(table);
    sl_mpm_free(judge_table);
    free(contents.literals);
    free(contents.bytes);
}
