/* SPDX-License-Identifier: MIT */
#include "http_coding.h"

#include <brotli/decode.h>
#include <zlib.h>

#include "http_head.h"

enum {
    STEP = 16384,
    BLOCK =
        4096 /* of what comes: the limit of a bomb moves from block to block, not from cut to cut
              */
};

enum kind { GZIP, DEFLATE, BROTLI };

/* One coding. The first two bytes of gzip and deflate decide how they are read. */
struct layer {
    enum kind kind;
    bool begun, plain, over; /* plain: it is no coding. over: it ended, and the rest is nothing */
    uint8_t n_first, first[2];
    z_stream zlib;
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

/* Adds the coding of a word. False: it is none that is known. */
static bool add_layer(struct http_coding *coding, struct app_span word)
{
    struct layer *layer = &coding->layer[coding->n_layers];

    if (coding->n_layers == HTTP_CODINGS_MAX)
        return false;
    if (http_span_has(word, "gzip"))
        layer->kind = GZIP;
    else if (http_span_has(word, "deflate"))
        layer->kind = DEFLATE;
    else if (http_span_is(word, "br"))
        layer->kind = BROTLI;
    else
        return false;
    coding->n_layers++;
    return true;
}

/* The last coding of the field was put on last, and comes off first. */
struct http_coding *http_coding_open(struct app_span field, bool *none)
{
    struct http_coding *coding = calloc(1, sizeof *coding);
    bool known = true;

    *none = false;
    if (coding == NULL)
        return NULL;
    while (known && field.len != 0) {
        const uint8_t *comma = memrchr(field.bytes, ',', field.len);
        const uint32_t at = comma != NULL ? (uint32_t)(comma + 1 - field.bytes) : 0;

        known = add_layer(coding, http_trim((struct app_span){field.bytes + at, field.len - at}));
        field.len = at != 0 ? at - 1 : 0;
    }
    if (coding->n_layers != 0)
        return coding;
    *none = true;
    free(coding);
    return NULL;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void give_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len);

/* What layer i has decoded goes to the next, or out. */
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

static void inflate_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes,
                          uint32_t len)
{
    struct layer *const layer = &coding->layer[i];
    uint8_t out[STEP];
    bool more = true;

    layer->zlib.next_in = (Bytef *)(uintptr_t)bytes;
    layer->zlib.avail_in = len;
    while (more && coding->end == HTTP_CODING_GOES_ON) {
        const uint32_t room = room_of(coding);

        if (room == 0)
            break;
        layer->zlib.next_out = out;
        layer->zlib.avail_out = room;
        const int status = inflate(&layer->zlib, Z_NO_FLUSH);
        pass_on(coding, i, out, room - layer->zlib.avail_out);
        layer->over = status == Z_STREAM_END;
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            coding->end = HTTP_CODING_DAMAGED;
        more = status == Z_OK && (layer->zlib.avail_in != 0 || layer->zlib.avail_out == 0);
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
        pass_on(coding, i, out, room - (uint32_t)left);
        layer->over = result == BROTLI_DECODER_RESULT_SUCCESS;
        if (result == BROTLI_DECODER_RESULT_ERROR)
            coding->end = HTTP_CODING_DAMAGED;
    }
}

static void decode(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len)
{
    struct layer *const layer = &coding->layer[i];

    if (layer->over || len == 0)
        return;
    if (layer->plain)
        pass_on(coding, i, bytes, len);
    else if (layer->kind == BROTLI)
        brotli_layer(coding, i, bytes, len);
    else
        inflate_layer(coding, i, bytes, len);
}

/* Deflate comes with zlib's header, or bare. False: there is no memory. */
static bool begin_zlib(struct layer *layer)
{
    const uint32_t head = (uint32_t)layer->first[0] << 8 | layer->first[1];
    const bool is_gzip = layer->n_first == 2 && head == 0x1F8B;
    const bool is_zlib = layer->n_first == 2 && (head & 0x0F00) == 0x0800 && head % 31 == 0;

    layer->plain = layer->kind == GZIP && !is_gzip;
    if (layer->plain)
        return true;
    return inflateInit2(&layer->zlib, is_gzip   ? MAX_WBITS + 16
                                      : is_zlib ? MAX_WBITS
                                                : -MAX_WBITS) == Z_OK;
}

static bool begin_layer(struct layer *layer)
{
    layer->begun = true;
    if (layer->kind != BROTLI)
        return begin_zlib(layer);
    layer->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    return layer->brotli != NULL;
}

static void start_layer(struct http_coding *coding, uint32_t i)
{
    struct layer *const layer = &coding->layer[i];

    if (begin_layer(layer))
        decode(coding, i, layer->first, layer->n_first);
    else
        coding->end = HTTP_CODING_DAMAGED;
}

static void give_layer(struct http_coding *coding, uint32_t i, const uint8_t *bytes, uint32_t len)
{
    struct layer *const layer = &coding->layer[i];

    while (!layer->begun && layer->n_first < 2 && len != 0) {
        layer->first[layer->n_first++] = *bytes++;
        len--;
    }
    if (!layer->begun && layer->n_first == 2)
        start_layer(coding, i);
    if (layer->begun && coding->end == HTTP_CODING_GOES_ON)
        decode(coding, i, bytes, len);
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
        if (!coding->layer[i].begun && coding->layer[i].n_first != 0 &&
            coding->end == HTTP_CODING_GOES_ON)
            start_layer(coding, i);
}

void http_coding_close(struct http_coding *coding)
{
    for (uint32_t i = 0; coding != NULL && i < coding->n_layers; i++) {
        if (coding->layer[i].brotli != NULL)
            BrotliDecoderDestroyInstance(coding->layer[i].brotli);
        else if (coding->layer[i].begun && !coding->layer[i].plain)
            (void)inflateEnd(&coding->layer[i].zlib);
    }
    free(coding);
}

uint64_t http_coding_held(const struct http_coding *coding)
{
    uint64_t held = coding != NULL ? sizeof *coding : 0;

    for (uint32_t i = 0; coding != NULL && i < coding->n_layers; i++)
        if (coding->layer[i].begun && !coding->layer[i].plain)
            held += coding->layer[i].kind == BROTLI ? (UINT64_C(1) << HTTP_BROTLI_WINDOW)
                                                    : HTTP_CODING_MEMORY;
    return held;
}
