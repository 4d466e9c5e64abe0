/* SPDX-License-Identifier: MIT */
/* The bytes of a 7z archive's folder: LZMA in memory, and others by the libraries of their coders.
 */
#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/inflate_stream.h"
#include "base/least.h"
#include "unpack/little.h"
#include "unpack/sevenz.h"
#include "unpack/unlzma.h"

enum { COPY = 0, DELTA = 3, LZMA2 = 0x21, LZMA1 = 0x30101, DEFLATE = 0x40108, BZIP2 = 0x40202 };

/* What is unpacked of a folder that fits into memory as a whole. */
struct whole {
    struct unlzma2 lzma2; /* of LZMA1, its lzma */
    size_t at, len, read;
    uint8_t bytes[];
};

struct sevenz_source {
    uint64_t coder;
    struct whole *whole; /* NULL: the libraries unpack it */
    const uint8_t *at;   /* of a copy, or of deflate */
    size_t left;
    lzma_filter filters[SEVENZ_CODERS_MAX + 1];
    lzma_stream lzma;
    struct inflate_stream *inflate;
    bz_stream bzip2;
};

/* liblzma's filter for a coder behind the decoder. */
static lzma_vli filter_of(uint64_t id)
{
    switch (id) {
    case DELTA:
        return LZMA_FILTER_DELTA;
    case 0x3030103:
        return LZMA_FILTER_X86;
    case 0x3030205:
        return LZMA_FILTER_POWERPC;
    case 0x3030401:
        return LZMA_FILTER_IA64;
    case 0x3030501:
        return LZMA_FILTER_ARM;
    case 0x3030701:
        return LZMA_FILTER_ARMTHUMB;
    case 0x3030805:
        return LZMA_FILTER_SPARC;
    default:
        return LZMA_VLI_UNKNOWN;
    }
}

/* Filters look ahead, so that those behind LZMA1 need its end, which is a length. */
bool sevenz_is_supported(const struct sevenz_folder *folder)
{
    const uint64_t first = folder->coders[0].id;

    if (folder->n_coders == 1)
        return first == COPY || first == LZMA1 || first == LZMA2 || first == DEFLATE ||
               first == BZIP2;
#ifdef LZMA_FILTER_LZMA1EXT
    if (first != LZMA2 && first != LZMA1)
        return false;
#else
    if (first != LZMA2)
        return false;
#endif
    for (unsigned i = 1; i < folder->n_coders; i++)
        if (filter_of(folder->coders[i].id) == LZMA_VLI_UNKNOWN)
            return false;
    return true;
}

/* No match reaches back beyond the first byte: a larger dictionary is not needed. */
static void shrink_dictionary(lzma_options_lzma *options, uint64_t len)
{
    if (len < LZMA_DICT_SIZE_MIN)
        len = LZMA_DICT_SIZE_MIN;
    if (options->dict_size > len)
        options->dict_size = (uint32_t)len;
}

/* ---- LZMA without liblzma -------------------------------------------------------------------- */

/* Whether the properties were taken. */
static bool begin_whole(struct whole *whole, const struct sevenz_coder *coder, const uint8_t *bytes,
                        size_t len)
{
    struct unlzma *const lzma = &whole->lzma2.lzma;
    const uint8_t *const properties = coder->properties;

    if (coder->id == LZMA2) {
        unlzma2_begin(&whole->lzma2, bytes, len, UINT32_MAX);
        return coder->properties_len == 1 && properties[0] <= 40;
    }
    lzma->begin = 0;
    unlzma_reset(lzma);
    if (coder->properties_len != 5 || !unlzma_set_properties(lzma, properties[0]))
        return false;
    lzma->dictionary_len = little32(properties + 1);
    if (lzma->dictionary_len < LZMA_DICT_SIZE_MIN)
        lzma->dictionary_len = LZMA_DICT_SIZE_MIN;
    return unlzma_begin(lzma, bytes, len);
}

/* NULL: it is not LZMA alone, its bytes are too many, or liblzma is to say what is wrong. */
static struct whole *open_whole(const struct sevenz_folder *folder, const uint8_t *bytes,
                                size_t len)
{
    enum { WHOLE_MAX = 32 << 20 };
    const struct sevenz_coder *const coder = &folder->coders[0];

    if (folder->n_coders != 1 || (coder->id != LZMA1 && coder->id != LZMA2) ||
        coder->len > WHOLE_MAX)
        return NULL;
    struct whole *whole = malloc(sizeof *whole + (size_t)coder->len);
    if (whole == NULL)
        return NULL;
    whole->at = whole->read = 0;
    whole->len = (size_t)coder->len;
    if (begin_whole(whole, coder, bytes, len))
        return whole;
    free(whole);
    return NULL;
}

/* Unpacks up to `end`. Damaged bytes end before. */
static void unpack_whole(struct whole *whole, bool is_lzma2, size_t end)
{
    struct unlzma2 *const lzma2 = &whole->lzma2;

    if (!is_lzma2)
        whole->at = unlzma_run(&lzma2->lzma, whole->bytes, whole->at, end);
    while (is_lzma2 && whole->at < end) {
        if (lzma2->left == 0 && (!unlzma2_next(lzma2, whole->at) || lzma2->left == 0))
            break;
        const size_t most = least(end - whole->at, lzma2->left), before = whole->at;
        whole->at = unlzma2_run(lzma2, whole->bytes, before, before + most);
        if (whole->at < before + most)
            break;
    }
}

