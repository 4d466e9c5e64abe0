/* SPDX-License-Identifier: MIT */
/* The scan itself: a walk that fills a queue, threads with a scanner each, and lines in the order
 * of the walk, whichever thread was done first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli.h"
#include "json_text.h"
#include "scan.h"

enum {
    ENTRIES = 8192,
    AHEAD = 32,          /* files that are opened, and read ahead, before one is scanned */
    AHEAD_LEN = 4 << 20, /* bytes of each */
    PROGRESS_NS = 250000000,
    FEED_LEN = 1 << 16
};

/* A file on its way, or a line of the walk. */
struct entry {
    char *path;
    int fd;           /* opened ahead, or -1 */
    const char *note; /* "Excluded", "Empty file", ...: nothing to scan */
    char error[128];  /* why it could not be scanned; "": it could */
    char **names;     /* of matches, as printed */
    size_t n_names;
    struct sl_clamav_result result;
    bool done;
};

struct job {
    const struct scan_options *options;
    const struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;
    struct scan_totals *totals;
    FILE *log;

    pthread_mutex_t lock;
    pthread_cond_t work, room;
    /* A ring: printed up to `printed`, taken by threads up to `taken`, opened ahead (or left to who
     * takes it) up to `opened`, filled up to `filled`. */
    struct entry entries[ENTRIES];
    uint64_t printed, taken, opened, filled;
    bool walked; /* no more will be filled */
    bool failed;
    struct sl_diag diag;

    bool progress, shown;
    uint64_t begin_ns, last_ns;

