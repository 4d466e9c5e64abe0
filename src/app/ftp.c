/* SPDX-License-Identifier: MIT */
#include "ftp.h"

#include "app_line.h"
#include "tls.h"

enum { CODE_LEN = 3, COMMAND_MAX = 16 /* bytes of a command's name */ };

struct ftp_transaction {
    struct ftp_transaction *next;
    void *note; /* see struct app_news */
    uint64_t number;
    struct app_text command;
    struct app_text replies, codes; /* a NUL behind each */
    uint16_t port;
    uint8_t mode; /* enum sl_ftp_mode */
    bool truncated[2];
    bool is_answered; /* the last reply came */
};

struct ftp_flow {
    struct app_line line[2];
    struct ftp_transaction *oldest, *newest;
    uint64_t n_transactions;
    uint32_t n_open;
    uint64_t held; /* bytes of transactions */
    const struct app_listener *listener;
    bool no_memory;
};

/* ---- transactions ---------------------------------------------------------------------------- */

static void report(struct ftp_transaction *transaction, enum app_side side, enum app_news_kind kind,
                   const char *event, const struct app_listener *listener)
{
    const struct app_news news = {.parser = &ftp_parser,
                                  .transaction = transaction,
                                  .note = &transaction->note,
                                  .number = transaction->number,
                                  .event = event,
                                  .kind = (uint8_t)kind,
                                  .side = (uint8_t)side};

    app_report(listener, &news);
}

static struct ftp_transaction *begin(struct ftp_flow *flow)
{
    struct ftp_transaction *transaction = calloc(1, sizeof *transaction);

    if (transaction == NULL) {
        flow->no_memory = true;
        return NULL;
    }
    transaction->number = flow->n_transactions++;
    if (flow->newest != NULL)
        flow->newest->next = transaction;
    else
        flow->oldest = transaction;
    flow->newest = transaction;
    flow->n_open++;
    flow->held += sizeof *transaction;
    return transaction;
}

