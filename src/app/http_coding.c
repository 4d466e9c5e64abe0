/* SPDX-License-Identifier: MIT */
#include "http_coding.h"

#include <brotli/decode.h>

#include "base/inflate_stream.h"
#include "http_head.h"

enum {
    STEP = INFLATE_ROOM,
    BEGIN = 2, /* bytes that decide how gzip and deflate are read, whatever the field says */
    BLOCK =
        4096 /* of what comes: the limit of a bomb moves from block to block, not from cut to cut
              */
};

/* The parts of gzip's head, in their order. */
enum gzip_part { FIXED, EXTRA_LEN, EXTRA, NAME, COMMENT, CHECKSUM, BEHIND };

/* Where the reader of gzip's head is. */
struct gzip_head {
    uint32_t at; /* bytes of the part so far */
    uint16_t extra_len;
    uint8_t flags, part; /* enum gzip_part */
};

/* One coding. */
struct layer {
    bool is_brotli, begun;
    bool plain;           /* it is no coding */
    bool over;            /* it ended, and the rest is nothing */
    bool decodes;         /* a byte came out, or too much came for that: damage is damage */
    struct app_text held; /* what came until then: it passes as it is where it cannot be decoded */
    struct gzip_head head;
    struct inflate_stream *inflate;
    BrotliDecoderState *brotli;
};

struct http_coding {
    uint64_t in, out; /* bytes that came, and that went to the sink */
    uint32_t n_layers;
    enum http_coding_end end;
    http_coding_sink *sink;
    void *to;
    struct layer layer[HTTP_CODINGS_MAX];
};

/* ---- the field ------------------------------------------------------------------------------- */

/* Adds the coding of a word. One that is not known counts for nothing. */
static void add_layer(struct http_coding *coding, struct app_span word)
{
    const bool is_brotli = http_span_is(word, "br");

    if (!is_brotli && !http_span_has(word, "gzip") && !http_span_has(word, "deflate"))
        return;
    coding->layer[coding->n_layers++].is_brotli = is_brotli;
}

/* The last coding of the field was put on last, and comes off first. */
struct http_coding *http_coding_open(struct app_span field, bool *none)
{
    struct http_coding *coding = calloc(1, sizeof *coding);

    *none = false;
    if (coding == NULL)
        return NULL;
    while (coding->n_layers < HTTP_CODINGS_MAX && field.len != 0) {
        const uint8_t *comma = memrchr(field.bytes, ',', field.len);
        const uint32_t at = comma != NULL ? (uint32_t)(comma + 1 - field.bytes) : 0;

        add_layer(coding, http_trim((struct app_span){field.bytes + at, field.len - at}));
        field.len = at != 0 ? at - 1 : 0;
    }
    if (coding->n_layers != 0)
        return coding;
    *none = true;
    free(coding);
    return NULL;
}

/* ---- gzip's head ----------------------------------------------------------------------------- */

/* A head with other flags, or with a wrong checksum, is one too. */

static bool has_part(const struct gzip_head *head, enum gzip_part part)
{
    static const uint8_t flags[BEHIND] = {
        [EXTRA_LEN] = 4, [EXTRA] = 4, [NAME] = 8, [COMMENT] = 16, [CHECKSUM] = 2};

    return (head->flags & flags[part]) != 0 && (part != EXTRA || head->extra_len != 0);
}

/* Whether the part ends with this byte. */
static bool take_byte(struct gzip_head *head, uint8_t byte)
{
    const uint32_t at = head->at++;

    switch (head->part) {
    case FIXED:
        head->flags = at == 3 ? byte : head->flags;
        return at == 9;
    case EXTRA_LEN:
        head->extra_len |= (uint16_t)(byte << 8 * at);
        return at == 1;
    case EXTRA:
        return head->at == head->extra_len;
    case CHECKSUM:
        return at == 1;
    default:
        return byte == '\0';
    }
}

/* Takes the head's bytes off. Returns how many there are. */
static uint32_t skip_head(struct gzip_head *head, const uint8_t *bytes, uint32_t len)
{
    uint32_t n = 0;

    while (n < len && head->part != BEHIND) {
        if (!take_byte(head, bytes[n++]))
            continue;
        head->at = 0;
        do
            head->part++;
        while (head->part != BEHIND && !has_part(head, head->part));
    }
    return n;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void give_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len);

/* The bytes that layer i has decoded go to the next, or out. */
static void pass_on(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len)
{
    if (len == 0)
        return;
    if (i + 1 < coding->n_layers) {
        give_layer(coding, i + 1, bytes, len);
        return;
    }
    coding->out += len;
    coding->sink(coding->to, bytes, len);
}

/* Bytes that a step may put out before the body is a bomb. */
static uint32_t room_of(struct http_coding *coding)
{
    const uint64_t in = (coding->in + BLOCK - 1) / BLOCK * BLOCK;
    const uint64_t most = HTTP_CODING_FREE + in * HTTP_CODING_RATIO;

    if (coding->out >= most)
        coding->end = HTTP_CODING_BOMB;
    return most - coding->out < STEP ? (uint32_t)(most - coding->out) : STEP;
}

static void fail_layer(struct http_coding *coding, struct layer *layer)
{
    if (layer->decodes)
        coding->end = HTTP_CODING_DAMAGED;
    else
        layer->plain = true;
}

static void inflate_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes,
                          uint32_t len)
{
    struct layer *const layer = &coding->layer[i];
    const uint32_t skipped = skip_head(&layer->head, bytes, len);
    size_t left = len - skipped;
    bool more = left != 0;

    bytes += skipped;
    while (more && coding->end == HTTP_CODING_GOES_ON) {
        const uint32_t room = room_of(coding);
        const uint8_t *out;
        uint32_t n;

        if (room == 0)
            break;
        const enum inflate_status status =
            inflate_some(layer->inflate, &bytes, &left, room, &out, &n);
        layer->decodes |= n != 0;
        pass_on(coding, i, out, n);
        layer->over = status == INFLATE_OVER;
        if (status == INFLATE_DAMAGED)
            fail_layer(coding, layer);
        more = status == INFLATE_GOES_ON && n == room;
    }
}

