/* SPDX-License-Identifier: MIT */
#include "app_messages.h"

#include "app_event.h"
#include "base/diag.h"
#include "base/least.h"
#include "quic.h"

/* The state kept for a side of a transaction. */
struct side_note {
    struct app_body body;             /* as far as it has come */
    uint32_t shown;                   /* bytes of it that messages showed */
    bool is_cut;                      /* no more of the body is kept */
    bool is_long;                     /* for its length, and more has come */
    uint64_t batch;                   /* in which the next ones lie; 0: in none */
    const struct sl_app_value *value; /* values but for the body */
    uint32_t n_values;
    const struct sl_app_file *file; /* that its body was, or a part; while it is reported */
    struct app_contents *contents;  /* of the file whose bytes come; NULL: none are kept */
    uint64_t events;                /* as sl_app_message has them */

    /* Bytes of the body behind `shown`, as packets of a batch hold them. */
    struct sl_app_piece *first_piece, *last_piece;
    uint32_t pieces_len, n_pieces;
    uint64_t pieces_batch; /* 0: none */
};

/* The state kept for a transaction as long as it is open. */
struct note {
    struct side_note side[2];
};

/* The client's hello of a flow of QUIC, which is its transaction. */
struct app_quic {
    struct quic_flow flow;
    struct tls_session session;
    void *note;
};

/* A flow that a parser reads, or whose protocol is sought. */
struct app_flow {
    struct app_slot *slot;          /* which has its number */
    struct app_flow *older, *newer; /* by their last bytes */
    struct app_stream *stream;      /* of TCP, else NULL */
    struct app_quic *quic;          /* of UDP, else NULL */
    struct app_files files;
    uint64_t held, notes; /* bytes; those of notes alone */
};

/* What a number stands for: a flow, or, where it is free, the next such number. */
union app_number {
    struct app_flow *flow;
    uint32_t next;
};

struct app_shard {
    struct app_config config;
    uint64_t memory, held; /* bytes */
    struct app_credit credit;
    struct app_contents_budget files;
    struct app_blocks blocks;
    uint64_t batch; /* counts */
    struct app_flow *oldest, *newest;
    union app_number *number; /* 0 is none */
    uint32_t n_numbers, max_numbers, free_number;
    struct app_output *output;
    struct app_show show;
    struct app_file_tools *tools; /* NULL: no file came so far */
};

/* A call of a parser. */
struct hearing {
    struct app_shard *shard;
    const struct app_place *place;
    struct app_flow *flow;
    bool is_lost; /* the flow gives way: its transactions go without a message */
};

/* ---- shards ---------------------------------------------------------------------------------- */

enum sl_status app_shards_create(struct app_shard **out, uint32_t n,
                                 const struct app_config *config, struct sl_diag *diag)
{
    struct app_shard *shards = calloc(n, sizeof *shards);

    *out = shards;
    for (uint32_t i = 0; shards != NULL && i < n; i++) {
        shards[i].config = *config;
        shards[i].memory = config->memory / n;
        shards[i].credit.pool = shards[i].files.credit.pool = APP_CREDIT_MAX;
    }
    return shards != NULL ? SL_OK
                          : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u shards", n);
}

struct app_shard *app_shard_at(struct app_shard *shards, uint32_t index)
{
    return &shards[index];
}

void app_shard_begin(struct app_shard *shard, struct app_output *output)
{
    output->n = 0;
    output->no_memory = false;
    output->stats = (struct sl_app_stats){0};
    app_arena_reset(&output->arena);
    app_contents_free(output->contents);
    output->contents = NULL;
    app_blocks_take_back(&shard->blocks, &output->left);
    shard->output = output;
    shard->show.arena = &output->arena;
    shard->batch++;
}

void app_shard_end(struct app_shard *shard)
{
    while (shard->blocks.in_packets != NULL)
        shard->output->no_memory |= !app_body_gather(shard->blocks.in_packets, &shard->blocks);
}

void app_output_free(struct app_output *output)
{
    free(output->message);
    free(output->late);
    app_arena_free(&output->arena);
    app_contents_free(output->contents);
    app_blocks_free_left(output->left);
    output->left = NULL;
}