    /* What there is to scan, counted by a walk of its own where progress is shown. */
    struct scan_totals all;
    bool counted; /* all is known */
    bool over;    /* nobody wants to know any more */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void hide_progress(struct job *job)
{
    if (job->shown)
        fputs("\r\033[K", stderr);
    job->shown = false;
}

static void put_line(struct job *job, const char *path, const char *text)
{
    char safe[4 * PATH_MAX];

    hide_progress(job);
    printf("%s: %s\n", cli_printable(path, safe, sizeof safe), text);
    if (job->log != NULL)
        fprintf(job->log, "%s: %s\n", safe, text);
}

static bool is_failed(const struct entry *entry)
{
    return entry->error[0] != '\0';
}

static const char *state_of(const struct entry *entry)
{
    if (is_failed(entry))
        return "error";
    if (entry->note != NULL)
        return "skipped";
    if (entry->n_names > 0)
        return "found";
    return entry->result.suspect ? "suspect" : "ok";
}

static void put_json(struct job *job, const struct entry *entry)
{
    const char *reason = is_failed(entry) ? entry->error : entry->note;
    json_t *names = json_array();
    json_t *object = json_object();

    hide_progress(job);
    for (size_t i = 0; i < entry->n_names; i++)
        json_array_append_new(names, cli_json_text(entry->names[i], strlen(entry->names[i])));
    json_object_set_new(object, "path", cli_json_text(entry->path, strlen(entry->path)));
    json_object_set_new(object, "result", json_string(state_of(entry)));
    if (reason != NULL)
        json_object_set_new(object, "reason", cli_json_text(reason, strlen(reason)));
    if (entry->n_names > 0)
        json_object_set(object, "names", names);
    if (entry->result.suspect)
        json_object_set_new(object, "unverified", json_true());
    if (entry->result.allowed)
        json_object_set_new(object, "allowed", json_true());
    if (!is_failed(entry) && entry->note == NULL)
        json_object_set_new(object, "bytes", json_integer((json_int_t)entry->result.len));
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(names);
    json_decref(object);
}

static void put_text(struct job *job, const struct entry *entry)
{
    const struct scan_options *options = job->options;
    const bool quiet = options->infected_only || options->quiet;
    char line[1200];

    for (size_t i = 0; i < entry->n_names && !options->quiet; i++) {
        snprintf(line, sizeof line, "%s FOUND", entry->names[i]);
        put_line(job, entry->path, line);
    }
    if (is_failed(entry)) {
        if (!quiet)
            put_line(job, entry->path, entry->error);
    } else if (entry->note != NULL) {
        const bool ok = strcmp(entry->note, "OK") == 0;

        if (!quiet && !(ok && options->suppress_ok))
            put_line(job, entry->path, entry->note);
    } else if (entry->n_names == 0 && entry->result.suspect) {
        if (!options->quiet)
            put_line(job, entry->path, "SUSPECT (not all candidates were verified)");
    } else if (entry->n_names == 0 && !quiet && !options->suppress_ok) {
        put_line(job, entry->path, "OK");
    }
}

/* "1:02:03", "4:05". */
static char *clock_text(double seconds, char out[32])
{
    const uint64_t s = (uint64_t)seconds;

    if (s >= 3600)
        snprintf(out, 32, "%" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60),
                 (unsigned)(s % 60));
    else
        snprintf(out, 32, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    return out;
}

static void show_progress(struct job *job)
{
    const struct scan_totals *totals = job->totals;
    const uint64_t now = clock_ns();
    const double rate = (double)totals->scanned_bytes / ((double)(now - job->begin_ns) / 1e9);
    char a[32], b[32], c[32];

    if (!job->progress || now - job->last_ns < PROGRESS_NS)
        return;
    fprintf(stderr, "\r%s files, %s, %s/s", cli_count(totals->files, a),
            cli_bytes((double)totals->scanned_bytes, b), cli_bytes(rate, c));
    if (job->counted && rate > 0 && job->all.scanned_bytes >= totals->scanned_bytes)
        fprintf(stderr, " of %s files, %s: %s left", cli_count(job->all.files, a),
                cli_bytes((double)job->all.scanned_bytes, b),
                clock_text((double)(job->all.scanned_bytes - totals->scanned_bytes) / rate, c));
    fputs(" \033[K", stderr);
    job->shown = true;
    job->last_ns = now;
}

static void count_entry(struct job *job, const struct entry *entry)
{
    struct scan_totals *totals = job->totals;

    if (is_failed(entry)) {
        totals->errors++;
    } else if (entry->note == NULL) {
        totals->files++;
        totals->infected += entry->n_names > 0;
        totals->suspect += entry->result.suspect && entry->n_names == 0;
        totals->bytes += entry->result.len;
        totals->scanned_bytes += entry->result.scanned_len;
    }
}

static void free_entry(struct entry *entry)
{
    for (size_t i = 0; i < entry->n_names; i++)
        free(entry->names[i]);
    if (entry->fd >= 0) /* the scan ended before */
        (void)close(entry->fd);
    free(entry->names);
    free(entry->path);
    memset(entry, 0, sizeof *entry);
    entry->fd = -1;
}

/* Prints what is done, in order. The lock is held. */
static void print_done(struct job *job)
{
    while (job->printed < job->filled && job->entries[job->printed % ENTRIES].done) {
        struct entry *entry = &job->entries[job->printed % ENTRIES];

        count_entry(job, entry);
        if (job->options->json)
            put_json(job, entry);
        else
            put_text(job, entry);
        free_entry(entry);
        job->printed++;
    }
    show_progress(job);
    pthread_cond_signal(&job->room);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void fail(struct job *job, const struct sl_diag *diag)
{
    pthread_mutex_lock(&job->lock);
    if (!job->failed)
        job->diag = *diag;
    job->failed = true;
    pthread_cond_broadcast(&job->work);
    pthread_cond_broadcast(&job->room);
    pthread_mutex_unlock(&job->lock);
}

static void set_error(struct entry *entry, const char *reason)
{
    snprintf(entry->error, sizeof entry->error, "%s", reason);
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct entry *entry = token;
    char **more = realloc(entry->names, (entry->n_names + 1) * sizeof *more);
    char *name = NULL;

    (void)user;
    if (more != NULL)
        entry->names = more;
    if (more == NULL ||
        asprintf(&name, "%s%s", match->name, match->official ? "" : ".UNOFFICIAL") < 0) {
        set_error(entry, "out of memory");
        return;
    }
    entry->names[entry->n_names++] = name;
}

static void on_done(void *user, void *token, const struct sl_clamav_result *result)
{
    struct job *job = user;
    struct entry *entry = token;

    entry->result = *result;
    if (result->error != 0)
        set_error(entry, strerror(result->error));
    else if (result->changed)
        set_error(entry, "changed while it was scanned");
    pthread_mutex_lock(&job->lock);
    entry->done = true;
    print_done(job);
    pthread_mutex_unlock(&job->lock);
}

static enum sl_status scan_stdin(struct sl_clamav_scanner *scanner, struct entry *entry)
{
    static uint8_t bytes[FEED_LEN]; /* one entry of a run at most is standard input */
    enum sl_status status = SL_OK;
    ssize_t n = 1;

    while (n != 0 && status == SL_OK) {
        n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n > 0)
            status = sl_clamav_feed(scanner, bytes, (size_t)n);
        else if (n < 0 && errno != EINTR) {
            set_error(entry, strerror(errno));
            n = 0;
        }
    }
    return status == SL_OK ? sl_clamav_feed_end(scanner, entry) : status;
}

/* Files cannot be waited for as pipes can: O_NONBLOCK is for what is none after all. */
static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static enum sl_status scan_entry(struct job *job, struct sl_clamav_scanner *scanner,
                                 struct entry *entry)
{
    const struct sl_clamav_result nothing = {0};
    enum sl_status status;