static void brotli_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes, size_t len)
{
    struct layer *const layer = &coding->layer[i];
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    uint8_t out[STEP];

    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT &&
           coding->end == HTTP_CODING_GOES_ON) {
        const uint32_t room = room_of(coding);
        size_t left = room;
        uint8_t *to = out;

        if (room == 0)
            break;
        result = BrotliDecoderDecompressStream(layer->brotli, &len, &bytes, &left, &to, NULL);
        layer->decodes |= left != room;
        pass_on(coding, i, out, room - (uint32_t)left);
        layer->over = result == BROTLI_DECODER_RESULT_SUCCESS;
        if (result == BROTLI_DECODER_RESULT_ERROR)
            fail_layer(coding, layer);
    }
}

static void decode(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len)
{
    if (coding->layer[i].is_brotli)
        brotli_layer(coding, i, bytes, len);
    else
        inflate_layer(coding, i, bytes, len);
}

/* Deflate comes with zlib's header, or bare. False: there is no memory. */
static bool begin_inflate(struct layer *layer)
{
    const uint32_t head = (uint32_t)layer->held.bytes[0] << 8 | layer->held.bytes[1];
    const bool is_zlib = (head & 0x0F00) == 0x0800 && head % 31 == 0;

    layer->head.part = head == 0x1F8B ? FIXED : BEHIND;
    layer->inflate = inflate_stream_open(is_zlib ? INFLATE_ZLIB : INFLATE_BARE);
    return layer->inflate != NULL;
}

static bool begin_layer(struct layer *layer)
{
    if (layer->is_brotli) {
        layer->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
        layer->begun = layer->brotli != NULL;
    } else {
        layer->begun = begin_inflate(layer);
    }
    return layer->begun;
}

static void pass_held(struct http_coding *coding, uint32_t i)
{
    struct app_text held = coding->layer[i].held;

    coding->layer[i].held = (struct app_text){0};
    pass_on(coding, i, held.bytes, held.len);
    app_text_free(&held);
}

/* Tries what came so far with the next bytes. Returns how many were taken. */
static uint32_t try_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes,
                          uint32_t len)
{
    struct layer *const layer = &coding->layer[i];
    const uint32_t room = (layer->begun ? HTTP_CODING_HELD : BEGIN) - layer->held.len;
    const uint32_t n = len < room ? len : room;
    uint32_t at = layer->held.len;

    app_text_add(&layer->held, bytes, n);
    if (layer->held.len < BEGIN && !layer->held.no_memory)
        return n;
    if (!layer->begun) {
        at = 0;
        (void)begin_layer(layer);
    }
    if (layer->held.no_memory || !layer->begun) {
        coding->end = HTTP_CODING_DAMAGED;
        return n;
    }
    decode(coding, i, layer->held.bytes + at, layer->held.len - at);
    layer->decodes |= layer->held.len == HTTP_CODING_HELD && !layer->plain;
    if (layer->plain)
        pass_held(coding, i);
    else if (layer->decodes)
        app_text_free(&layer->held);
    return n;
}

static void give_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len)
{
    struct layer *const layer = &coding->layer[i];

    while (len != 0 && !layer->over && coding->end == HTTP_CODING_GOES_ON) {
        uint32_t n = len;

        if (layer->plain)
            pass_on(coding, i, bytes, len);
        else if (layer->decodes)
            decode(coding, i, bytes, len);
        else
            n = try_layer(coding, i, bytes, len);
        bytes += n;
        len -= n;
    }
}

/* ---- a body ---------------------------------------------------------------------------------- */

enum http_coding_end http_coding_give(struct http_coding *coding, const uint8_t *bytes,
                                      uint32_t len, http_coding_sink *sink, void *to)
{
    coding->sink = sink;
    coding->to = to;
    for (uint32_t at = 0; at < len && coding->end == HTTP_CODING_GOES_ON;) {
        const uint32_t left = BLOCK - (uint32_t)(coding->in % BLOCK);
        const uint32_t n = len - at < left ? len - at : left;

        coding->in += n;
        give_layer(coding, 0, bytes + at, n);
        at += n;
    }
    return coding->end;
}

void http_coding_end(struct http_coding *coding, http_coding_sink *sink, void *to)
{
    coding->sink = sink;
    coding->to = to;
    for (uint32_t i = 0; i < coding->n_layers; i++)
        if (!coding->layer[i].over && coding->end == HTTP_CODING_GOES_ON)
            pass_held(coding, i);
}

void http_coding_close(struct http_coding *coding)
{
    for (uint32_t i = 0; coding != NULL && i < coding->n_layers; i++) {
        struct layer *const layer = &coding->layer[i];

        if (layer->brotli != NULL)
            BrotliDecoderDestroyInstance(layer->brotli);
        inflate_stream_close(layer->inflate);
        app_text_free(&layer->held);
    }
    free(coding);
}

uint64_t http_coding_held(const struct http_coding *coding)
{
    uint64_t held = coding != NULL ? sizeof *coding : 0;

    for (uint32_t i = 0; coding != NULL && i < coding->n_layers; i++) {
        const struct layer *const layer = &coding->layer[i];

        held += layer->held.max;
        if (layer->begun)
            held += layer->is_brotli ? (UINT64_C(1) << HTTP_BROTLI_WINDOW) : inflate_stream_held();
    }
    return held;
}
