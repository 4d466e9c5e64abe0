/* SPDX-License-Identifier: MIT */
#include "smtp.h"

#include "app_line.h"
#include "http_head.h"
#include "mime.h"
#include "tls.h"

enum client_state {
    COMMANDS,
    WAITS, /* for the answer to DATA */
    DATA,  /* up to a line of "." */
    CHUNK  /* of BDAT: `left` bytes */
};

struct smtp_transaction {
    void *note; /* see struct app_news */
    uint64_t number;
    struct app_text mail_from, rcpt_to; /* rcpt_to: a NUL behind each */
    struct mime mime;
    uint64_t file_len; /* bytes of the attachment so far */
    bool has_head;     /* the envelope was reported */
    bool is_whole;     /* the mail came to its end */
};

struct smtp_flow {
    struct app_line line[2];
    struct app_text piece;                /* of a line of a mail */
    struct app_text helo;                 /* holds for all transactions */
    struct smtp_transaction *transaction; /* NULL: none is open */
    const struct app_listener *listener;
    uint64_t n_transactions;
    uint64_t left;      /* bytes of the chunk */
    uint32_t n_waiting; /* commands without an answer */
    uint8_t state;      /* enum client_state */
    bool in_piece;      /* the piece does not begin its line */
    bool is_last;       /* chunk */
    bool no_memory;
};

/* ---- transactions ---------------------------------------------------------------------------- */

static void report(struct smtp_flow *flow, enum app_news_kind kind, struct app_span bytes, bool cut)
{
    struct smtp_transaction *const transaction = flow->transaction;
    const struct app_news news = {.parser = &smtp_parser,
                                  .transaction = flow,
                                  .note = &transaction->note,
                                  .number = transaction->number,
                                  .bytes = bytes.bytes,
                                  .len = bytes.len,
                                  .offset = transaction->file_len,
                                  .kind = (uint8_t)kind,
                                  .side = APP_CLIENT,
                                  .cut = cut};

    app_report(flow->listener, &news);
}

static void report_head(struct smtp_flow *flow)
{
    report(flow, APP_HEAD, (struct app_span){0}, false);
    flow->transaction->has_head = true;
}

/* The open transaction, or a new one. NULL: there is no memory. */
static struct smtp_transaction *open_transaction(struct smtp_flow *flow)
{
    if (flow->transaction != NULL)
        return flow->transaction;
    flow->transaction = calloc(1, sizeof *flow->transaction);
    if (flow->transaction == NULL)
        flow->no_memory = true;
    else
        flow->transaction->number = flow->n_transactions++;
    return flow->transaction;
}

static void begin_file(void *to, struct app_span name)
{
    struct smtp_flow *const flow = to;

    flow->transaction->file_len = 0;
    report(flow, APP_FILE, name, false);
    flow->transaction->file_len += flow->transaction->mime.lacks_head; /* a gap */
}

static void give_file(void *to, const uint8_t *bytes, uint32_t len)
{
    struct smtp_flow *const flow = to;

    report(flow, APP_BODY, (struct app_span){bytes, len}, false);
    flow->transaction->file_len += len;
}

static void end_file(void *to, bool is_cut)
{
    report(to, APP_END, (struct app_span){0}, is_cut);
}

static void end_mail(struct smtp_flow *flow, bool is_cut)
{
    struct smtp_transaction *const transaction = flow->transaction;
    const struct mime_listener listener = {begin_file, give_file, end_file, flow};

    mime_end(&transaction->mime, is_cut, &listener);
    flow->state = COMMANDS;
    transaction->is_whole = true;
    report_head(flow);
}

