/* SPDX-License-Identifier: MIT */
/* A judge of viruses in streams: the scanner of files gets the bytes of each stream as one file.
 * What it finds a run finds, however the stream was cut, and in whatever order its segments come.
 * In streams longer than a window it may miss something, and counts that. */
#include "test.h"

#include <ctype.h>
#include <unistd.h>

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"
#include "sluice/clamav.h"

enum {
    N_FLOWS = 64,
    N_SIGS = 40,
    N_SUBS = 3,
    N_WORDS = 10,
    WORD_MAX = 8,
    LINE_MAX_LEN = 8192,
    INSTANCE_MAX = 4500, /* bytes of a match */
    MESSAGE_MAX = 12000,
    SEGMENTS_MAX = 3 * MESSAGE_MAX,
    FIRST_PORT = 20000,
    ISN = 0xFFFFF800
};

/* ---- signatures ------------------------------------------------------------------------------ */

/* Bytes that a body matches, if nothing around them forbids it. */
struct instance {
    uint8_t byte[INSTANCE_MAX];
    uint32_t len;
};

struct sub {
    struct instance instance;
    char offset[32]; /* "": none */
};

struct signature {
    char line[LINE_MAX_LEN], name[32];
    bool logical;
    bool plain; /* it matches no part of a file that it does not match */
    struct sub sub[N_SUBS];
    uint32_t n_subs;
};

/* A body while it is made, as text and as bytes. */
struct body {
    uint64_t *seed;
    char *text;
    struct instance *instance;
    bool nocase, wide;
};

static char words[N_WORDS][WORD_MAX + 1];

static uint8_t noise(uint64_t *seed)
{
    return (uint8_t) "abcdefghabcdefgh \n-_"[test_below(seed, 20)];
}

static void draw_words(uint64_t *seed)
{
    for (uint32_t i = 0; i < N_WORDS; i++) {
        const uint32_t len = 5 + test_below(seed, WORD_MAX - 4);

        for (uint32_t k = 0; k < len; k++)
            words[i][k] = "QWXZKJV0123456789"[test_below(seed, 17)];
        words[i][len] = '\0';
    }
}

static void put_text(struct body *body, const char *text)
{
    body->text += sprintf(body->text, "%s", text);
}

static void put_raw(struct body *body, uint8_t byte)
{
    assert_true(body->instance->len < INSTANCE_MAX);
    body->instance->byte[body->instance->len++] = byte;
}

static void put_byte(struct body *body, uint8_t byte)
{
    if (body->nocase && test_below(body->seed, 2) == 0)
        byte = (uint8_t)tolower(byte);
    put_raw(body, byte);
    if (body->wide)
        put_raw(body, 0);
}

static void put_word(struct body *body, const char *word, bool in_text)
{
    for (; *word != '\0'; word++) {
        if (in_text)
            body->text += sprintf(body->text, "%02x", (unsigned)*word);
        put_byte(body, (uint8_t)*word);
    }
}

static const char *any_word(uint64_t *seed)
{
    return words[test_below(seed, N_WORDS)];
}

static void put_noise(struct body *body, uint32_t n)
{
    while (n-- != 0)
        put_raw(body, noise(body->seed));
}

/* Widths beyond a window come at times. */
static uint32_t draw_width(uint64_t *seed)
{
    static const uint32_t most[] = {4, 60, 400, 1400};

    return test_below(seed, most[test_below(seed, test_below(seed, 8) == 0 ? 4 : 2)]);
}

