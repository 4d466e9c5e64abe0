/* SPDX-License-Identifier: MIT */
/* The engine's part: building, look-ups, updates. Nothing else asks it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"
#include "device/device.h"
#include "device/wait.h"
#include "names/fib/fib_table.h"
#include "names_internal.h"
#include "sluice/device.h"

/* ---- building -------------------------------------------------------------------------------- */

/* Bytes a name that building takes at its peak, measured at 1 to 3 million names with some to
 * spare: the plane, what updates need beside it, and what building takes for its time. */
static const struct {
    const char *plane;
    uint32_t name_len;
} estimates[] = {{"hash", 185}, {"mata", 270}, {"ata", 235}, {"stt", 21000}};

enum { N_ESTIMATES = sizeof estimates / sizeof *estimates, ESTIMATE_FIXED = 1 << 20 };

/* The first one is what "auto" takes. */
static uint64_t estimate(const char *plane, size_t n)
{
    size_t i = N_ESTIMATES - 1;

    while (i > 0 && (plane == NULL || strcmp(plane, estimates[i].plane) != 0))
        i--;
    return ESTIMATE_FIXED + (uint64_t)n * estimates[i].name_len;
}

uint64_t sl_names_estimate(const struct sl_names *names, const char *plane)
{
    size_t n;

    if (names->map == NULL)
        return 0;
    (void)names_map_entries(names->map, &n);
    return estimate(plane, n);
}

enum sl_status names_fib_make(struct sl_names *names, const char *plane,
                              const struct sl_fib_entry *entries, size_t n, struct sl_diag *diag)
{
    const uint64_t needed = estimate(plane, n), there = names_memory_available();
    struct sl_fib_config config;

    if (needed > there)
        return diag_set(diag, SL_ENOMEM, NULL, 0,
                        "a table of %zu names needs about %" PRIu64 " MB of memory more, and "
                        "there are %" PRIu64 " MB",
                        n, needed / 1000000, there / 1000000);
    sl_fib_config_init(&config);
    if (plane != NULL)
        config.plane = plane;
    const enum sl_status status = sl_fib_build(&names->fib, &config, entries, n, diag);
    if (status != SL_OK) {
        names->fib = NULL;
        return status;
    }
    names->table = sl_fib_table(names->fib);
    return SL_OK;
}

enum sl_status sl_names_build(struct sl_names *names, const char *plane, struct sl_diag *diag)
{
    size_t n;

    if (names->map == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is built already");
    const struct sl_fib_entry *entries = names_map_entries(names->map, &n);
    const enum sl_status status = names_fib_make(names, plane, entries, n, diag);
    if (status != SL_OK)
        return status;
    names_map_free(names->map);
    names->map = NULL;
    return SL_OK;
}

enum sl_status names_fib_save(struct sl_names *names, const char *path, struct sl_diag *diag)
{
    return sl_fib_save(names->fib, path, diag);
}

enum sl_status names_fib_load(struct sl_names *names, const char *path, uint64_t n_rules,
                              struct sl_diag *diag)
{
    const enum sl_status status = fib_table_load(&names->table, path, n_rules, diag);