/* The oldest transaction is over. */
static void finish(struct ftp_flow *flow)
{
    struct ftp_transaction *const transaction = flow->oldest;

    report(transaction, APP_CLIENT, APP_DONE, NULL, flow->listener);
    flow->oldest = transaction->next;
    if (flow->oldest == NULL)
        flow->newest = NULL;
    flow->n_open--;
    flow->held -= sizeof *transaction + transaction->command.max + transaction->replies.max +
                  transaction->codes.max;
    app_text_free(&transaction->command);
    app_text_free(&transaction->replies);
    app_text_free(&transaction->codes);
    free(transaction);
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* The number that ends behind `end`; *begin is where it begins. False: there is none, or it has
 * more digits than a port. */
static bool number_before(struct app_span text, uint32_t end, uint32_t *begin, uint32_t *number)
{
    enum { DIGITS_MAX = 5 };
    uint32_t unit = 1;

    *number = 0;
    for (*begin = end; *begin != 0 && end - *begin <= DIGITS_MAX; --*begin) {
        const uint32_t digit = (uint32_t)text.bytes[*begin - 1] - '0';

        if (digit > 9)
            break;
        *number += unit * digit;
        unit *= 10;
    }
    return *begin != end && end - *begin <= DIGITS_MAX;
}

/* "h1,h2,h3,h4,p1,p2", or "|||port|" of RFC 2428: the last numbers. 0: there is none. */
static uint16_t read_port(struct app_span text)
{
    uint32_t end = text.len, begin, low, high = 0;

    while (end != 0 && (text.bytes[end - 1] < '0' || text.bytes[end - 1] > '9'))
        end--;
    if (!number_before(text, end, &begin, &low) || begin == 0)
        return 0;
    if (text.bytes[begin - 1] == ',')
        high = number_before(text, begin - 1, &begin, &high) ? high : UINT16_MAX;
    return high * 256 + low <= UINT16_MAX ? (uint16_t)(high * 256 + low) : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_command(struct app_span name, const char *wanted)
{
    return name.len == strlen(wanted) && memcmp(name.bytes, wanted, name.len) == 0;
}

/* The command, and what stands behind it. */
static struct app_span name_of(const struct ftp_transaction *transaction, struct app_span *rest)
{
    struct app_span name;

    *rest = app_text_span(&transaction->command);
    app_span_split(rest, ' ', &name);
    return name;
}

static void read_command(struct ftp_flow *flow, const struct app_line *line)
{
    struct ftp_transaction *const transaction = begin(flow);
    struct app_span rest, name;

    if (transaction == NULL)
        return;
    app_text_add(&transaction->command, line->text.bytes, line->text.len);
    flow->no_memory |= transaction->command.no_memory;
    flow->held += transaction->command.max;
    transaction->truncated[APP_CLIENT] = line->is_cut;
    name = name_of(transaction, &rest);
    for (uint32_t i = 0; i < name.len && i < COMMAND_MAX; i++)
        if (name.bytes[i] >= 'a' && name.bytes[i] <= 'z')
            transaction->command.bytes[i] &= (uint8_t)~0x20u;
    if (is_command(name, "PORT") || is_command(name, "EPRT")) {
        transaction->mode = SL_FTP_ACTIVE;
        transaction->port = read_port(rest);
    } else if (is_command(name, "PASV") || is_command(name, "EPSV")) {
        transaction->mode = SL_FTP_PASSIVE;
    }
    report(transaction, APP_CLIENT, APP_HEAD, NULL, flow->listener);
    if (line->is_cut)
        report(transaction, APP_CLIENT, APP_EVENT, "request_command_too_long", flow->listener);
    if (flow->n_open > FTP_OPEN_MAX)
        finish(flow);
}

static bool has_code(struct app_span line)
{
    for (uint32_t i = 0; i < CODE_LEN; i++)
        if (i >= line.len || line.bytes[i] < '0' || line.bytes[i] > '9')
            return false;
    return line.len == CODE_LEN || line.bytes[CODE_LEN] == ' ' || line.bytes[CODE_LEN] == '-';
}

static void keep_reply(struct ftp_flow *flow, struct ftp_transaction *transaction,
                       struct app_span line)
{
    const uint32_t before = transaction->replies.max + transaction->codes.max;
    struct app_span text = line;

    if (has_code(line)) {
        const uint32_t skipped = line.len > CODE_LEN ? CODE_LEN + 1 : CODE_LEN;

        app_texts_add(&transaction->codes, (struct app_span){line.bytes, CODE_LEN}, FTP_LINE_MAX);
        text = (struct app_span){line.bytes + skipped, line.len - skipped};
    }
    if (text.len != 0)
        app_texts_add(&transaction->replies, text, FTP_LINE_MAX);
    flow->held += transaction->replies.max + transaction->codes.max - before;
    flow->no_memory |= transaction->replies.no_memory | transaction->codes.no_memory;
}

/* A reply of 1xx goes on, and so does one of several lines. */
static void read_reply(struct ftp_flow *flow, const struct app_line *line)
{
    struct ftp_transaction *const transaction = flow->oldest != NULL ? flow->oldest : begin(flow);
    const struct app_span span = app_text_span(&line->text);

    if (transaction == NULL)
        return;
    keep_reply(flow, transaction, span);
    if (line->is_cut && !transaction->truncated[APP_SERVER])
        report(transaction, APP_SERVER, APP_EVENT, "response_command_too_long", flow->listener);
    transaction->truncated[APP_SERVER] |= line->is_cut;
    if (!has_code(span) || span.bytes[0] == '1' ||
        (span.len > CODE_LEN && span.bytes[CODE_LEN] == '-'))
        return;
    if (transaction->mode == SL_FTP_PASSIVE && span.bytes[0] == '2')
        transaction->port = read_port(span);
    transaction->is_answered = true;
    report(transaction, APP_SERVER, APP_HEAD, NULL, flow->listener);
    finish(flow);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void show(struct app_show *show, const void *of, enum app_side side)
{
    const struct ftp_transaction *const transaction = of;
    struct app_span rest;

    if (!app_show_wants(show, SL_FTP_COMMAND))
        return;
    if (side == APP_SERVER) {
        app_show_texts(show, SL_FTP_COMPLETION_CODE, &transaction->codes, UINT32_MAX);
        app_show_texts(show, SL_FTP_REPLY, &transaction->replies, UINT32_MAX);
    } else if (transaction->command.len != 0) {
        app_show_add(show, SL_FTP_COMMAND, name_of(transaction, &rest));
        if (rest.len != 0)
            app_show_add(show, SL_FTP_COMMAND_DATA, rest);
    }
}

static void describe(struct sl_app_message *message, const void *of)
{
    const struct ftp_transaction *const transaction = of;

    message->half[APP_CLIENT].has_head = message->half[APP_CLIENT].has_ended = true;
    message->half[APP_SERVER].has_head = message->half[APP_SERVER].has_ended =
        transaction->is_answered;
    message->port = transaction->port;
    message->ftp_mode = transaction->mode;
    message->truncated[APP_CLIENT] = transaction->truncated[APP_CLIENT];
    message->truncated[APP_SERVER] = transaction->truncated[APP_SERVER];
}

/* ---- the interface --------------------------------------------------------------------------- */

static void *open_flow(void)
{
    return calloc(1, sizeof(struct ftp_flow));
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct ftp_flow *const flow = of;
    struct app_line *const line = &flow->line[side];

    flow->listener = listener;
    for (*taken = 0; *taken < len && !flow->no_memory;) {
        if (app_line_begins(line) && bytes[*taken] == TLS_HANDSHAKE)
            return APP_TUNNEL;
        *taken += app_line_take(line, bytes + *taken, len - *taken, FTP_LINE_MAX);
        flow->no_memory |= line->text.no_memory;
        if (!line->is_over || flow->no_memory || (line->text.len == 0 && side == APP_CLIENT))
            continue;
        if (side == APP_CLIENT)
            read_command(flow, line);
        else
            read_reply(flow, line);
    }
    return flow->no_memory ? APP_NO_MEMORY : APP_GOES_ON;
}

/* The line that lacks bytes is cut. */
static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct ftp_flow *const flow = of;

    (void)len;
    (void)listener;
    app_line_gap(&flow->line[side]);
    return APP_GOES_ON;
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct ftp_flow *const flow = of;

    flow->listener = listener;
    while (flow->oldest != NULL)
        finish(flow);
    app_text_free(&flow->line[0].text);
    app_text_free(&flow->line[1].text);
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct ftp_flow *const flow = of;

    return sizeof *flow + flow->held + flow->line[0].text.max + flow->line[1].text.max;
}

const struct app_parser ftp_parser = {.app = SL_APP_FTP,
                                      .says_more = true,
                                      .open = open_flow,
                                      .give = give_flow,
                                      .gap = gap_flow,
                                      .close = close_flow,
                                      .held = held_by,
                                      .show = show,
                                      .describe = describe};