static void put_gap(struct body *body)
{
    const uint32_t min = draw_width(body->seed), more = 1 + draw_width(body->seed);
    uint32_t width = min + test_below(body->seed, more + 1);

    switch (test_below(body->seed, 6)) {
    case 0:
        put_text(body, "*");
        break;
    case 1:
        body->text += sprintf(body->text, "{%u}", min + 1);
        width = min + 1;
        break;
    case 2:
        body->text += sprintf(body->text, "{-%u}", more);
        width = test_below(body->seed, more + 1);
        break;
    case 3:
        body->text += sprintf(body->text, "{%u-}", min);
        break;
    case 4:
        body->text += sprintf(body->text, "{%u-%u}", min, min + more);
        break;
    default: /* ClamAV takes short ones alone */
        body->text += sprintf(body->text, "[%u-%u]", min % 30, min % 30 + more % 2);
        width = min % 30 + test_below(body->seed, more % 2 + 1);
    }
    put_noise(body, width);
}

static void put_alternates(struct body *body)
{
    switch (test_below(body->seed, 3)) {
    case 0:
        put_text(body, "(58|51)");
        put_word(body, test_below(body->seed, 2) == 0 ? "X" : "Q", false);
        break;
    case 1:
        put_text(body, "!(58|51)");
        put_word(body, "7", false);
        break;
    default:
        put_text(body, "(58|5159|515a5a)");
        put_word(body, (const char *const[]){"X", "QY", "QZZ"}[test_below(body->seed, 3)], false);
    }
}

static void put_border(struct body *body, bool left)
{
    static const char *const classes[] = {"(B)", "(L)", "(W)", "!(W)"};
    const uint32_t class = test_below(body->seed, 4);

    if (left)
        put_raw(body, (uint8_t) " \n-X"[class]);
    put_text(body, classes[class]);
    if (!left)
        put_raw(body, (uint8_t) " \n-X"[class]);
}

static void put_run(struct body *body)
{
    put_word(body, any_word(body->seed), true);
    switch (test_below(body->seed, 5)) {
    case 0:
        put_text(body, "??");
        put_noise(body, body->wide ? 2 : 1);
        break;
    case 1:
        put_text(body, "5?");
        put_word(body, "V", false);
        break;
    case 2:
        put_alternates(body);
        break;
    default:
        return;
    }
    put_word(body, any_word(body->seed), true);
}

static void put_body(struct body *body)
{
    const uint32_t n_runs = 1 + test_below(body->seed, 3);

    if (test_below(body->seed, 8) == 0)
        put_border(body, true);
    for (uint32_t run = 0; run < n_runs; run++) {
        if (run > 0)
            put_gap(body);
        put_run(body);
    }
    if (test_below(body->seed, 8) == 0)
        put_border(body, false);
}

static void draw_offset(uint64_t *seed, char *offset)
{
    const uint32_t n = test_below(seed, 6) == 0 ? test_below(seed, 8000) : draw_width(seed);
    const uint32_t shift = draw_width(seed);

    offset[0] = '\0';
    switch (test_below(seed, 8)) {
    case 0:
        sprintf(offset, "%u", n);
        break;
    case 1:
        sprintf(offset, "%u,%u", n, shift);
        break;
    case 2:
        sprintf(offset, "EOF-%u,%u", n + 20, shift);
        break;
    case 3:
        sprintf(offset, "EOF-%u", n + 20);
        break;
    default:
        break;
    }
}

static void draw_body_signature(uint64_t *seed, struct signature *sig)
{
    struct body body = {.seed = seed, .text = sig->line, .instance = &sig->sub[0].instance};

    sig->n_subs = 1;
    draw_offset(seed, sig->sub[0].offset);
    body.text += sprintf(body.text, "%s:0:%s:", sig->name,
                         sig->sub[0].offset[0] != '\0' ? sig->sub[0].offset : "*");
    put_body(&body);
}