    names->loaded = status == SL_OK;
    if (status != SL_OK)
        names->table = NULL;
    return status;
}

enum sl_status names_fib_each(struct sl_names *names,
                              bool (*each)(void *user, const struct sl_fib_entry *entry,
                                           uint32_t n_holders),
                              void *user)
{
    return sl_fib_each(names->fib, each, user);
}

void names_fib_free(struct sl_names *names)
{
    if (names->loaded)
        sl_fib_unload(names->table);
    sl_fib_free(names->fib);
}

void sl_names_count(const struct sl_names *names, struct sl_names_count *count)
{
    size_t n = 0;

    *count = (struct sl_names_count){.lines = names->n_lines,
                                     .rules = names->n_rules,
                                     .ignored = names->n_ignored_all,
                                     .repeated = names->n_repeated,
                                     .lists = names->n_lists,
                                     .load_ns = names->load_ns,
                                     .build_ns = names->build_ns};
    if (names->map != NULL) {
        (void)names_map_entries(names->map, &n);
        count->names = n;
        return;
    }
    if (names->fib != NULL) {
        struct sl_fib_info info;

        sl_fib_info(names->fib, &info);
        count->names = info.n_entries;
        count->plane = info.plane;
        count->table_len = info.plane_len;
    } else {
        struct sl_fib_table_info info;

        sl_fib_table_info(names->table, &info);
        count->names = info.n_entries;
        count->plane = info.plane;
        count->table_len = info.table_len;
    }
    count->table_len += names->rules.n * sizeof(struct names_rule);
}

/* ---- readers --------------------------------------------------------------------------------- */

enum {
    BATCH_LEN = 4 << 20 /* bytes: some 1,000 bytes a name of a full batch */
};

/* A name that is not answered yet: its first len bytes are looked up next. */
struct waiting {
    uint32_t name;
    uint32_t len;
};

/* The engine's. */
struct answers {
    uint32_t next_hop[SL_NAMES_BATCH_MAX], prefix_len[SL_NAMES_BATCH_MAX];
};

struct sl_names_reader {
    struct sl_names *names;
    struct sl_names_reader *next;
    _Atomic uint64_t epoch; /* while a look-up goes on: when it began; 0: none does */

    const struct sl_fib_backend *backend;
    void *context;
    struct sl_batch *batch; /* owns the memory of `view` */
    struct sl_batch view;   /* without the columns that names have no use for */
    struct answers *answers;
    bool pinned; /* they and the batch, for a GPU */
    struct waiting waiting[SL_NAMES_BATCH_MAX];
    uint8_t rank[SL_NAMES_BATCH_MAX]; /* of the best rule so far, + 1; 0: none */
};

/* On a GPU the one that answers a small batch soonest. */
static const struct sl_fib_backend *choose(const struct sl_fib_engine *engine,
                                           enum sl_device_kind kind, char why[SL_WHY_LEN])
{
    for (size_t i = 0; kind == SL_DEVICE_CUDA && engine->backends[i] != NULL; i++)
        if (strcmp(engine->backends[i]->name, "cuda-persistent") == 0 &&
            engine->backends[i]->usable(why))
            return engine->backends[i];
    return sl_fib_choose(engine, kind, why);
}

static enum sl_status open_memory(struct sl_names_reader *reader, struct sl_diag *diag)
{
    reader->answers = reader->pinned ? device_pinned_alloc(sizeof *reader->answers)
                                     : malloc(sizeof *reader->answers);
    if (reader->answers == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for answers");
    const enum sl_status status =
        sl_device_batch_create(&reader->batch, reader->pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                               BATCH_LEN, SL_NAMES_BATCH_MAX, diag);
    if (status != SL_OK)
        return status;
    reader->view = *reader->batch;
    reader->view.packet = NULL;
    reader->view.origin = NULL;
    return SL_OK;
}

static enum sl_status open_backend(struct sl_names_reader *reader, const char *name,
                                   struct sl_diag *diag)
{
    struct sl_limits limits = {
        .max_items = SL_NAMES_BATCH_MAX, .max_bytes = BATCH_LEN, .max_wait_ms = DEVICE_MAX_WAIT_MS};
    struct sl_device device;
    char why[SL_WHY_LEN];