static size_t read_whole(struct whole *whole, bool is_lzma2, uint8_t *to, size_t len)
{
    const size_t end = least(whole->read + len, whole->len);

    if (whole->at < end)
        unpack_whole(whole, is_lzma2, end);
    const size_t n = least(end, whole->at) - whole->read;
    memcpy(to, whole->bytes + whole->read, n);
    whole->read += n;
    return n;
}

/* ---- the libraries --------------------------------------------------------------------------- */

/* liblzma has the decoder last. */
static bool open_lzma(struct sevenz_source *source, const struct sevenz_folder *folder)
{
    const unsigned n = folder->n_coders;

    for (unsigned i = 0; i < n; i++) {
        const struct sevenz_coder *coder = &folder->coders[n - 1 - i];
        lzma_filter *filter = &source->filters[i];

        filter->id = i + 1 < n            ? filter_of(coder->id)
                     : coder->id == LZMA1 ? LZMA_FILTER_LZMA1
                                          : LZMA_FILTER_LZMA2;
        if (lzma_properties_decode(filter, NULL, coder->properties, coder->properties_len) !=
            LZMA_OK) {
            filter->id = LZMA_VLI_UNKNOWN;
            return false;
        }
    }
    lzma_options_lzma *options = source->filters[n - 1].options;
    shrink_dictionary(options, folder->coders[0].len);
#ifdef LZMA_FILTER_LZMA1EXT
    if (n > 1 && source->coder == LZMA1) {
        source->filters[n - 1].id = LZMA_FILTER_LZMA1EXT;
        options->ext_flags = LZMA_LZMA1EXT_ALLOW_EOPM;
        lzma_set_ext_size(*options, folder->coders[0].len);
    }
#endif
    return lzma_raw_decoder(&source->lzma, source->filters) == LZMA_OK;
}

struct sevenz_source *sevenz_source_open(const struct sevenz_folder *folder, const uint8_t *bytes,
                                         size_t len)
{
    struct sevenz_source *source = calloc(1, sizeof *source);
    bool opened = true;

    if (source == NULL)
        return NULL;
    source->coder = folder->coders[0].id;
    source->at = source->lzma.next_in = bytes;
    source->left = source->lzma.avail_in = len;
    source->bzip2.next_in = (char *)(uintptr_t)bytes;
    source->bzip2.avail_in = len < UINT_MAX ? (unsigned)len : UINT_MAX;
    for (unsigned i = 0; i <= SEVENZ_CODERS_MAX; i++)
        source->filters[i].id = LZMA_VLI_UNKNOWN;
    source->whole = open_whole(folder, bytes, len);
    if (source->whole == NULL && (source->coder == LZMA1 || source->coder == LZMA2))
        opened = open_lzma(source, folder);
    else if (source->coder == DEFLATE)
        opened = (source->inflate = inflate_stream_open(INFLATE_BARE)) != NULL;
    else if (source->coder == BZIP2)
        opened = BZ2_bzDecompressInit(&source->bzip2, 0, 0) == BZ_OK;
    if (!opened) {
        sevenz_source_close(source);
        return NULL;
    }
    return source;
}

void sevenz_source_close(struct sevenz_source *source)
{
    if (source == NULL)
        return;
    free(source->whole);
    lzma_end(&source->lzma);
    for (unsigned i = 0; source->filters[i].id != LZMA_VLI_UNKNOWN; i++)
        free(source->filters[i].options);
    inflate_stream_close(source->inflate);
    if (source->coder == BZIP2)
        (void)BZ2_bzDecompressEnd(&source->bzip2);
    free(source);
}

static size_t read_lzma(lzma_stream *lzma, uint8_t *to, size_t len)
{
    lzma_ret status = LZMA_OK;

    lzma->next_out = to;
    lzma->avail_out = len;
    while (status == LZMA_OK && lzma->avail_out > 0) {
        const size_t in = lzma->avail_in, out = lzma->avail_out;

        status = lzma_code(lzma, LZMA_RUN);
        if (in == lzma->avail_in && out == lzma->avail_out)
            break;
    }
    return len - lzma->avail_out;
}

static size_t read_deflate(struct sevenz_source *source, uint8_t *to, size_t len)
{
    enum inflate_status status = INFLATE_GOES_ON;
    size_t at = 0;

    while (at < len && status == INFLATE_GOES_ON) {
        const uint8_t *out;
        uint32_t n;

        status = inflate_some(source->inflate, &source->at, &source->left, len - at, &out, &n);
        if (n == 0)
            break;
        memcpy(to + at, out, n);
        at += n;
    }
    return at;
}

static size_t read_bzip2(bz_stream *bzip2, uint8_t *to, size_t len)
{
    bzip2->next_out = (char *)to;
    bzip2->avail_out = (unsigned)len;
    while (bzip2->avail_out > 0) {
        const unsigned in = bzip2->avail_in, out = bzip2->avail_out;

        if (BZ2_bzDecompress(bzip2) != BZ_OK || (in == bzip2->avail_in && out == bzip2->avail_out))
            break;
    }
    return len - bzip2->avail_out;
}

static size_t read_copy(struct sevenz_source *source, uint8_t *to, size_t len)
{
    const size_t n = len < source->left ? len : source->left;

    memcpy(to, source->at, n);
    source->at += n;
    source->left -= n;
    return n;
}

size_t sevenz_source_read(struct sevenz_source *source, uint8_t *to, size_t len)
{
    if (source->whole != NULL)
        return read_whole(source->whole, source->coder == LZMA2, to, len);
    switch (source->coder) {
    case COPY:
        return read_copy(source, to, len);
    case DEFLATE:
        return read_deflate(source, to, len);
    case BZIP2:
        return read_bzip2(&source->bzip2, to, len);
    default:
        return read_lzma(&source->lzma, to, len);
    }
}