static void draw_logical_signature(uint64_t *seed, struct signature *sig)
{
    static const char *const expressions[] = {
        "0&1",   "0|1",   "0&1&2", "(0|1)&2", "0>1",     "0=2&1",   "0&1=0", "(0|1|2)>2,2",
        "0<3&1", "0&1|2", "0>2",   "(0&1)>2", "1>1&0&2", "(0|1)=3", "0&1>1", "(0|1|2)>1,3"};
    static const char *const options[] = {"::i", "::w", "::wa", "::f", "::iw", "::fi"};
    const char *expression = expressions[test_below(seed, 16)];
    struct body body = {.seed = seed, .text = sig->line};

    sig->n_subs = 1;
    for (const char *at = expression; *at != '\0'; at++)
        if (isdigit((unsigned char)*at) && (at == expression || strchr("=<>,", at[-1]) == NULL) &&
            (uint32_t)(*at - '0') >= sig->n_subs)
            sig->n_subs = (uint32_t)(*at - '0') + 1;
    body.text += sprintf(body.text, "%s;%sTarget:0;%s", sig->name,
                         test_below(seed, 12) == 0 ? "FileSize:100-3000," : "", expression);
    for (uint32_t i = 0; i < sig->n_subs; i++) {
        const char *option = test_below(seed, 3) == 0 ? options[test_below(seed, 6)] : "";

        put_text(&body, ";");
        if (i == sig->n_subs - 1 && i > 0 && test_below(seed, 6) == 0) {
            body.text += sprintf(body.text, "0/%s.{0,9}g/", any_word(seed));
            continue;
        }
        if (test_below(seed, 3) == 0)
            draw_offset(seed, sig->sub[i].offset);
        if (sig->sub[i].offset[0] != '\0')
            body.text += sprintf(body.text, "%s:", sig->sub[i].offset);
        body.instance = &sig->sub[i].instance;
        body.nocase = strchr(option, 'i') != NULL;
        body.wide = strchr(option, 'w') != NULL &&
                    (strchr(option, 'a') == NULL || test_below(seed, 2) == 0);
        put_body(&body);
        put_text(&body, option);
    }
}

/* Its bodies lie anywhere, borders do not matter, and more bytes refute nothing. */
static bool is_plain(const struct signature *sig)
{
    static const char *const others[] = {"=",   "<",   "FileSize", "(W)", "(L)",
                                         "(B)", "::f", "::i",      "/"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(sig->line, others[i]) != NULL)
            return false;
    for (uint32_t i = 0; i < sig->n_subs; i++)
        if (sig->sub[i].offset[0] != '\0')
            return false;
    return true;
}

static struct sl_clamav_db *compile(const struct signature *sigs, uint32_t n)
{
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(sl_clamav_set_create(&set, &diag), SL_OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(sl_clamav_set_read_text(set, sigs[i].logical ? "j.ldb" : "j.ndb",
                                                 sigs[i].line, strlen(sigs[i].line), &diag),
                         SL_OK);
    const struct sl_diag *bad = sl_clamav_bad_line(set, 0);
    if (bad != NULL)
        fail_msg("%s: %s", sigs[n - 1].line, bad->text);
    assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag), SL_OK);
    sl_clamav_set_free(set);
    return db;
}

/* One that payloads are searched for. */
static void draw_signature(uint64_t *seed, struct signature *sig, uint32_t number)
{
    struct sl_clamav_info info;

    do {
        memset(sig, 0, sizeof *sig);
        sig->logical = test_below(seed, 2) == 0;
        sprintf(sig->name, "%c%u", sig->logical ? 'L' : 'N', number);
        if (sig->logical)
            draw_logical_signature(seed, sig);
        else
            draw_body_signature(seed, sig);
        struct sl_clamav_db *db = compile(sig, 1);
        sl_clamav_info(db, &info);
        sl_clamav_free(db);
    } while (info.in_parts != 1);
    sig->plain = is_plain(sig);
}

/* ---- messages -------------------------------------------------------------------------------- */

struct segment {
    uint32_t begin, len;
    uint32_t wrong; /* first bytes that differ from the stream's, which came before */
};

struct message {
    uint8_t byte[MESSAGE_MAX];
    uint32_t len;
    struct segment *segment;
    uint32_t n_segments, n_sent;
};