    if (strcmp(entry->path, "stdin") == 0 && entry->note != NULL) {
        entry->note = NULL;
        return scan_stdin(scanner, entry);
    }
    const int fd = entry->fd >= 0 ? entry->fd : open_file(entry->path);
    entry->fd = -1;
    if (fd < 0) {
        set_error(entry, errno == EACCES ? "Access denied" : strerror(errno));
        on_done(job, entry, &nothing);
        return SL_OK;
    }
    status = sl_clamav_scan_fd(scanner, fd, entry);
    (void)close(fd);
    return status;
}

/* The next entry to scan; NULL: none is there now, or `wait` and none will come. */
static struct entry *take_entry(struct job *job, bool wait)
{
    struct entry *entry = NULL;

    pthread_mutex_lock(&job->lock);
    for (;;) {
        /* What was done without a scan may have been printed already. */
        if (job->taken < job->printed)
            job->taken = job->printed;
        while (job->taken < job->filled && job->entries[job->taken % ENTRIES].done)
            job->taken++;
        if (job->taken < job->filled && !job->failed)
            entry = &job->entries[job->taken++ % ENTRIES];
        if (entry != NULL || !wait || job->walked || job->failed)
            break;
        pthread_cond_wait(&job->work, &job->lock);
    }
    pthread_mutex_unlock(&job->lock);
    return entry;
}

/* The next entry that is to be opened ahead: its number, and its path, as the entry may be taken
 * meanwhile. False: there is none. The lock is held. */
static bool next_ahead(struct job *job, uint64_t *number, char path[PATH_MAX])
{
    if (job->opened < job->taken)
        job->opened = job->taken;
    while (job->opened < job->filled && job->opened < job->taken + AHEAD) {
        const struct entry *entry = &job->entries[job->opened % ENTRIES];

        *number = job->opened++;
        if (!entry->done && entry->note == NULL && strlen(entry->path) < PATH_MAX) {
            memcpy(path, entry->path, strlen(entry->path) + 1);
            return true;
        }
    }
    return false;
}

/* So that the disk reads many files at once: opens those that come next and has them read. */
static void open_ahead(struct job *job)
{
    char path[PATH_MAX];
    uint64_t number;

    pthread_mutex_lock(&job->lock);
    while (!job->failed && next_ahead(job, &number, path)) {
        pthread_mutex_unlock(&job->lock);
        const int fd = open_file(path);
        if (fd >= 0)
            (void)posix_fadvise(fd, 0, AHEAD_LEN, POSIX_FADV_WILLNEED);
        pthread_mutex_lock(&job->lock);
        if (number >= job->taken)
            job->entries[number % ENTRIES].fd = fd;
        else if (fd >= 0) /* who took it did not wait */
            (void)close(fd);
    }
    pthread_mutex_unlock(&job->lock);
}

static void *scan_thread(void *user)
{
    struct job *job = user;
    struct sl_clamav_scanner *scanner;
    struct sl_diag diag = {0};
    enum sl_status status = sl_clamav_open(&scanner, job->db, &job->config, &diag);
    struct entry *entry;

    if (status != SL_OK) {
        fail(job, &diag);
        return NULL;
    }
    while (status == SL_OK) {
        entry = take_entry(job, false);
        if (entry == NULL) { /* nothing waits: what was given is ended before waiting */
            status = sl_clamav_flush(scanner);
            entry = status == SL_OK ? take_entry(job, true) : NULL;
        }
        if (entry == NULL)
            break;
        open_ahead(job);
        status = scan_entry(job, scanner, entry);
    }
    if (status == SL_OK)
        status = sl_clamav_flush(scanner);
    if (status != SL_OK) {
        snprintf(diag.text, sizeof diag.text, "the scan cannot go on: %s", sl_status_text(status));
        fail(job, &diag);
    }
    sl_clamav_close(scanner);
    return NULL;
}

/* ---- the walk's side ------------------------------------------------------------------------- */

static void put_entry(struct job *job, const char *path, const char *note, const char *error,
                      bool done)
{
    struct entry *entry;

    pthread_mutex_lock(&job->lock);
    while (job->filled - job->printed == ENTRIES && !job->failed)
        pthread_cond_wait(&job->room, &job->lock);
    if (!job->failed) {
        entry = &job->entries[job->filled++ % ENTRIES];
        entry->path = strdup(path);
        entry->note = note;
        set_error(entry, error != NULL ? error : "");
        entry->done = done;
        if (entry->path == NULL) {
            job->failed = true;
            entry->done = true;
            snprintf(job->diag.text, sizeof job->diag.text, "out of memory");
        }
        if (done)
            print_done(job);
        pthread_cond_signal(&job->work);
    }
    pthread_mutex_unlock(&job->lock);
}

static void on_file(void *user, const char *path, uint64_t len)
{
    (void)len;
    put_entry(user, path, NULL, NULL, false);
}

static void on_note(void *user, const char *path, const char *note)
{
    put_entry(user, path, note, NULL, true);
}

static void on_error(void *user, const char *path, const char *reason)
{
    put_entry(user, path, NULL, reason, true);
}

static bool is_stopped(void *user)
{
    struct job *job = user;
    bool stopped;

    pthread_mutex_lock(&job->lock);
    stopped = job->failed;
    pthread_mutex_unlock(&job->lock);
    return stopped;
}

static void walk_list(struct scan_walk *walk, const char *list)
{
    FILE *file = strcmp(list, "-") == 0 ? stdin : fopen(list, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (file == NULL) {
        walk->error(walk->user, list, strerror(errno));
        return;
    }
    while ((errno = 0, n = getline(&line, &cap, file)) > 0) {
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = '\0';
        if (n > 0)
            scan_walk_path(walk, line);
    }
    if (!feof(file))
        walk->error(walk->user, list, strerror(errno));
    free(line);
    if (file != stdin)
        (void)fclose(file);
}

/* ---- the count ------------------------------------------------------------------------------- */

struct counting {
    struct job *job;
    char **paths;
    int n_paths;
    struct scan_totals totals;
    pthread_t thread;
};

static void count_file(void *user, const char *path, uint64_t len)
{
    struct counting *counting = user;
    const uint64_t max = counting->job->options->max_scan_len;

    (void)path;
    counting->totals.files++;
    counting->totals.scanned_bytes += max > 0 && len > max ? max : len;
}

static void count_nothing(void *user, const char *path, const char *reason)
{
    (void)user;
    (void)path;
    (void)reason;
}

static bool is_over(void *user)
{
    struct job *job = ((struct counting *)user)->job;
    bool over;

    pthread_mutex_lock(&job->lock);
    over = job->over || job->failed;
    pthread_mutex_unlock(&job->lock);
    return over;
}

static void *count_thread(void *user)
{
    struct counting *counting = user;
    struct job *job = counting->job;
    struct scan_walk walk = {job->options,  &counting->totals, counting, count_file,
                             count_nothing, count_nothing,     is_over};

    for (int i = 0; i < counting->n_paths; i++)
        scan_walk_path(&walk, counting->paths[i]);
    if (job->options->file_list != NULL)
        walk_list(&walk, job->options->file_list);
    pthread_mutex_lock(&job->lock);
    job->all = counting->totals;
    job->counted = !job->over;
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

/* What is read once, from standard input or a pipe, is not counted. False: nothing is. */
static bool count_begin(struct counting *counting)
{
    const char *list = counting->job->options->file_list;
    struct stat file;

    if (!counting->job->progress)
        return false;
    for (int i = 0; i < counting->n_paths; i++)
        if (strcmp(counting->paths[i], "-") == 0)
            return false;
    if (list != NULL && (stat(list, &file) != 0 || !S_ISREG(file.st_mode)))
        return false;
    return pthread_create(&counting->thread, NULL, count_thread, counting) == 0;
}

static void count_end(struct counting *counting)
{
    struct job *job = counting->job;

    pthread_mutex_lock(&job->lock);
    job->over = true;
    pthread_mutex_unlock(&job->lock);
    pthread_join(counting->thread, NULL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void walk_all(struct job *job, char **paths, int n_paths)
{
    struct scan_walk walk = {job->options, job->totals, job,       on_file,
                             on_note,      on_error,    is_stopped};

    for (int i = 0; i < n_paths; i++) {
        if (strcmp(paths[i], "-") == 0)
            put_entry(job, "stdin", "from standard input", NULL, false);
        else
            scan_walk_path(&walk, paths[i]);
    }
    if (job->options->file_list != NULL)
        walk_list(&walk, job->options->file_list);
    pthread_mutex_lock(&job->lock);
    job->walked = true;
    pthread_cond_broadcast(&job->work);
    pthread_mutex_unlock(&job->lock);
}

static bool run_threads(struct job *job, char **paths, int n_paths)
{
    pthread_t *threads = calloc(job->options->n_threads, sizeof *threads);
    struct counting counting = {.job = job, .paths = paths, .n_paths = n_paths};
    const bool counts = count_begin(&counting);
    unsigned n = 0;

    while (threads != NULL && n < job->options->n_threads &&
           pthread_create(&threads[n], NULL, scan_thread, job) == 0)
        n++;
    if (n > 0)
        walk_all(job, paths, n_paths);
    else
        snprintf(job->diag.text, sizeof job->diag.text, "no thread could be started");
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    if (counts)
        count_end(&counting);
    free(threads);
    return n > 0 && !job->failed;
}

bool scan_run(const struct scan_options *options, const struct sl_clamav_db *db,
              const struct sl_device *device, char **paths, int n_paths, struct scan_totals *totals)
{
    struct job *job = calloc(1, sizeof *job);
    bool good = false;

    if (job == NULL) {
        cli_error("out of memory");
        return false;
    }
    job->options = options;
    job->db = db;
    job->totals = totals;
    sl_clamav_scan_config_init(&job->config);
    job->config.device = *device;
    job->config.all_matches = options->all_matches;
    job->config.max_scan_len = options->max_scan_len;
    job->config.max_batch_hits = options->max_batch_hits;
    job->config.max_object_hits = options->max_object_hits;
    job->config.match = on_match;
    job->config.done = on_done;
    job->config.user = job;
    /* A line for each file on the user's terminal is progress enough. */
    job->progress = isatty(STDERR_FILENO) && !options->quiet &&
                    (!isatty(STDOUT_FILENO) || options->infected_only);
    job->begin_ns = job->last_ns = clock_ns();
    for (int i = 0; i < ENTRIES; i++)
        job->entries[i].fd = -1;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->work, NULL);
    pthread_cond_init(&job->room, NULL);
    if (options->log != NULL && (job->log = fopen(options->log, "ae")) == NULL) {
        cli_error("%s: cannot be opened: %s", options->log, strerror(errno));
    } else {
        good = run_threads(job, paths, n_paths);
        hide_progress(job);
        if (!good)
            cli_diag(&job->diag);
    }
    errno = 0;
    if (job->log != NULL && (ferror(job->log) | fclose(job->log)) != 0) {
        cli_error("%s: cannot be written%s%s", options->log, errno != 0 ? ": " : "",
                  errno != 0 ? strerror(errno) : "");
        good = false;
    }
    for (int i = 0; i < ENTRIES; i++)
        free_entry(&job->entries[i]);
    pthread_cond_destroy(&job->room);
    pthread_cond_destroy(&job->work);
    pthread_mutex_destroy(&job->lock);
    free(job);
    return good;
}