uint64_t app_shard_held(const struct app_shard *shard)
{
    return shard->held;
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool reserve(struct app_output *output)
{
    if (output->n < output->max)
        return true;
    const uint32_t max = output->max != 0 ? 2 * output->max : 64;
    struct sl_app_message *message = realloc(output->message, max * sizeof *message);

    if (message == NULL)
        return false;
    output->message = message;
    const void **late = realloc(output->late, max * sizeof *late);
    if (late == NULL)
        return false;
    output->late = late;
    output->max = max;
    return true;
}

/* Lists what a side says but for its body, once a batch. */
static bool list_values(struct app_shard *shard, struct side_note *side,
                        const struct app_news *news, enum app_side which)
{
    struct app_show *const show = &shard->show;

    if (side->batch == shard->batch)
        return true;
    show->wanted = shard->config.values;
    news->parser->show(show, news->transaction, which);
    side->value = app_show_end(show, &side->n_values);
    side->batch = shard->batch;
    return side->value != NULL;
}

/* The values of a side with its body behind them. */
static bool show_body(struct app_shard *shard, struct side_note *side, struct sl_app_half *half)
{
    if (side->body.len == 0)
        return true;
    struct sl_app_value *value =
        app_arena_take(&shard->output->arena, ((size_t)side->n_values + 1) * sizeof *value);

    if (value == NULL)
        return false;
    if (side->n_values != 0)
        memcpy(value, side->value, side->n_values * sizeof *value);
    value[side->n_values] = (struct sl_app_value){
        side->body.block != NULL ? side->body.block->bytes : NULL, side->body.len, SL_APP_BODY};
    side->body.is_shown = side->body.block != NULL;
    half->value = value;
    half->n_values = side->n_values + 1;
    return true;
}

/* All bytes of the body behind `shown`, where packets hold them in parts that are not small. */
static const struct sl_app_piece *take_pieces(const struct app_shard *shard, struct side_note *side)
{
    enum { PIECE_MIN = 256 }; /* bytes on average */
    const uint32_t len = side->body.len - side->shown;
    const bool has_all = side->pieces_batch == shard->batch && side->pieces_len == len &&
                         side->n_pieces <= len / PIECE_MIN + 1;

    side->pieces_batch = 0;
    return has_all ? side->first_piece : NULL;
}

static bool is_in_packet(const struct app_place *place, const uint8_t *bytes)
{
    return place->payload != NULL && bytes >= place->payload && bytes < place->payload + place->len;
}

/* Notes bytes of the body that lie in a packet. */
static void add_piece(const struct hearing *hearing, struct side_note *side, const uint8_t *bytes,
                      uint32_t len)
{
    struct app_shard *const shard = hearing->shard;
    const struct app_place *place = hearing->place;
    struct sl_app_piece *piece;

    if (!is_in_packet(place, bytes))
        return;
    piece = app_arena_take(&shard->output->arena, sizeof *piece);
    if (piece == NULL)
        return;
    *piece = (struct sl_app_piece){NULL, place->source, (uint32_t)(bytes - place->payload), len};
    if (side->pieces_batch != shard->batch) {
        side->pieces_batch = shard->batch;
        side->pieces_len = side->n_pieces = 0;
        side->first_piece = piece;
    } else {
        side->last_piece->next = piece;
    }
    side->last_piece = piece;
    side->pieces_len += len;
    side->n_pieces++;
}

/* The message's part of its sender's body. Without pieces, its bytes are searched where they lie
 * together. False: no memory. */
static bool add_body(struct app_shard *shard, struct side_note *sender,
                     struct sl_app_message *message)
{
    bool done = true;

    if (message->step != SL_APP_FILE) {
        message->pieces = take_pieces(shard, sender);
        if (message->pieces == NULL && sender->body.len != sender->shown)
            done = app_body_gather(&sender->body, &shard->blocks);
    }
    message->parts = sender->body.part;
    message->body_len = sender->body.len;
    message->body_shown = sender->shown;
    sender->shown = message->step != SL_APP_FILE ? sender->body.len : sender->shown;
    return done && show_body(shard, sender, &message->half[message->side]);
}

/* Keeps bytes of the body. False: no memory. */
static bool keep_bytes(const struct hearing *hearing, struct side_note *side, const uint8_t *bytes,
                       uint32_t len)
{
    struct app_shard *const shard = hearing->shard;
    struct app_output *const output = shard->output;
    const bool is_lent = side->body.block == NULL && is_in_packet(hearing->place, bytes);

    add_piece(hearing, side, bytes, len);
    return is_lent ? app_body_lend(&side->body, &shard->blocks, &output->arena, bytes, len)
                   : app_body_add(&side->body, &shard->blocks, &output->left, bytes, len);
}

/* `price` is what the message takes at least. */
static void give_message(const struct hearing *hearing, const struct app_news *news,
                         struct note *note, enum sl_app_step step, uint64_t price)
{
    struct app_shard *const shard = hearing->shard;
    struct app_output *const output = shard->output;
    struct side_note *const sender = &note->side[news->side];
    bool done = reserve(output);

    if (!app_credit_has(&shard->credit, price)) {
        output->stats.left_out++;
        return;
    }
    app_credit_charge(&shard->credit, sizeof(struct sl_app_message));
    struct sl_app_message message = {.item = hearing->place->item,
                                     .app = (uint8_t)news->parser->app,
                                     .side = news->side,
                                     .step = (uint8_t)step,
                                     .flow = hearing->place->flow,
                                     .transaction = news->number,
                                     .events = sender->events};
    if (step == SL_APP_EVENT)
        message.event = (uint8_t)app_event_of(news->parser->app, news->event);
    if (news->transaction != NULL)
        news->parser->describe(&message, news->transaction);
    for (int i = 0; i < 2 && done && news->transaction != NULL; i++) {
        done = list_values(shard, &note->side[i], news, (enum app_side)i);
        message.half[i].value = note->side[i].value;
        message.half[i].n_values = note->side[i].n_values;
    }
    if (step == SL_APP_MORE || step == SL_APP_END || step == SL_APP_FILE)
        done = add_body(shard, sender, &message) && done;
    if (step == SL_APP_FILE || step == SL_APP_END)
        message.file = sender->file;
    output->no_memory |= !done;
    if (!done)
        return;
    output->late[output->n] = hearing->place->late;
    output->message[output->n++] = message;
    output->stats.messages++;
}

/* What messages say does not depend on the cuts into batches, nor does what is paid for it. */
static void pay_values(struct app_shard *shard, const struct side_note *side)
{
    for (uint32_t i = 0; i < side->n_values && side->batch == shard->batch; i++)
        app_credit_charge(&shard->credit, sizeof *side->value + side->value[i].len);
}

/* A message, before which the values of these sides are listed anew: they are no fewer than before.
 */
static void list_sides(const struct hearing *hearing, const struct app_news *news,
                       struct note *note, enum sl_app_step step, const bool anew[2])
{
    uint64_t price = sizeof(struct sl_app_message);

    for (int i = 0; i < 2; i++)
        if (anew[i]) {
            note->side[i].batch = 0;
            price += note->side[i].n_values * sizeof *note->side[i].value;
        }
    give_message(hearing, news, note, step, price);
    for (int i = 0; i < 2; i++)
        if (anew[i])
            pay_values(hearing->shard, &note->side[i]);
}

/* The same of its sender, which has said more. */
static void list_side(const struct hearing *hearing, const struct app_news *news, struct note *note,
                      enum sl_app_step step)
{
    bool anew[2] = {news->parser->says_more, news->parser->says_more};

    anew[news->side] = true;
    list_sides(hearing, news, note, step, anew);
}

/* A message whose sides have said no more since the last one, unless their parser says so. */
static void give_step(const struct hearing *hearing, const struct app_news *news, struct note *note,
                      enum sl_app_step step)
{
    const bool anew[2] = {news->parser->says_more, news->parser->says_more};

    list_sides(hearing, news, note, step, anew);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Files of a call of a parser. */
struct hearing_files {
    const struct hearing *hearing;
    const struct app_news *news;
    struct note *note;
};

/* Copies a value's bytes into the memory of the batch. False: no memory. */
static bool keep_value(struct app_shard *shard, struct sl_app_value *value)
{
    uint8_t *bytes = value->len != 0 ? app_arena_take(&shard->output->arena, value->len) : NULL;

    if (bytes != NULL)
        memcpy(bytes, value->bytes, value->len);
    const bool done = value->len == 0 || bytes != NULL;
    value->bytes = bytes;
    return done;
}

static void hear_contents(void *to, const struct sl_app_file *file, uint64_t offset,
                          const uint8_t *bytes, uint32_t len)
{
    const struct hearing_files *files = to;
    struct app_shard *const shard = files->hearing->shard;
    struct side_note *const side = &files->note->side[files->news->side];

    (void)file;
    (void)offset;
    if (side->contents == NULL)
        side->contents = app_contents_create();
    if (side->contents == NULL) {
        shard->output->no_memory = true;
        return;
    }
    const uint32_t before = side->contents->max;

    app_contents_add(side->contents, &shard->files, bytes, len);
    files->hearing->flow->notes += side->contents->max;
    files->hearing->flow->notes -= before;
}

/* Takes the contents of a file that is over from its flow. NULL: it has none. */
static struct app_contents *take_contents(const struct hearing *hearing, struct side_note *side)
{
    struct app_contents *const contents = side->contents;

    if (contents == NULL)
        return NULL;
    hearing->flow->notes -= contents->max;
    app_contents_end(contents, &hearing->shard->files);
    side->contents = NULL;
    return contents;
}

/* The file has its contents as long as the batch. Those with gaps are no file that was sent. */
static void keep_contents(const struct hearing *hearing, struct side_note *side,
                          struct sl_app_file *file)
{
    struct app_output *const output = hearing->shard->output;
    struct app_contents *const contents = take_contents(hearing, side);

    file->contents = NULL;
    if (contents == NULL)
        return;
    app_contents_complete(contents);
    contents->next = output->contents;
    output->contents = contents;
    if (contents->is_lost || file->has_gaps) {
        output->stats.files_cut++;
        return;
    }
    contents->file = file;
    file->contents = contents;
}

/* A file that is over is kept as long as the batch, and a message reports it. */
static void hear_file(void *to, const struct sl_app_file *file)
{
    const struct hearing_files *files = to;
    struct app_shard *const shard = files->hearing->shard;
    struct side_note *const side = &files->note->side[files->news->side];
    struct sl_app_file *kept = app_arena_take(&shard->output->arena, sizeof *kept);

    if (!app_credit_pay(&shard->credit, sizeof *kept + file->name.len + file->magic.len)) {
        shard->output->stats.left_out++;
        app_contents_free(take_contents(files->hearing, side));
        return;
    }
    if (kept != NULL) {
        *kept = *file;
        keep_contents(files->hearing, side, kept);
    }
    if (kept == NULL || !keep_value(shard, &kept->name) || !keep_value(shard, &kept->magic)) {
        shard->output->no_memory = true;
        return;
    }
    side->file = kept;
    give_step(files->hearing, files->news, files->note, SL_APP_FILE);
    if (files->news->kind != APP_END) /* a part: the batch may end before its body does */
        side->file = NULL;
}

static void hear_files(const struct hearing *hearing, const struct app_news *news,
                       struct note *note)
{
    struct app_shard *const shard = hearing->shard;
    struct hearing_files files = {hearing, news, note};
    const struct app_file_listener listener = {shard->config.keeps_files ? hear_contents : NULL,
                                               hear_file, &files};

    if (shard->tools == NULL)
        shard->tools = app_file_tools_create(&shard->config.files);
    if (shard->tools == NULL ||
        !app_files_take(&hearing->flow->files, shard->tools, news, &listener))
        shard->output->no_memory = true;
}

/* ---- reports of a parser --------------------------------------------------------------------- */

static struct note *note_of(const struct hearing *hearing, const struct app_news *news)
{
    if (*news->note == NULL)
        *news->note = calloc(1, sizeof(struct note));
    if (*news->note == NULL)
        hearing->shard->output->no_memory = true;
    return *news->note;
}

/* The side has said more. */
static void hear_head(const struct hearing *hearing, const struct app_news *news, struct note *note)
{
    note->side[news->side].batch = 0;
    if (hearing->shard->config.has_steps)
        list_side(hearing, news, note, SL_APP_HEAD);
}

/* Once a side. Before its head a transaction has no note, and some events are of none. The values
 * of a head that is not whole are listed again. */
static void hear_event(const struct hearing *hearing, const struct app_news *news)
{
    struct note none = {.side[0].batch = 0};
    struct note *note = news->note != NULL && *news->note != NULL ? *news->note : &none;

    struct side_note *const side = &note->side[news->side];
    const uint64_t event = UINT64_C(1) << app_event_of(news->parser->app, news->event);

    if (!hearing->shard->config.has_events || hearing->is_lost || (side->events & event) != 0)
        return;
    side->events |= event;
    list_side(hearing, news, note, SL_APP_EVENT);
    side->batch = 0;
}

/* A message at each step of the body. */
static void hear_body(const struct hearing *hearing, const struct app_news *news, struct note *note)
{
    struct side_note *const side = &note->side[news->side];
    struct app_shard *const shard = hearing->shard;
    const uint32_t before = app_body_held(&side->body);
    uint32_t at = 0;

    if (!side->is_cut && news->len != 0 && !app_credit_pay(&shard->credit, news->len)) {
        side->is_cut = true;
        shard->output->stats.bodies_cut++;
    }
    while (at < news->len && !side->is_cut) {
        const uint32_t left = SL_APP_BODY_STEP - side->body.len % SL_APP_BODY_STEP;
        const uint32_t n = least(least(left, news->len - at), SL_APP_BODY_MAX - side->body.len);
        const bool is_kept = keep_bytes(hearing, side, news->bytes + at, n);

        shard->output->no_memory |= !is_kept;
        at += n;
        side->is_cut = side->body.len == SL_APP_BODY_MAX || !is_kept;
        if (side->is_cut || n == left)
            give_step(hearing, news, note, SL_APP_MORE);
    }
    if (at < news->len && side->body.len == SL_APP_BODY_MAX && !side->is_long) {
        side->is_long = true;
        shard->output->stats.bodies_cut++;
    }
    hearing->flow->notes += app_body_held(&side->body) - before;
}

/* The body has been shown. */
static void free_body(const struct hearing *hearing, struct side_note *side)
{
    hearing->flow->notes -= app_body_held(&side->body);
    app_body_end(&side->body, &hearing->shard->blocks, &hearing->shard->output->left);
    side->shown = 0;
    side->pieces_batch = 0;
    side->is_cut = true;
    side->is_long = false;
}

static void hear_end(const struct hearing *hearing, const struct app_news *news, struct note *note)
{
    if (hearing->shard->config.has_steps)
        give_step(hearing, news, note, SL_APP_END);
    note->side[news->side].file = NULL;
    free_body(hearing, &note->side[news->side]);
}

static void hear_done(const struct hearing *hearing, const struct app_news *news, struct note *note)
{
    struct app_shard *const shard = hearing->shard;

    shard->output->stats.transactions++;
    if ((shard->config.is_done >> news->parser->app & 1) != 0 && !hearing->is_lost)
        give_step(hearing, news, note, SL_APP_DONE);
    for (int i = 0; i < 2; i++) {
        free_body(hearing, &note->side[i]);
        app_contents_free(take_contents(hearing, &note->side[i]));
    }
    hearing->flow->notes -= sizeof *note;
    free(note);
    *news->note = NULL;
}

static bool has_files(uint8_t app)
{
    return app == SL_APP_HTTP || app == SL_APP_SMTP;
}

static void hear(void *to, const struct app_news *news)
{
    const struct hearing *hearing = to;
    const bool has_body = (hearing->shard->config.values & sl_app_value_bit(SL_APP_BODY)) != 0;

    if (news->kind == APP_EVENT)
        hear_event(hearing, news);
    if (news->note == NULL || news->kind == APP_EVENT ||
        (hearing->is_lost && (news->kind != APP_DONE || *news->note == NULL)))
        return;
    const bool is_new = *news->note == NULL;
    struct note *note = note_of(hearing, news);
    if (note == NULL)
        return;
    if (is_new)
        hearing->flow->notes += sizeof *note;
    if (news->kind == APP_FILE)
        note->side[news->side].is_cut = false;
    if (hearing->shard->config.has_files && has_files(news->parser->app) &&
        (news->kind == APP_FILE || news->kind == APP_BODY || news->kind == APP_END))
        hear_files(hearing, news, note);
    if (news->kind == APP_HEAD)
        hear_head(hearing, news, note);
    else if (news->kind == APP_BODY && has_body && hearing->shard->config.has_steps)
        hear_body(hearing, news, note);
    else if (news->kind == APP_END)
        hear_end(hearing, news, note);
    else if (news->kind == APP_DONE)
        hear_done(hearing, news, note);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static void append(struct app_shard *shard, struct app_flow *flow)
{
    flow->older = shard->newest;
    flow->newer = NULL;
    if (shard->newest != NULL)
        shard->newest->newer = flow;
    else
        shard->oldest = flow;
    shard->newest = flow;
}

static void take_out(struct app_shard *shard, const struct app_flow *flow)
{
    if (flow->older != NULL)
        flow->older->newer = flow->newer;
    else
        shard->oldest = flow->newer;
    if (flow->newer != NULL)
        flow->newer->older = flow->older;
    else
        shard->newest = flow->older;
}

static struct app_flow *flow_of(const struct app_shard *shard, const struct app_slot *slot)
{
    return slot->flow != 0 ? shard->number[slot->flow].flow : NULL;
}

/* Returns a free number; 0: no memory. */
static uint32_t take_number(struct app_shard *shard)
{
    const uint32_t freed = shard->free_number;

    if (freed != 0) {
        shard->free_number = shard->number[freed].next;
        return freed;
    }
    if (shard->n_numbers + 1 >= shard->max_numbers) {
        const uint32_t max = 2 * shard->max_numbers + 16;
        union app_number *more = reallocarray(shard->number, max, sizeof *more);

        if (more == NULL)
            return 0;
        shard->number = more;
        shard->max_numbers = max;
    }
    return ++shard->n_numbers;
}

static void give_number(struct app_shard *shard, uint32_t number)
{
    shard->number[number].next = shard->free_number;
    shard->free_number = number;
}

static struct app_flow *make_flow(struct app_shard *shard, struct app_slot *slot)
{
    struct app_flow *const flow = calloc(1, sizeof *flow);

    slot->flow = flow != NULL ? take_number(shard) : 0;
    if (slot->flow == 0) {
        free(flow);
        shard->output->no_memory = true;
        return NULL;
    }
    shard->number[slot->flow].flow = flow;
    flow->slot = slot;
    append(shard, flow);
    return flow;
}

/* The flow of a slot, made if there is none. NULL: no memory. */
static struct app_flow *open_flow(struct app_shard *shard, struct app_slot *slot)
{
    struct app_flow *const flow = flow_of(shard, slot);

    if (flow == NULL)
        return make_flow(shard, slot);
    if (flow != shard->newest) {
        take_out(shard, flow);
        append(shard, flow);
    }
    return flow;
}

static void free_quic(struct app_quic *quic)
{
    if (quic == NULL)
        return;
    quic_flow_free(&quic->flow);
    tls_session_free(&quic->session);
    free(quic);
}

/* Ends what is open, and frees the flow. */
static void close_flow(const struct hearing *hearing)
{
    const struct app_listener listener = {hear, (void *)(uintptr_t)hearing};
    struct app_flow *const flow = hearing->flow;

    app_stream_close(flow->stream, &listener);
    free_quic(flow->quic);
    app_files_free(&flow->files);
    take_out(hearing->shard, flow);
    hearing->shard->held -= flow->held;
    give_number(hearing->shard, flow->slot->flow);
    flow->slot->flow = 0;
    flow->slot->is_left = true;
    free(flow);
}

static void lose_flow(struct app_shard *shard, const struct app_place *place, struct app_flow *flow)
{
    const struct hearing hearing = {shard, place, flow, .is_lost = true};

    shard->output->stats.flows_evicted++;
    close_flow(&hearing);
}

static void evict(struct app_shard *shard, const struct app_place *place)
{
    while (shard->held > shard->memory && shard->oldest != NULL)
        lose_flow(shard, place, shard->oldest);
}

static uint64_t held_by(const struct app_flow *flow)
{
    return sizeof *flow + flow->notes + app_files_held(&flow->files) +
           (flow->stream != NULL ? app_stream_held(flow->stream) : 0) +
           (flow->quic != NULL ? sizeof *flow->quic + QUIC_HELLO_MAX / 8 * 9 : 0);
}

/* After a call: the bytes that the flow holds, and its protocol. */
static void settle(const struct hearing *hearing, enum sl_app app)
{
    struct app_shard *const shard = hearing->shard;
    struct app_flow *const flow = hearing->flow;
    const uint64_t held = held_by(flow);

    shard->held += held - flow->held;
    flow->held = held;
    shard->output->stats.flows += flow->slot->app == 0 && app != 0;
    flow->slot->app = app != 0 ? (uint8_t)app : flow->slot->app;
}

/* Whether more of the flow can bring a message that is wanted. */
static bool goes_on(const struct hearing *hearing)
{
    const struct app_config *config = &hearing->shard->config;
    const struct app_stream *stream = hearing->flow->stream;
    const uint8_t app = hearing->flow->slot->app;

    return (app == 0 || config->has_sides || config->has_steps || config->has_events ||
            (config->has_files && has_files(app)) || (config->is_done >> app & 1) != 0) &&
           (app_stream_listens(stream, APP_CLIENT) || app_stream_listens(stream, APP_SERVER));
}

static void settle_stream(const struct hearing *hearing, bool done)
{
    hearing->shard->output->no_memory |= !done;
    settle(hearing, app_stream_app(hearing->flow->stream));
    app_stream_take_sides(hearing->flow->stream, &hearing->flow->slot->sides);
    if (!done || !goes_on(hearing))
        close_flow(hearing);
    else if (hearing->flow->held > hearing->shard->memory) /* no other flow makes room for it */
        lose_flow(hearing->shard, hearing->place, hearing->flow);
    evict(hearing->shard, hearing->place);
}

static void add_credit(struct app_shard *shard, uint32_t len)
{
    app_credit_add(&shard->credit, len);
    app_contents_call(&shard->files, len);
}

void app_give(struct app_shard *shard, const struct app_place *place, enum app_side side,
              const uint8_t *bytes, uint32_t len)
{
    if (place->slot->is_left || len == 0)
        return;
    struct hearing hearing = {shard, place, open_flow(shard, place->slot), false};
    const struct app_listener listener = {hear, &hearing};

    if (hearing.flow == NULL)
        return;
    add_credit(shard, len);
    if (hearing.flow->stream == NULL)
        hearing.flow->stream = app_stream_open();
    if (hearing.flow->stream != NULL) {
        settle_stream(&hearing, app_stream_give(hearing.flow->stream, side, bytes, len, &listener));
    } else {
        shard->output->no_memory = true;
        close_flow(&hearing);
    }
}

void app_gap(struct app_shard *shard, const struct app_place *place, enum app_side side,
             uint64_t len)
{
    if (place->slot->is_left || place->slot->flow == 0)
        return;
    struct hearing hearing = {shard, place, flow_of(shard, place->slot), false};
    const struct app_listener listener = {hear, &hearing};

    settle_stream(&hearing, app_stream_gap(hearing.flow->stream, side, len, &listener));
}

void app_end_side(struct app_shard *shard, const struct app_place *place, enum app_side side)
{
    if (place->slot->ended[side])
        return;
    place->slot->ended[side] = true;
    if (place->slot->flow == 0)
        return;
    struct hearing hearing = {shard, place, flow_of(shard, place->slot), false};
    const struct app_listener listener = {hear, &hearing};

    app_stream_end(hearing.flow->stream, side, &listener);
    if (place->slot->ended[!side])
        close_flow(&hearing);
    else
        settle_stream(&hearing, true);
}

/* ---- QUIC ------------------------------------------------------------------------------------ */

static void show_quic(struct app_show *show, const void *of, enum app_side side)
{
    const struct app_quic *quic = of;

    tls_show(show, &quic->session, side);
}

static void describe_quic(struct sl_app_message *message, const void *of)
{
    const struct app_quic *quic = of;

    tls_describe(message, &quic->session);
    message->quic_version = quic->flow.version;
}

static const struct app_parser quic_parser = {
    .app = SL_APP_QUIC, .show = show_quic, .describe = describe_quic};

static void report_hello(struct hearing *hearing)
{
    struct app_quic *const quic = hearing->flow->quic;
    struct app_news news = {.parser = &quic_parser, .transaction = quic, .note = &quic->note};

    news.kind = APP_HEAD;
    hear(hearing, &news);
    news.kind = APP_DONE;
    hear(hearing, &news);
}

/* Rules alone see it: the server's packets say nothing else. */
static void report_answer(const struct hearing *hearing, uint32_t version)
{
    const struct app_quic answer = {.flow.version = version};
    const struct app_news news = {
        .parser = &quic_parser, .transaction = &answer, .number = 1, .side = APP_SERVER};
    struct note note = {.side[0].batch = 0};

    if (hearing->shard->config.has_steps)
        list_side(hearing, &news, &note, SL_APP_HEAD);
}

static void read_client(struct app_shard *shard, const struct app_place *place,
                        const uint8_t *bytes, uint32_t len)
{
    struct hearing hearing = {shard, place, open_flow(shard, place->slot), false};
    struct app_flow *const flow = hearing.flow;

    if (flow == NULL)
        return;
    if (flow->quic == NULL)
        flow->quic = calloc(1, sizeof *flow->quic);
    const enum quic_result result =
        flow->quic != NULL ? quic_read(&flow->quic->flow, &flow->quic->session, bytes, len)
                           : QUIC_NO_MEMORY;

    shard->output->no_memory |= result == QUIC_NO_MEMORY;
    if (result == QUIC_HELLO)
        report_hello(&hearing);
    settle(&hearing, result == QUIC_NOTHING ? SL_APP_UNKNOWN : SL_APP_QUIC);
    if (result == QUIC_HELLO || result == QUIC_NO_MEMORY)
        close_flow(&hearing);
    evict(shard, place);
}

/* The client is read up to its hello, and of a server behind it the first packet. */
void app_datagram(struct app_shard *shard, const struct app_place *place, enum app_side side,
                  const uint8_t *bytes, uint32_t len)
{
    struct app_slot *const slot = place->slot;
    const bool is_read =
        side == APP_CLIENT ? !slot->is_left : slot->app == SL_APP_QUIC && !slot->ended[APP_SERVER];
    const uint32_t version = is_read ? quic_probe(bytes, len) : 0;

    if (version == 0)
        return;
    add_credit(shard, len);
    if (side == APP_CLIENT) {
        read_client(shard, place, bytes, len);
    } else {
        slot->ended[APP_SERVER] = true;
        report_answer(&(struct hearing){shard, place, NULL, false}, version);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

void app_give_up(struct app_shard *shard, const struct app_place *place)
{
    if (place->slot->flow != 0)
        lose_flow(shard, place, flow_of(shard, place->slot));
    place->slot->is_left = true;
}

void app_end(struct app_shard *shard, const struct app_place *place)
{
    const struct hearing hearing = {shard, place, flow_of(shard, place->slot), false};

    if (hearing.flow != NULL)
        close_flow(&hearing);
    *place->slot = (struct app_slot){0};
}

void app_shards_free(struct app_shard *shards, uint32_t n)
{
    static const struct app_place nowhere;

    for (uint32_t i = 0; shards != NULL && i < n; i++) {
        struct app_output output = {0};

        app_shard_begin(&shards[i], &output);
        shards[i].memory = 0;
        evict(&shards[i], &nowhere);
        app_show_free(&shards[i].show);
        app_file_tools_free(shards[i].tools);
        free(shards[i].number);
        app_output_free(&output);
        app_blocks_free(&shards[i].blocks);
    }
    free(shards);
}
