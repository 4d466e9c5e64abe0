/* SPDX-License-Identifier: MIT */
#include "ssh.h"

#include "app_digest.h"
#include "app_line.h"
#include "base/bytes.h"
#include "base/hex.h"

static const char mark[] = "SSH-"; /* begins a banner */

enum { MARK_LEN = sizeof mark - 1, KEX_INIT = 20, NEW_KEYS = 21, PACKET_HEAD = 4 };

struct ssh_side {
    struct app_line line;   /* up to the banner */
    struct app_text packet; /* behind it, with its length */
    struct app_text banner;
    struct app_text lists; /* the text that HASSH is made of */
    char hassh[SSH_HASSH_LEN + 1];
    uint32_t n_lines;
    bool has_banner, has_lists, over;
};

struct ssh_flow {
    struct ssh_side side[2];
    void *note; /* see struct app_news */
    bool done, no_memory;
};

/* ---- reporting ------------------------------------------------------------------------------- */

static void report(struct ssh_flow *flow, enum app_side side, enum app_news_kind kind,
                   const struct app_listener *listener)
{
    const struct app_news news = {.parser = &ssh_parser,
                                  .transaction = flow,
                                  .note = &flow->note,
                                  .kind = (uint8_t)kind,
                                  .side = (uint8_t)side};

    app_report(listener, &news);
}

static void report_done(struct ssh_flow *flow, const struct app_listener *listener)
{
    if (!flow->done && (flow->side[0].has_banner || flow->side[1].has_banner))
        report(flow, APP_CLIENT, APP_DONE, listener);
    flow->done = true;
}