static void finish(struct smtp_flow *flow)
{
    struct smtp_transaction *const transaction = flow->transaction;

    if (transaction == NULL)
        return;
    if (transaction->mime.state != SL_MAIL_NONE && !transaction->is_whole)
        end_mail(flow, true);
    if (!transaction->has_head)
        report_head(flow);
    report(flow, APP_DONE, (struct app_span){0}, false);
    mime_free(&transaction->mime);
    app_text_free(&transaction->mail_from);
    app_text_free(&transaction->rcpt_to);
    free(transaction);
    flow->transaction = NULL;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* What stands behind a command in any case. False: the line is another one. */
static bool is_command(struct app_span line, const char *name, struct app_span *rest)
{
    const uint32_t n = (uint32_t)strlen(name);

    if (!app_span_begins(line, name))
        return false;
    *rest = app_span_trim((struct app_span){line.bytes + n, line.len - n});
    return true;
}

/* A path up to its '>', or without parameters. */
static struct app_span path_of(struct app_span rest)
{
    const bool in_angles = rest.len != 0 && rest.bytes[0] == '<';
    struct app_span path;

    if (app_span_split(&rest, in_angles ? '>' : ' ', &path) && in_angles)
        path.len++;
    return path;
}

/* "N" or "N LAST". */
static void begin_chunk(struct smtp_flow *flow, struct app_span rest)
{
    flow->left = 0;
    while (rest.len != 0 && rest.bytes[0] >= '0' && rest.bytes[0] <= '9' &&
           flow->left < UINT32_MAX) {
        flow->left = flow->left * 10 + rest.bytes[0] - '0';
        rest = (struct app_span){rest.bytes + 1, rest.len - 1};
    }
    flow->is_last = http_span_is(app_span_trim(rest), "last");
    flow->state = CHUNK;
}

static void begin_mail(struct smtp_flow *flow, struct app_span chunk, bool is_chunk)
{
    if (open_transaction(flow) == NULL)
        return;
    if (!flow->transaction->has_head)
        report_head(flow);
    flow->state = WAITS;
    if (is_chunk)
        begin_chunk(flow, chunk);
}

static void keep_helo(struct smtp_flow *flow, struct app_span name)
{
    flow->helo.len = 0;
    app_text_add(&flow->helo, name.bytes, name.len);
    flow->no_memory |= flow->helo.no_memory;
    (void)open_transaction(flow);
}

static void keep_sender(struct smtp_flow *flow, struct app_span path)
{
    struct smtp_transaction *const transaction = open_transaction(flow);

    if (transaction == NULL)
        return;
    transaction->mail_from.len = 0;
    app_text_add(&transaction->mail_from, path.bytes, path.len);
    flow->no_memory |= transaction->mail_from.no_memory;
}

static void keep_recipient(struct smtp_flow *flow, struct app_span path)
{
    struct smtp_transaction *const transaction = open_transaction(flow);

    if (transaction == NULL)
        return;
    app_texts_add(&transaction->rcpt_to, path, SMTP_ENVELOPE_MAX);
    flow->no_memory |= transaction->rcpt_to.no_memory;
}

static void read_command(struct smtp_flow *flow, struct app_span line)
{
    struct app_span rest;

    flow->n_waiting++;
    if (flow->transaction != NULL && flow->transaction->is_whole)
        finish(flow);
    if (is_command(line, "helo ", &rest) || is_command(line, "ehlo ", &rest))
        keep_helo(flow, rest);
    else if (is_command(line, "mail from:", &rest))
        keep_sender(flow, path_of(rest));
    else if (is_command(line, "rcpt to:", &rest))
        keep_recipient(flow, path_of(rest));
    else if (is_command(line, "bdat ", &rest))
        begin_mail(flow, rest, true);
    else if (is_command(line, "data", &rest) && rest.len == 0)
        begin_mail(flow, rest, false);
    else if (is_command(line, "rset", &rest))
        finish(flow);
}

/* ---- mails ----------------------------------------------------------------------------------- */

/* The piece is whole: all of its line, or as many bytes as it has. */
static void end_piece(struct smtp_flow *flow, uint8_t n_break)
{
    const struct mime_listener listener = {begin_file, give_file, end_file, flow};
    struct app_span line = {flow->piece.bytes, flow->piece.len - (n_break == 2)};
    const bool is_first = !flow->in_piece;

    flow->in_piece = n_break == 0;
    flow->piece.len = 0;
    if (flow->state == DATA && is_first && line.len != 0 && line.bytes[0] == '.') {
        if (line.len == 1 && n_break != 0) {
            end_mail(flow, false);
            return;
        }
        line = (struct app_span){line.bytes + 1, line.len - 1};
    }
    mime_line(&flow->transaction->mime, line, is_first, n_break, &listener);
    flow->no_memory |= flow->transaction->mime.no_memory;
}

/* Takes bytes of a mail up to the end of a piece. A CR stays with its LF. */
static uint32_t take_piece(struct smtp_flow *flow, const uint8_t *bytes, uint32_t len)
{
    struct app_text *const piece = &flow->piece;
    const uint8_t *end = memchr(bytes, '\n', len);
    const uint32_t room = MIME_PIECE_MAX + 1 - piece->len;
    uint32_t n = end != NULL ? (uint32_t)(end - bytes) : len;

    n = n < room ? n : room;
    app_text_add(piece, bytes, n);
    flow->no_memory |= piece->no_memory;
    if (flow->no_memory)
        return n;
    if (piece->len == MIME_PIECE_MAX + 1) {
        const uint8_t last = piece->bytes[--piece->len];

        end_piece(flow, 0);
        app_text_add_byte(piece, last);
    } else if (n < len) {
        end_piece(flow, piece->len != 0 && piece->bytes[piece->len - 1] == '\r' ? 2 : 1);
        n++;
    }
    return n;
}

static uint32_t take_chunk(struct smtp_flow *flow, const uint8_t *bytes, uint32_t len)
{
    const uint32_t n = flow->left < len ? (uint32_t)flow->left : len;
    const uint32_t taken = n != 0 ? take_piece(flow, bytes, n) : 0;

    flow->left -= taken;
    if (flow->left != 0 || flow->no_memory)
        return taken;
    if (flow->is_last && flow->piece.len != 0)
        end_piece(flow, 0);
    if (flow->is_last)
        end_mail(flow, false);
    flow->state = COMMANDS;
    return taken;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool in_mail(const struct smtp_flow *flow)
{
    return flow->state != COMMANDS && flow->transaction != NULL;
}

static uint32_t take_client(struct smtp_flow *flow, const uint8_t *bytes, uint32_t len)
{
    struct app_line *const line = &flow->line[APP_CLIENT];

    if (in_mail(flow) && flow->state == CHUNK)
        return take_chunk(flow, bytes, len);
    if (in_mail(flow)) {
        flow->state = DATA;
        return take_piece(flow, bytes, len);
    }
    const uint32_t taken = app_line_take(line, bytes, len, SMTP_LINE_MAX);

    flow->no_memory |= line->text.no_memory;
    if (line->is_over && !flow->no_memory)
        read_command(flow, app_text_span(&line->text));
    if (in_mail(flow) && flow->state == CHUNK && flow->left == 0)
        (void)take_chunk(flow, bytes + taken, 0);
    return taken;
}

/* The last answer that is awaited refuses DATA, unless it is 354. */
static void read_reply(struct smtp_flow *flow, struct app_span line)
{
    if ((line.len > 3 && line.bytes[3] == '-') || flow->n_waiting == 0)
        return;
    flow->n_waiting--;
    if (flow->state == WAITS && flow->n_waiting == 0 && line.len != 0)
        flow->state = line.bytes[0] == '3' ? DATA : COMMANDS;
}

static uint32_t take_server(struct smtp_flow *flow, const uint8_t *bytes, uint32_t len)
{
    struct app_line *const line = &flow->line[APP_SERVER];
    const uint32_t taken = app_line_take(line, bytes, len, SMTP_LINE_MAX);

    flow->no_memory |= line->text.no_memory;
    if (line->is_over && !flow->no_memory)
        read_reply(flow, app_text_span(&line->text));
    return taken;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Each attachment has a message, with all that was said before: some of a kind, until the mail is
 * whole. */
static void show(struct app_show *show, const void *of, enum app_side side)
{
    enum { SOME = 64 };
    const struct smtp_flow *const flow = of;
    const struct smtp_transaction *const transaction = flow->transaction;
    const uint32_t most = transaction->is_whole ? UINT32_MAX : SOME;

    if (!app_show_wants(show, SL_SMTP_HELO) || side == APP_SERVER)
        return;
    if (flow->helo.len != 0)
        app_show_add(show, SL_SMTP_HELO, app_text_span(&flow->helo));
    if (transaction->mail_from.len != 0)
        app_show_add(show, SL_SMTP_MAIL_FROM, app_text_span(&transaction->mail_from));
    app_show_texts(show, SL_SMTP_RCPT_TO, &transaction->rcpt_to, most);
    for (int i = 0; i < MIME_N_TEXTS; i++)
        app_show_texts(show, (enum sl_app_value_id)(SL_EMAIL_FROM + i), &transaction->mime.texts[i],
                       most);
}

static void describe(struct sl_app_message *message, const void *of)
{
    const struct smtp_transaction *const transaction = ((const struct smtp_flow *)of)->transaction;

    message->mail = transaction->mime.state;
    message->later = transaction->mime.state != SL_MAIL_NONE;
    message->half[APP_CLIENT].has_head = transaction->is_whole;
    message->half[APP_CLIENT].has_ended = transaction->is_whole || message->step == SL_APP_END;
    message->half[APP_CLIENT].body_len = transaction->file_len;
    message->half[APP_SERVER].has_head = true;
}

/* ---- the interface --------------------------------------------------------------------------- */

static void *open_flow(void)
{
    return calloc(1, sizeof(struct smtp_flow));
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct smtp_flow *const flow = of;

    flow->listener = listener;
    for (*taken = 0; *taken < len && !flow->no_memory;) {
        if (app_line_begins(&flow->line[side]) && bytes[*taken] == TLS_HANDSHAKE &&
            (side == APP_SERVER || flow->state == COMMANDS))
            return APP_TUNNEL;
        *taken += side == APP_CLIENT ? take_client(flow, bytes + *taken, len - *taken)
                                     : take_server(flow, bytes + *taken, len - *taken);
    }
    return flow->no_memory ? APP_NO_MEMORY : APP_GOES_ON;
}

/* A mail goes on behind a gap, and its attachment has one. */
static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct smtp_flow *const flow = of;

    flow->listener = listener;
    if (side == APP_SERVER || !in_mail(flow)) {
        app_line_gap(&flow->line[side]);
        return APP_GOES_ON;
    }
    flow->piece.len = 0;
    flow->in_piece = true;
    flow->transaction->file_len += len;
    mime_gap(&flow->transaction->mime);
    if (flow->state == CHUNK && len < flow->left)
        flow->left -= len;
    else
        flow->state = DATA;
    return APP_GOES_ON;
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct smtp_flow *const flow = of;

    flow->listener = listener;
    finish(flow);
    app_text_free(&flow->line[0].text);
    app_text_free(&flow->line[1].text);
    app_text_free(&flow->piece);
    app_text_free(&flow->helo);
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct smtp_flow *const flow = of;
    const struct smtp_transaction *const transaction = flow->transaction;

    return sizeof *flow + flow->line[0].text.max + flow->line[1].text.max + flow->piece.max +
           flow->helo.max +
           (transaction != NULL ? sizeof *transaction + transaction->mail_from.max +
                                      transaction->rcpt_to.max + mime_held(&transaction->mime)
                                : 0);
}

const struct app_parser smtp_parser = {.app = SL_APP_SMTP,
                                       .says_more = true,
                                       .open = open_flow,
                                       .give = give_flow,
                                       .gap = gap_flow,
                                       .close = close_flow,
                                       .held = held_by,
                                       .show = show,
                                       .describe = describe};