    enum sl_status status = sl_device_choose(&device, name, why, diag);
    if (status != SL_OK)
        return status;
    limits.device = device.index;
    reader->pinned = device.kind == SL_DEVICE_CUDA;
    if (reader->pinned) /* before it takes a copy of the table */
        atomic_fetch_add(&reader->names->n_gpu_readers, 1);
    reader->backend = choose(sl_fib_engine(reader->names->table), device.kind, why);
    if (reader->backend == NULL)
        return diag_set(diag, SL_EDEVICE, NULL, 0, "%s", why);
    status = open_memory(reader, diag);
    if (status == SL_OK)
        status = reader->backend->open(&reader->context, reader->names->table, &limits, diag);
    return status;
}

enum sl_status sl_names_reader_open(struct sl_names_reader **out, struct sl_names *names,
                                    const char *device, struct sl_diag *diag)
{
    struct sl_names_reader *reader;

    *out = NULL;
    if (names->table == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is not built");
    reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    reader->names = names;
    const enum sl_status status = open_backend(reader, device, diag);
    pthread_mutex_lock(&names->readers_lock);
    reader->next = names->readers;
    names->readers = reader;
    pthread_mutex_unlock(&names->readers_lock);
    if (status != SL_OK) {
        sl_names_reader_close(reader);
        return status;
    }
    *out = reader;
    return SL_OK;
}

void sl_names_reader_close(struct sl_names_reader *reader)
{
    if (reader == NULL)
        return;
    struct sl_names *names = reader->names;
    pthread_mutex_lock(&names->readers_lock);
    for (struct sl_names_reader **at = &names->readers; *at != NULL; at = &(*at)->next) {
        if (*at == reader) {
            *at = reader->next;
            break;
        }
    }
    pthread_mutex_unlock(&names->readers_lock);
    if (reader->context != NULL)
        reader->backend->close(reader->context);
    sl_batch_free(reader->batch);
    if (reader->pinned) {
        device_pinned_free(reader->answers);
        atomic_fetch_sub(&names->n_gpu_readers, 1);
    } else {
        free(reader->answers);
    }
    free(reader);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Puts as many of the waiting names into the batch as fit. */
static uint32_t fill(struct sl_names_reader *reader, const struct sl_name *name,
                     const struct waiting *waiting, uint32_t n)
{
    uint32_t i = 0;

    sl_batch_reset(&reader->view);
    for (; i < n && sl_batch_fits(&reader->view, waiting[i].len); i++)
        sl_batch_add(&reader->view, name[waiting[i].name].bytes, waiting[i].len, 0);
    return i;
}

static enum sl_status ask(struct sl_names_reader *reader)
{
    const struct sl_fib_answers answers = {
        .next_hop = reader->answers->next_hop,
        .prefix_len = reader->answers->prefix_len,
        .cap = SL_NAMES_BATCH_MAX,
        .memory = reader->pinned ? SL_MEMORY_PINNED : SL_MEMORY_HOST,
    };
    const enum sl_status status = reader->backend->submit(reader->context, &reader->view, &answers);

    return status != SL_OK ? status : reader->backend->wait(reader->context);
}

void names_rule_answer(const struct sl_names *names, uint32_t rule, uint32_t prefix_len,
                       struct sl_names_answer *answer)
{
    const struct names_rule *of = pool_at(&names->rules, rule);
    const struct names_values *values = pool_at(&names->values, of->values);

    *answer = (struct sl_names_answer){.action = (enum sl_names_action)values->action,
                                       .values = of->values,
                                       .prefix_len = prefix_len,
                                       .list = of->list,
                                       .line = of->line,
                                       .rule = rule};
}

static void take_best(struct sl_names_reader *reader, const struct sl_name *name, uint32_t i,
                      uint32_t node, uint32_t prefix_len, struct sl_names_answer *answer)
{
    const struct names_rule *first = pool_at(&reader->names->rules, node);
    const struct names_rule *rule = names_node_best(first, name, prefix_len, reader->rank[i]);

    if (rule == NULL)
        return;
    reader->rank[i] = (uint8_t)(rule->rank + 1);
    names_rule_answer(reader->names, node + (uint32_t)(rule - first), prefix_len, answer);
}

uint32_t names_highest_rank(const struct sl_names *names)
{
    uint32_t rank = SL_N_NAMES_RANKS - 1;

    while (rank > 0 && atomic_load(&names->n_ranks[rank]) == 0)
        rank--;
    return rank;
}

/* Rounds: the longest prefix of each name first; then, for those that it did not settle, the
 * longest one shorter than that. */
static enum sl_status answer_all(struct sl_names_reader *reader, const struct sl_name *name,
                                 uint32_t n, struct sl_names_answer *answers)
{
    const uint32_t highest = names_highest_rank(reader->names);
    struct waiting *waiting = reader->waiting;

    while (n > 0) {
        uint32_t left = 0;

        for (uint32_t begin = 0; begin < n;) {
            const uint32_t filled = fill(reader, name, waiting + begin, n - begin);
            const enum sl_status status = ask(reader);

            if (status != SL_OK)
                return status;
            for (uint32_t k = 0; k < filled; k++) {
                const uint32_t i = waiting[begin + k].name,
                               prefix_len = reader->answers->prefix_len[k];

                if (reader->answers->next_hop[k] == SL_FIB_NONE)
                    continue;
                take_best(reader, &name[i], i, reader->answers->next_hop[k], prefix_len,
                          &answers[i]);
                if (prefix_len > 0 && reader->rank[i] <= highest)
                    waiting[left++] = (struct waiting){i, names_shorter(name[i].bytes, prefix_len)};
            }
            begin += filled;
        }
        n = left;
    }
    return SL_OK;
}

enum sl_status sl_names_lookup(struct sl_names_reader *reader, const struct sl_name *name,
                               uint32_t n, struct sl_names_answer *answers)
{
    if (n > SL_NAMES_BATCH_MAX)
        return SL_EINVAL;
    memset(answers, 0, n * sizeof *answers);
    memset(reader->rank, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        if (name[i].len > SL_NAME_LEN_MAX)
            return SL_EINVAL;
        reader->waiting[i] = (struct waiting){i, name[i].len};
    }
    /* Nodes that are retired from here on stay until the end. Sequentially consistent: either the
     * writer sees this, or the look-up sees what the writer published. */
    atomic_store(&reader->epoch, atomic_load(&reader->names->epoch));
    const enum sl_status status = answer_all(reader, name, n, answers);
    atomic_store(&reader->epoch, 0);
    return status;
}

/* ---- updates --------------------------------------------------------------------------------- */

enum {
    PENDING_MAX = 512, /* updates given to the engine at once */
    PENDING_BYTES = 64 * 1024,
    PENDING_SLOTS = 2048
};

struct pending {
    struct sl_fib_update updates[PENDING_MAX];
    uint32_t old[PENDING_MAX];
    uint32_t n;
    uint8_t bytes[PENDING_BYTES];
    uint32_t bytes_len;
    uint32_t hash[PENDING_SLOTS]; /* of the names that updates were asked for, | 1; 0: free */
    uint32_t n_hashes;
};

/* Frees what readers can no longer hold. */
static void reclaim(struct sl_names *names)
{
    uint64_t oldest = UINT64_MAX;
    size_t n = 0;

    pthread_mutex_lock(&names->readers_lock);
    for (struct sl_names_reader *reader = names->readers; reader != NULL; reader = reader->next) {
        const uint64_t epoch = atomic_load(&reader->epoch);
        if (epoch != 0 && epoch < oldest)
            oldest = epoch;
    }
    pthread_mutex_unlock(&names->readers_lock);
    while (n < names->n_retired && names->retired[n].epoch <= oldest &&
           names->retired[n].epoch != NAMES_UNPUBLISHED)
        names_node_free(names, names->retired[n++].node);
    if (n == 0) /* nor is there an array before the first update */
        return;
    names->n_retired -= n;
    memmove(names->retired, names->retired + n, names->n_retired * sizeof *names->retired);
}

static bool make_room(struct sl_names *names, size_t more)
{
    if (names->n_retired + more <= names->max_retired)
        return true;
    const size_t max = (names->n_retired + more) * 2;
    struct names_retired *retired = realloc(names->retired, max * sizeof *retired);
    if (retired == NULL)
        return false;
    names->retired = retired;
    names->max_retired = max;
    return true;
}

/* Gives the engine what is pending, and retires the nodes that went. */
static enum sl_status flush(struct sl_names *names, struct pending *pending, struct sl_diag *diag)
{
    size_t n_applied = 0;

    pending->n_hashes = 0;
    memset(pending->hash, 0, sizeof pending->hash);
    if (pending->n == 0)
        return SL_OK;
    if (!make_room(names, pending->n))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    const enum sl_status status =
        sl_fib_apply(names->fib, pending->updates, pending->n, &n_applied, diag);
    uint64_t epoch = atomic_fetch_add(&names->epoch, 1) + 1;
    /* A reader that is counted from now on takes its copy behind what was applied. */
    if (atomic_load(&names->n_gpu_readers) != 0)
        epoch = NAMES_UNPUBLISHED;
    for (size_t i = 0; i < n_applied; i++)
        if (pending->old[i] != NODE_NONE)
            names->retired[names->n_retired++] = (struct names_retired){pending->old[i], epoch};
    reclaim(names);
    pending->n = 0;
    pending->bytes_len = 0;
    return status;
}

/* GPU copies follow where there are any: readers there then see what is retired no more. */
static enum sl_status publish(struct sl_names *names, struct sl_diag *diag)
{
    const enum sl_status status = sl_fib_publish(names->fib, diag);
    uint64_t epoch = NAMES_UNPUBLISHED;

    for (size_t i = 0; i < names->n_retired && status == SL_OK; i++) {
        if (names->retired[i].epoch != NAMES_UNPUBLISHED)
            continue;
        if (epoch == NAMES_UNPUBLISHED)
            epoch = atomic_fetch_add(&names->epoch, 1) + 1;
        names->retired[i].epoch = epoch;
    }
    reclaim(names);
    return status;
}

/* Whether an update of this name may be pending; if not, it is from now on. */
static bool is_pending(struct pending *pending, const struct sl_name *name)
{
    const uint32_t hash = (uint32_t)XXH3_64bits(name->bytes, name->len) | 1;
    uint32_t at = (hash >> 1) & (PENDING_SLOTS - 1);

    for (; pending->hash[at] != 0; at = (at + 1) & (PENDING_SLOTS - 1))
        if (pending->hash[at] == hash)
            return true;
    pending->hash[at] = hash;
    pending->n_hashes++;
    return false;
}

static void add_pending(struct pending *pending, const struct sl_name *name, uint32_t old,
                        uint32_t node)
{
    uint8_t *bytes = pending->bytes + pending->bytes_len;

    if (name->len != 0)
        memcpy(bytes, name->bytes, name->len);
    pending->bytes_len += name->len;
    pending->old[pending->n] = old;
    pending->updates[pending->n++] =
        (struct sl_fib_update){.entry = {.name = bytes, .name_len = name->len, .next_hop = node},
                               .verb = old == NODE_NONE    ? SL_FIB_INSERT
                                       : node == NODE_NONE ? SL_FIB_DELETE
                                                           : SL_FIB_CHANGE};
}

/* One rule of an update: its name's node is as the engine has it, for nothing of that name is
 * pending. */
static enum sl_status update_rule(struct sl_names *names, struct pending *pending,
                                  const struct list_rule *rule, bool add, uint32_t list,
                                  uint32_t line, struct sl_names_updated *updated,
                                  struct sl_diag *diag)
{
    if (pending->n_hashes == PENDING_MAX ||
        sizeof pending->bytes - pending->bytes_len < rule->name.len ||
        is_pending(pending, &rule->name)) {
        const enum sl_status status = flush(names, pending, diag);
        if (status != SL_OK)
            return status;
        (void)is_pending(pending, &rule->name);
    }
    const uint32_t old = sl_fib_find(names->fib, rule->name.bytes, rule->name.len).next_hop;
    uint32_t node = old;
    switch (add ? names_node_add(names, &node, list, line, rule)
                : names_node_remove(names, &node, rule)) {
    case NAMES_CHANGED:
        add_pending(pending, &rule->name, old, node);
        ++*(add ? &updated->added : &updated->removed);
        return SL_OK;
    case NAMES_SAME:
        ++*(add ? &names->n_repeated : &updated->absent);
        return SL_OK;
    case NAMES_FULL:
        updated->ignored++;
        return names_ignore(names, list, line, "more than 255 rules for one name") ? SL_OK
                                                                                   : SL_ENOMEM;
    case NAMES_NO_MEMORY:
        break;
    }
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
}

static enum sl_status update_line(struct sl_names *names, struct pending *pending,
                                  struct list_parse *parse, const char *text, size_t len,
                                  uint32_t list, uint32_t number, struct sl_names_updated *updated,
                                  struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    const char *why = "neither '+' nor '-' at the beginning";
    const bool add = text[0] == '+';

    names->n_lines++;
    if (add || text[0] == '-') {
        parse->removing = !add;
        why = list_parse_line(parse, text + 1, len - 1);
        if (why == NULL && parse->n_rules == 0)
            why = "no rule behind the sign";
    }
    if (why != NULL) {
        updated->ignored++;
        return names_ignore(names, list, number, why)
                   ? SL_OK
                   : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    }
    names->n_rules++;
    for (uint32_t i = 0; status == SL_OK && i < parse->n_rules; i++)
        status = update_rule(names, pending, &parse->rules[i], add, list, number, updated, diag);
    return status;
}

/* The list of this label, made where there is none of it. */
static enum sl_status update_list(struct sl_names *names, const char *label, const char *format,
                                  uint32_t *index, struct sl_diag *diag)
{
    const struct list_format *found = list_format_find(format, diag);

    if (found == NULL)
        return SL_EINVAL;
    for (*index = names->n_lists; (*index)-- > 0;) {
        const struct names_list *entry = pool_at(&names->lists, *index);
        if (entry->parse != NULL && entry->format == found->name &&
            strcmp(entry->label, label) == 0)
            return SL_OK;
    }

    struct list_parse *parse = calloc(1, sizeof *parse);
    if (parse == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    const enum sl_status status = names_list_add(names, label, found->name, index, diag);
    if (status != SL_OK) {
        free(parse);
        return status;
    }
    parse->format = found;
    ((struct names_list *)pool_at(&names->lists, *index))->parse = parse;
    return SL_OK;
}

static enum sl_status update(struct sl_names *names, const char *label, const char *format,
                             const char *text, size_t text_len, uint32_t line,
                             struct sl_names_updated *updated, struct sl_diag *diag)
{
    const struct names_list *list;
    struct pending *pending;
    const char *at_line;
    size_t at = 0, len;
    uint32_t index;

    if (names->fib == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table takes no updates");
    enum sl_status status = update_list(names, label, format, &index, diag);
    if (status != SL_OK)
        return status;
    list = pool_at(&names->lists, index);
    pending = calloc(1, sizeof *pending);
    if (pending == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");

    for (; status == SL_OK && list_next_line(text, text_len, &at, &at_line, &len); line++)
        if (len != 0 && at_line[0] != '#')
            status =
                update_line(names, pending, list->parse, at_line, len, index, line, updated, diag);
    const enum sl_status flushed = flush(names, pending, diag);
    if (status == SL_OK)
        status = flushed;
    if (status == SL_OK)
        status = publish(names, diag);
    free(pending);
    return status;
}

enum sl_status sl_names_update(struct sl_names *names, const char *label, const char *format,
                               const char *text, size_t text_len, uint32_t line,
                               struct sl_names_updated *updated, struct sl_diag *diag)
{
    pthread_mutex_lock(&names->update_lock);
    const enum sl_status status = update(names, label, format, text, text_len, line, updated, diag);
    pthread_mutex_unlock(&names->update_lock);
    return status;
}