static void end_side(struct ssh_flow *flow, enum app_side side, const struct app_listener *listener)
{
    flow->side[side].over = true;
    app_text_free(&flow->side[side].line.text);
    app_text_free(&flow->side[side].packet);
    if (flow->side[!side].over)
        report_done(flow, listener);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Lines before the banner say nothing. */
static void read_line(struct ssh_flow *flow, enum app_side side,
                      const struct app_listener *listener)
{
    struct ssh_side *const mine = &flow->side[side];
    const struct app_text *const line = &mine->line.text;

    if (line->len < MARK_LEN || memcmp(line->bytes, mark, MARK_LEN) != 0) {
        if (++mine->n_lines == SSH_LINES_MAX)
            end_side(flow, side, listener);
        return;
    }
    app_text_add(&mine->banner, line->bytes + MARK_LEN, line->len - MARK_LEN);
    flow->no_memory |= mine->banner.no_memory;
    app_text_free(&mine->line.text);
    mine->has_banner = true;
    report(flow, side, APP_HEAD, listener);
}

/* Cuts a list of names behind its length. */
static bool cut_list(struct app_span *from, struct app_span *list)
{
    const uint32_t len = from->len >= 4 ? load_be32(from->bytes) : UINT32_MAX;

    if (len == UINT32_MAX || len > from->len - 4)
        return false;
    *list = (struct app_span){from->bytes + 4, len};
    *from = (struct app_span){from->bytes + 4 + len, from->len - 4 - len};
    return true;
}

/* The key exchange, and what the side sends by: encryption, authentication, compression. */
static void read_lists(struct ssh_flow *flow, enum app_side side, struct app_span payload)
{
    enum { COOKIE = 16, N_LISTS = 8 };
    struct ssh_side *const mine = &flow->side[side];
    const int wanted[] = {0, 2 + side, 4 + side, 6 + side};
    struct app_span list[N_LISTS];
    uint8_t digest[APP_MD5_LEN];

    if (payload.len < COOKIE)
        return;
    payload = (struct app_span){payload.bytes + COOKIE, payload.len - COOKIE};
    for (int i = 0; i < N_LISTS; i++)
        if (!cut_list(&payload, &list[i]))
            return;
    for (int i = 0; i < 4; i++) {
        if (i != 0)
            app_text_add_byte(&mine->lists, ';');
        app_text_add(&mine->lists, list[wanted[i]].bytes, list[wanted[i]].len);
    }
    flow->no_memory |= mine->lists.no_memory;
    mine->has_lists = true;
    if (app_digest(digest, APP_MD5, mine->lists.bytes, mine->lists.len))
        hex_write(mine->hassh, digest, APP_MD5_LEN);
}

/* A packet is whole: its length, that of its padding, its kind. */
static void read_packet(struct ssh_flow *flow, enum app_side side,
                        const struct app_listener *listener)
{
    struct ssh_side *const mine = &flow->side[side];
    const uint8_t *const bytes = mine->packet.bytes;
    const uint32_t len = mine->packet.len, padding = bytes[PACKET_HEAD];
    const uint8_t kind = bytes[PACKET_HEAD + 1];

    mine->packet.len = 0;
    if (kind == KEX_INIT && padding + PACKET_HEAD + 2 <= len) {
        read_lists(flow, side,
                   (struct app_span){bytes + PACKET_HEAD + 2, len - PACKET_HEAD - 2 - padding});
        if (mine->has_lists)
            report(flow, side, APP_HEAD, listener);
    }
    if (kind == KEX_INIT || kind == NEW_KEYS)
        end_side(flow, side, listener);
}

/* The bytes that are missing in the packet. 0: its length is none. */
static uint32_t missing(const struct app_text *packet)
{
    if (packet->len < PACKET_HEAD)
        return PACKET_HEAD - packet->len;

    const uint32_t len = load_be32(packet->bytes);

    return len >= 2 && len <= SSH_PACKET_MAX ? len + PACKET_HEAD - packet->len : 0;
}

static uint32_t take(struct ssh_flow *flow, enum app_side side, const uint8_t *bytes, uint32_t len,
                     const struct app_listener *listener)
{
    struct ssh_side *const mine = &flow->side[side];

    if (!mine->has_banner) {
        const uint32_t taken = app_line_take(&mine->line, bytes, len, SSH_LINE_MAX);

        flow->no_memory |= mine->line.text.no_memory;
        if (mine->line.is_over && !flow->no_memory)
            read_line(flow, side, listener);
        return taken;
    }
    const uint32_t need = missing(&mine->packet), taken = len < need ? len : need;

    app_text_add(&mine->packet, bytes, taken);
    flow->no_memory |= mine->packet.no_memory;
    if (flow->no_memory || missing(&mine->packet) != 0)
        return taken;
    if (mine->packet.len == PACKET_HEAD)
        end_side(flow, side, listener);
    else
        read_packet(flow, side, listener);
    return taken;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void show(struct app_show *show, const void *of, enum app_side side)
{
    const struct ssh_side *const mine = &((const struct ssh_flow *)of)->side[side];
    struct app_span software = app_text_span(&mine->banner), rest, proto;

    if (!app_show_wants(show, SL_SSH_PROTO) || !mine->has_banner)
        return;
    app_span_split(&software, '-', &proto);
    rest = software;
    app_span_split(&rest, ' ', &software);
    app_show_add(show, SL_SSH_PROTO, proto);
    if (software.len != 0)
        app_show_add(show, SL_SSH_SOFTWARE, software);
    if (!mine->has_lists)
        return;
    if (mine->hassh[0] != 0)
        app_show_add(show, SL_SSH_HASSH,
                     (struct app_span){(const uint8_t *)mine->hassh, SSH_HASSH_LEN});
    app_show_add(show, SL_SSH_HASSH_STRING, app_text_span(&mine->lists));
}

static void describe(struct sl_app_message *message, const void *of)
{
    const struct ssh_flow *const flow = of;

    for (int side = 0; side < 2; side++)
        message->half[side].has_head = flow->side[side].has_lists || flow->side[side].over;
    message->later = flow->side[message->side].has_lists;
}

/* ---- the interface --------------------------------------------------------------------------- */

static void *open_flow(void)
{
    return calloc(1, sizeof(struct ssh_flow));
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct ssh_flow *const flow = of;

    for (*taken = 0; *taken < len && !flow->side[side].over && !flow->no_memory;)
        *taken += take(flow, side, bytes + *taken, len - *taken, listener);
    if (flow->no_memory)
        return APP_NO_MEMORY;
    return flow->side[side].over ? APP_GIVEN_UP : APP_GOES_ON;
}

/* Behind a gap there is no knowing where packets begin. */
static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct ssh_flow *const flow = of;

    (void)len;
    end_side(flow, side, listener);
    return APP_GIVEN_UP;
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct ssh_flow *const flow = of;

    report_done(flow, listener);
    for (int i = 0; i < 2; i++) {
        app_text_free(&flow->side[i].line.text);
        app_text_free(&flow->side[i].packet);
        app_text_free(&flow->side[i].banner);
        app_text_free(&flow->side[i].lists);
    }
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct ssh_flow *const flow = of;
    uint64_t held = sizeof *flow;

    for (int i = 0; i < 2; i++) {
        const struct ssh_side *const side = &flow->side[i];

        held += side->line.text.max + side->packet.max + side->banner.max + side->lists.max;
    }
    return held;
}

const struct app_parser ssh_parser = {.app = SL_APP_SSH,
                                      .open = open_flow,
                                      .give = give_flow,
                                      .gap = gap_flow,
                                      .close = close_flow,
                                      .held = held_by,
                                      .show = show,
                                      .describe = describe};

enum app_likeness ssh_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    (void)side;
    if (memcmp(bytes, mark, len < MARK_LEN ? len : MARK_LEN) != 0)
        return APP_UNLIKE;
    return len < MARK_LEN ? APP_TOO_SHORT : APP_LIKE;
}