static void plant(uint64_t *seed, struct message *message, const struct sub *sub)
{
    const struct instance *instance = &sub->instance;
    long at, shift = 0;

    if (instance->len >= message->len)
        return;
    at = test_below(seed, message->len - instance->len);
    if (sub->offset[0] != '\0') {
        const char *comma = strchr(sub->offset, ',');

        shift = comma != NULL ? (long)test_below(seed, (uint32_t)atoi(comma + 1) + 1) : 0;
        at = strncmp(sub->offset, "EOF-", 4) == 0 ? (long)message->len - atoi(sub->offset + 4)
                                                  : atoi(sub->offset);
        at += shift;
        if (test_below(seed, 4) == 0)
            at++;
    }
    if (at < 0 || at + (long)instance->len > (long)message->len)
        return;
    memcpy(message->byte + at, instance->byte, instance->len);
    if (test_below(seed, 6) == 0)
        message->byte[at + (long)test_below(seed, instance->len)] ^= 1;
}

static void draw_bytes(uint64_t *seed, struct message *message, const struct signature *sigs)
{
    message->len = test_below(seed, 4) == 0 ? 4000 + test_below(seed, MESSAGE_MAX - 4000)
                                            : 30 + test_below(seed, 3000);
    for (uint32_t i = 0; i < message->len; i++)
        message->byte[i] = noise(seed);
    for (uint32_t n = 1 + test_below(seed, 3); n != 0; n--) {
        const struct signature *sig = &sigs[test_below(seed, N_SIGS)];

        for (uint32_t s = 0; s < sig->n_subs; s++)
            for (uint32_t k = 1 + test_below(seed, 3); k != 0; k--)
                plant(seed, message, &sig->sub[s]);
    }
}

/* How messages become packets. */
struct way {
    uint32_t segment_max, batch_max, n_workers;
    bool repeats; /* segments are lost and come again, later and with others */
};

static void add_segment(struct message *message, uint32_t begin, uint32_t len, uint32_t wrong)
{
    message->segment[message->n_segments++] = (struct segment){begin, len, wrong};
}

/* Segments that begin before bytes which came already. */
static void add_again(uint64_t *seed, struct message *message, uint32_t begin, uint32_t len)
{
    const uint32_t back = 1 + test_below(seed, begin < 200 ? begin : 200);

    add_segment(message, begin - back, len + back, test_below(seed, 2) == 0 ? back : 0);
}

