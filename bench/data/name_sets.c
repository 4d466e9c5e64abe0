/* SPDX-License-Identifier: MIT */
#include "name_sets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "random.h"

enum {
    HOPS = 251,
    LINE_MAX_LEN = 4096,
    NAME_TEXT_MAX = 4 * SL_NAME_LEN_MAX + 64,
    STALE_MAX = 1000 /* names in a row that the set has already: there are no more */
};

static uint64_t hash_of(const uint8_t *name, size_t len)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ name[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static uint32_t hop_of(const uint8_t *name, size_t len)
{
    return 1 + (uint32_t)((hash_of(name, len) >> 32) % HOPS);
}

static bool add_name(struct bench_names *names, const uint8_t *name, size_t len)
{
    if (len > names->bytes_cap - names->bytes_len) {
        cli_error("bench: names of more than %zu bytes", names->bytes_cap);
        return false;
    }
    uint8_t *to = names->bytes + names->bytes_len;
    memcpy(to, name, len);
    names->entries[names->n++] = (struct sl_fib_entry){to, (uint32_t)len, hop_of(name, len)};
    names->bytes_len += len;
    return true;
}

/* ---- names of a file ------------------------------------------------------------------------- */

/* /com/parc/www, or the domain www.parc.com. Returns its bytes, 0: too long, or nothing. */
static size_t parse_line(const char *line, size_t len, uint8_t *name, size_t cap)
{
    size_t name_len = 0;

    if (len > 0 && line[0] == '/') {
        for (size_t at = 1; at < len;) {
            const char *slash = memchr(line + at, '/', len - at);
            const size_t end = slash != NULL ? (size_t)(slash - line) : len;

            if (!sl_name_append(name, cap, &name_len, SL_NAME_GENERIC, line + at, end - at))
                return 0;
            at = end + 1;
        }
        return name_len;
    }
    for (size_t end = len; end > 0;) {
        size_t begin = end;

        while (begin > 0 && line[begin - 1] != '.')
            begin--;
        if (!sl_name_append(name, cap, &name_len, SL_NAME_GENERIC, line + begin, end - begin))
            return 0;
        end = begin > 0 ? begin - 1 : 0;
    }
    return name_len;
}

static bool read_names(struct bench_names *names, const char *path, size_t n)
{
    uint8_t name[LINE_MAX_LEN * 2];
    char line[LINE_MAX_LEN];
    FILE *file = fopen(path, "r");
    bool good = true;

    if (file == NULL) {
        cli_error("%s: %s", path, strerror(errno));
        return false;
    }
    while (good && names->n < n && fgets(line, sizeof line, file) != NULL) {
        const size_t len = parse_line(line, strcspn(line, "\r\n"), name, sizeof name);

        if (len != 0)
            good = add_name(names, name, len);
    }
    (void)fclose(file);
    names->n_read = names->n;
    if (good && names->n == 0) {
        cli_error("%s: holds no names", path);
        return false;
    }
    return good;
}

/* ---- generated names ------------------------------------------------------------------------- */

/* The names so far, by hash; open addressing. */
struct known {
    uint32_t *places; /* index + 1 */
    size_t mask;
};

static bool know(struct known *known, const struct bench_names *names, size_t i)
{
    const struct sl_fib_entry *entry = &names->entries[i];
    size_t place = hash_of(entry->name, entry->name_len) & known->mask;

    for (; known->places[place] != 0; place = (place + 1) & known->mask) {
        const struct sl_fib_entry *other = &names->entries[known->places[place] - 1];

        if (other->name_len == entry->name_len &&
            (entry->name_len == 0 || memcmp(other->name, entry->name, entry->name_len) == 0))
            return false;
    }
    known->places[place] = (uint32_t)i + 1;
    return true;
}

size_t bench_random_label(char *label, uint64_t *seed)
{
    static const char letters[] = "eeeeaaaatttooiinnsrhldcumwfgypbvk-xjqz0123";
    const size_t len = 2 + bench_random(seed) % 6 + bench_random(seed) % 6;

    for (size_t i = 0; i < len; i++)
        label[i] = letters[bench_random(seed) % (sizeof letters - 1)];
    return len;
}

static bool generate_one(struct bench_names *names, uint64_t *seed)
{
    static const char *const tops[] = {"com", "com", "com", "org", "net", "de", "uk", "ru"};
    const char *top = tops[bench_random(seed) % 8];
    const uint32_t depth = 1 + (bench_random(seed) % 10 < 8) + (bench_random(seed) % 10 < 2);
    uint8_t name[256];
    char label[16];
    size_t len = 0;

    bool good = sl_name_append(name, sizeof name, &len, SL_NAME_GENERIC, top, strlen(top));
    for (uint32_t i = 0; i < depth && good; i++)
        good = sl_name_append(name, sizeof name, &len, SL_NAME_GENERIC, label,
                              bench_random_label(label, seed));
    return good && add_name(names, name, len);
}

/* A name with its last label from another one. */
static bool recombine_one(struct bench_names *names, size_t n_from, uint64_t *seed)
{
    const struct sl_fib_entry *a = &names->entries[bench_random(seed) % n_from];
    const struct sl_fib_entry *b = &names->entries[bench_random(seed) % n_from];
    struct sl_name_component last = {0}, component;
    uint8_t name[LINE_MAX_LEN * 2];
    size_t at = 0, before = 0, len;

    while (sl_name_next(b->name, b->name_len, &at, &component))
        last = component;
    at = 0;
    for (size_t next = 0; sl_name_next(a->name, a->name_len, &next, &component); at = next)
        before = at;
    if (a->name != NULL)
        memcpy(name, a->name, before);
    len = before;
    return sl_name_append(name, sizeof name, &len, SL_NAME_GENERIC, last.bytes, last.len) &&
           add_name(names, name, len);
}

/* Up to n names, each unlike all others: of the file's labels, or random ones. */
static bool add_more(struct bench_names *names, size_t n, uint64_t *seed)
{
    const size_t n_from = names->n;
    struct known known = {.mask = 1};
    uint32_t n_stale = 0;

    while (known.mask < 2 * n)
        known.mask = known.mask * 2 + 1;
    known.places = calloc(known.mask + 1, sizeof *known.places);
    bool good = known.places != NULL;
    if (!good)
        cli_error("bench: no memory for %zu names", n);
    for (size_t i = 0; i < n_from && good; i++)
        (void)know(&known, names, i);
    while (good && names->n < n) {
        good = n_from != 0 ? recombine_one(names, n_from, seed) : generate_one(names, seed);
        if (good && !know(&known, names, names->n - 1)) {
            names->bytes_len -= names->entries[--names->n].name_len;
            n_stale++;
        } else {
            n_stale = 0;
        }
        if (n_stale == STALE_MAX) {
            cli_error("bench: the names' labels make no more than %zu names", names->n);
            good = false;
        }
    }
    free(known.places);
    return good;
}

/* A list in no order: entries, and their bytes as they would lie after reading it. False: an error
 * was printed. */
static bool shuffle(struct bench_names *names, uint64_t *seed)
{
    uint8_t *bytes = malloc(names->bytes_cap), *to = bytes;

    if (bytes == NULL) {
        cli_error("bench: no memory for %zu names", names->n);
        return false;
    }
    for (size_t i = names->n; i > 1; i--) {
        const size_t j = bench_random(seed) % i;
        const struct sl_fib_entry entry = names->entries[j];

        names->entries[j] = names->entries[i - 1];
        names->entries[i - 1] = entry;
    }
    for (size_t i = 0; i < names->n; i++) {
        struct sl_fib_entry *const entry = &names->entries[i];

        if (entry->name_len > 0) /* the root has no bytes */
            memcpy(to, entry->name, entry->name_len);
        entry->name = to;
        to += entry->name_len;
    }
    free(names->bytes);
    names->bytes = bytes;
    return true;
}

bool bench_names_load(struct bench_names *names, const struct bench_input *input, size_t n)
{
    uint64_t seed = NAME_SETS_SEED;
    bool good = true;
    char count[32];

    names->bytes_cap = n * 64 + (1 << 20);
    names->entries = calloc(n, sizeof *names->entries);
    names->bytes = malloc(names->bytes_cap);
    if (names->entries == NULL || names->bytes == NULL) {
        cli_error("bench: no memory for %zu names", n);
        return false;
    }
    if (input->names_path != NULL)
        good = read_names(names, input->names_path, n);
    good = good && (names->n == n || add_more(names, n, &seed)) && shuffle(names, &seed);
    snprintf(names->text, sizeof names->text, "%s names%s", cli_count(n, count),
             input->names_path == NULL ? ", generated"
             : names->n_read < n       ? ", recombined"
                                       : "");
    return good;
}

void bench_names_free(struct bench_names *names)
{
    free(names->entries);
    free(names->bytes);
    *names = (struct bench_names){0};
}

/* ---- as a table ------------------------------------------------------------------------------ */

struct sl_names *bench_names_table(const struct bench_names *from)
{
    struct sl_names *names = NULL;
    struct sl_diag diag = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    char *written = malloc(NAME_TEXT_MAX);

    for (size_t i = 0; out != NULL && written != NULL && i < from->n; i++) {
        const struct sl_fib_entry *entry = &from->entries[i];
        const struct sl_name name = {entry->name, entry->name_len, entry->name_len, SL_NAME_NDN};

        (void)sl_name_write(&name, written, NAME_TEXT_MAX);
        fprintf(out, "%s\t%u\n", written, entry->next_hop);
    }
    free(written);
    bool good = out != NULL && fclose(out) == 0;
    if (!good)
        snprintf(diag.text, sizeof diag.text, "no memory for a table of %zu names", from->n);
    good = good && sl_names_create(&names, &diag) == SL_OK &&
           sl_names_load_text(names, "bench", "prefix", text, len, &diag) == SL_OK &&
           sl_names_build(names, NULL, &diag) == SL_OK;
    free(text);
    if (good)
        return names;
    cli_diag(&diag);
    sl_names_free(names);
    return NULL;
}