static void draw_segments(uint64_t *seed, struct message *message, const struct way *way)
{
    uint32_t held = UINT32_MAX; /* a segment that was lost */
    struct segment lost = {0};

    message->segment = malloc(SEGMENTS_MAX * sizeof *message->segment);
    assert_non_null(message->segment);
    for (uint32_t begin = 0, n = 0; begin < message->len; n++) {
        uint32_t len = 1 + test_below(seed, way->segment_max);

        len = len < message->len - begin ? len : message->len - begin;
        if (way->repeats && held == UINT32_MAX && test_below(seed, 5) == 0) {
            held = n + 1 + test_below(seed, 4);
            lost = (struct segment){begin, len, 0};
        } else if (way->repeats && held == UINT32_MAX && begin > 0 && test_below(seed, 4) == 0) {
            add_again(seed, message, begin, len);
        } else {
            add_segment(message, begin, len, 0);
        }
        begin += len;
        if (held != UINT32_MAX && (n >= held || begin == message->len)) {
            add_segment(message, lost.begin, lost.len, 0);
            held = UINT32_MAX;
        }
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct judge {
    const struct way *way;
    uint64_t seed, batch_seed;
    struct signature sig[N_SIGS];
    struct message message[N_FLOWS];
    bool in_file[N_FLOWS][N_SIGS];
    uint32_t found[N_FLOWS][N_SIGS];
    uint32_t n_left; /* flows that have something to send */
    uint64_t n_left_out;
    int64_t time;
};

static uint32_t number_of(const char *name)
{
    return (uint32_t)atoi(name + 1);
}

static void next_packet(struct judge *judge, struct frame *f)
{
    uint8_t bytes[MESSAGE_MAX];
    uint32_t flow;

    do
        flow = test_below(&judge->seed, N_FLOWS);
    while (judge->message[flow].n_sent > judge->message[flow].n_segments);

    struct message *const message = &judge->message[flow];
    const bool is_syn = message->n_sent++ == 0;
    const struct segment *segment = &message->segment[is_syn ? 0 : message->n_sent - 2];

    memcpy(bytes, message->byte + segment->begin, segment->len);
    for (uint32_t i = 0; i < segment->wrong; i++)
        bytes[i] ^= 1;
    judge->n_left -= message->n_sent > message->n_segments;
    frame_segment(f, &(struct frame_segment){.src = 0x0A000001,
                                             .dst = 0xC0A80001,
                                             .src_port = (uint16_t)(FIRST_PORT + flow),
                                             .dst_port = 5555,
                                             .flags = is_syn ? 2 : 24,
                                             .seq = ISN + (is_syn ? 0 : 1 + segment->begin),
                                             .ack = is_syn ? 0 : 1,
                                             .bytes = bytes,
                                             .len = is_syn ? 0 : segment->len});
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct judge *judge = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = 1 + test_below(&judge->batch_seed, judge->way->batch_max);
         judge->n_left != 0 && room != 0; room--) {
        next_packet(judge, &f);
        assert_true(sl_run_add_packet(batch, f.byte, f.len, judge->time += 1000, 1));
    }
    return judge->n_left != 0 ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct judge *judge = user;
    const uint32_t flow = event->tuple.src_port - FIRST_PORT;

    (void)diag;
    assert_true(flow < N_FLOWS);
    judge->found[flow][number_of(event->signature->msg)]++;
    return SL_OK;
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    (void)user;
    ((bool *)token)[number_of(match->name)] = true;
}

static void scan_files(struct judge *judge)
{
    struct sl_clamav_db *db = compile(judge->sig, N_SIGS);
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;

    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.match = on_match;
    assert_int_equal(sl_clamav_open(&scanner, db, &config, NULL), SL_OK);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        assert_int_equal(sl_clamav_scan_buffer(scanner, judge->message[flow].byte,
                                               judge->message[flow].len, judge->in_file[flow]),
                         SL_OK);
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    sl_clamav_close(scanner);
    sl_clamav_free(db);
}

static void write_set(char *path, const struct signature *sigs, bool logical)
{
    const int fd = mkstemps(path, 4);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    assert_non_null(file);
    for (uint32_t i = 0; i < N_SIGS; i++)
        if (sigs[i].logical == logical)
            assert_true(fprintf(file, "%s\n", sigs[i].line) > 0);
    assert_int_equal(fclose(file), 0);
}

/* Scans flows from `from` to `to`. */
static void scan_streams(struct judge *judge, uint32_t from, uint32_t to)
{
    char ndb[] = "/tmp/virus_streams_XXXXXX.ndb", ldb[] = "/tmp/virus_streams_XXXXXX.ldb";
    const char *const databases[] = {ndb, ldb};
    struct sl_run_config config;
    struct sl_run_result result;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        judge->message[flow].n_sent =
            flow >= from && flow < to ? 0 : judge->message[flow].n_segments + 1;
    judge->n_left = to - from;
    write_set(ndb, judge->sig, false);
    write_set(ldb, judge->sig, true);
    sl_run_config_init(&config);
    config.fill = fill;
    config.databases = databases;
    config.n_databases = 2;
    config.devices = "cpu";
    config.event = on_event;
    config.events = 1u << SL_EVENT_ALERT;
    config.user = judge;
    config.flow_memory = 1 << 20;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = judge->way->n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_result(sluice, &result);
    judge->n_left_out = result.virus_hits_left_out;
    sl_run_close(sluice);
    unlink(ndb);
    unlink(ldb);
}

static const struct way ways[] = {
    {700, 4000, 1, false}, {700, 50, 3, true},   {60, 4000, 2, true},
    {4, 4000, 1, true},    {1460, 300, 1, true},
};

/* A miss in a stream that one window holds, or a match that the file has not. */
static void check_flow(const struct judge *judge, uint32_t flow, uint32_t s, uint64_t seed)
{
    const struct signature *sig = &judge->sig[s];
    const bool in_file = judge->in_file[flow][s], found = judge->found[flow][s] != 0;

    if ((in_file && !found && judge->message[flow].len <= SL_STREAM_KNOWN) ||
        (sig->plain && found && !in_file))
        fail_msg("seed %llu, segments up to %u: a stream of %u bytes %s %s",
                 (unsigned long long)seed, judge->way->segment_max, judge->message[flow].len,
                 found ? "has" : "misses", sig->line);
}

/* In two ways that differ in batches and threads alone. */
static void scan_in_batches(struct judge *judge)
{
    static uint32_t found[N_FLOWS][N_SIGS];
    static const struct way other = {.batch_max = 40, .n_workers = 2};
    const struct way *const way = judge->way;
    const uint64_t seed = judge->seed;

    judge->way = &other;
    scan_streams(judge, 0, N_FLOWS);
    const uint64_t n_left_out = judge->n_left_out;
    memcpy(found, judge->found, sizeof found);
    memset(judge->found, 0, sizeof judge->found);
    judge->way = way;
    judge->seed = seed;
    scan_streams(judge, 0, N_FLOWS);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        for (uint32_t s = 0; s < N_SIGS; s++)
            assert_int_equal(found[flow][s], judge->found[flow][s]);
    assert_int_equal(judge->n_left_out, n_left_out);
}

/* A flow that misses something counts that, also alone. */
static void check_counts(struct judge *judge, uint32_t flow, uint64_t seed)
{
    const struct signature *missed = NULL;

    for (uint32_t s = 0; s < N_SIGS; s++)
        if (judge->in_file[flow][s] && judge->found[flow][s] == 0)
            missed = &judge->sig[s];
    if (missed == NULL)
        return;
    scan_streams(judge, flow, flow + 1);
    if (judge->n_left_out == 0)
        fail_msg("seed %llu, segments up to %u: flow %u of %u bytes misses and does not count %s",
                 (unsigned long long)seed, judge->way->segment_max, flow, judge->message[flow].len,
                 missed->line);
}

/* Returns the matches of files. */
static uint32_t judge_round(uint64_t seed)
{
    struct judge *judge = calloc(1, sizeof *judge);
    uint32_t n = 0;

    assert_non_null(judge);
    judge->way = &ways[seed % (sizeof ways / sizeof *ways)];
    judge->seed = judge->batch_seed = seed;
    judge->time = INT64_C(1700000000000000000);
    draw_words(&judge->seed);
    for (uint32_t s = 0; s < N_SIGS; s++)
        draw_signature(&judge->seed, &judge->sig[s], s);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        draw_bytes(&judge->seed, &judge->message[flow], judge->sig);
        draw_segments(&judge->seed, &judge->message[flow], judge->way);
    }
    scan_files(judge);
    scan_in_batches(judge);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        for (uint32_t s = 0; s < N_SIGS; s++) {
            check_flow(judge, flow, s, seed);
            n += judge->in_file[flow][s];
        }
        check_counts(judge, flow, seed);
        free(judge->message[flow].segment);
    }
    free(judge);
    return n;
}

static void test_streams_are_as_files(void **state)
{
    const uint32_t n = test_fewer(6, 2) * test_times();
    uint32_t n_found = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= n; seed++)
        n_found += judge_round(seed);
    assert_true(n_found >= n * N_FLOWS); /* else the judge has little to say */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams_are_as_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
