/* SPDX-License-Identifier: MIT */
/* Archives that lie in the midst of other bytes, by their marks. Objects above the limit of a file
 * are not searched. */
#include <string.h>
#include <zlib.h>

#include "base/find_fours.h"
#include "base/least.h"
#include "unpack/little.h"
#include "unpack/unpack.h"

enum { MARK_MAX = 24, PARTS_MAX = 64 /* parts of an object that are opened */ };

/* A place that may begin a part; *len: its length, or all bytes that are left. */
typedef bool is_part(const uint8_t *at, size_t left, size_t *len);

static bool is_zip(const uint8_t *at, size_t left, size_t *len)
{
    *len = left; /* its reader finds all members from here on */
    return memcmp(at, "PK\3\4", 4) == 0;
}

static bool is_cab(const uint8_t *at, size_t left, size_t *len)
{
    enum { LEN_AT = 8, VERSION_AT = 24, HEADER_LEN = 36 };

    if (left < HEADER_LEN || memcmp(at, "MSCF\0\0\0\0", 8) != 0 ||
        little16(at + VERSION_AT) != 0x103)
        return false;
    const uint32_t stated = little32(at + LEN_AT);
    *len = stated < left ? stated : left;
    return stated >= HEADER_LEN;
}

static bool is_7z(const uint8_t *at, size_t left, size_t *len)
{
    enum { SUM_AT = 8, SUMMED_AT = 12, SUMMED_LEN = 20, HEADER_LEN = 32 };

    *len = left;
    return left >= HEADER_LEN && memcmp(at, "7z\xBC\xAF\x27\x1C", 6) == 0 &&
           crc32(0, at + SUMMED_AT, SUMMED_LEN) == little32(at + SUM_AT);
}

static bool is_rar(const uint8_t *at, size_t left, size_t *len)
{
    enum { MAIN_4 = 0x73, MAIN_5 = 1, ENCRYPTION_5 = 4 };

    *len = left;
    if (left < 14 || memcmp(at, "Rar!\x1A\7", 6) != 0)
        return false;
    return at[6] == 0 ? at[9] == MAIN_4
                      : at[6] == 1 && at[7] == 0 && (at[13] == MAIN_5 || at[13] == ENCRYPTION_5);
}

static bool is_arj(const uint8_t *at, size_t left, size_t *len)
{
    const unsigned header_len = little16(at + 2);

    *len = left;
    return at[0] == 0x60 && at[1] == 0xEA && at[9] <= 2 && at[10] == 2 && header_len <= 2600 &&
           at[4] >= 30 && at[4] <= header_len;
}

static bool is_pdf(const uint8_t *at, size_t left, size_t *len)
{
    *len = left;
    return memcmp(at, "%PDF-", 5) == 0 && at[6] == '.';
}

static bool is_nsis(const uint8_t *at, size_t left, size_t *len)
{
    enum { LEN_AT = 20, BEFORE = 4, SUM_LEN = 4, LEN_MIN = 32 };
    const uint32_t stated = little32(at + LEN_AT) - BEFORE; /* a word lies before the mark */

    *len = stated >= LEN_MIN && stated < left ? stated - SUM_LEN : left;
    return memcmp(at, "\xEF\xBE\xAD\xDENullsoftInst", 16) == 0;
}

enum { ANY = 0xFF };

static const struct mark {
    is_part *is_part;
    enum kind kind;
    uint8_t begin[FIND_FOURS_BYTES];
    uint8_t fold[FIND_FOURS_BYTES]; /* of its bytes, as find_fours_add has it */
    bool is_last;                   /* it reads what lies behind it, too */
} marks[] = {{is_zip, KIND_ZIP, "PK\3\4", {0}, true},
             {is_cab, KIND_CAB, "MSCF", {0}, false},
             {is_7z, KIND_SEVENZIP, "7z\xBC\xAF", {0}, false},
             {is_rar, KIND_RAR, "Rar!", {0}, false},
             {is_arj, KIND_ARJ, {0x60, 0xEA, 0, 0}, {0, 0, ANY, ANY}, false},
             {is_pdf, KIND_PDF, "%PDF", {0}, true},
             {is_nsis, KIND_NSIS, "\xEF\xBE\xAD\xDE", {0}, false}};

enum { MARKS = sizeof marks / sizeof *marks };
_Static_assert((int)MARKS <= (int)FIND_FOURS_BUCKETS, "each mark has a bucket of its own");

enum { CHUNK = 1024 /* places that are looked at together: searches nest as parts do */ };

/* A search for parts in the bytes [at, end). */
struct search {
    const uint8_t *at, *end;
    unsigned wanted; /* marks: bits */
    struct find_fours fours;
    find_fours_fn *find;
    uint16_t places[CHUNK];        /* of the bytes from `chunk` on, */
    const uint8_t *chunk, *behind; /* up to `behind`, that may be marks; */
    size_t n_places, next;         /* and the next of them */
};

static void begin_search(struct search *search, const uint8_t *at, const uint8_t *end,
                         unsigned wanted)
{
    *search = (struct search){.at = at, .end = end, .wanted = wanted, .behind = at};
    search->find = find_fours_choose();
    for (size_t i = 0; i < MARKS; i++)
        find_fours_add(&search->fours, marks[i].begin, marks[i].fold);
}

/* The next chunk that a mark fits into. False: there is none. */
static bool next_chunk(struct search *search)
{
    const size_t left = (size_t)(search->end - search->behind);

    if (left < MARK_MAX)
        return false;
    const size_t n = least(left - MARK_MAX + 1, CHUNK);

    search->chunk = search->behind;
    search->behind += n;
    search->n_places = search->find(&search->fours, search->chunk, n, search->places);
    search->next = 0;
    return true;
}

/* The next place from search->at on that may be a mark. NULL: there is none. */
static const uint8_t *next_place(struct search *search)
{
    for (;;) {
        while (search->next < search->n_places) {
            const uint8_t *const at = search->chunk + search->places[search->next++];

            if (at >= search->at)
                return at;
        }
        if (search->behind < search->at)
            search->behind = search->at;
        if (!next_chunk(search))
            return NULL;
    }
}

/* The next part. NULL: there is none. */
static const uint8_t *find_part(struct search *search, size_t *mark, size_t *len)
{
    const uint8_t *at;

    while ((at = next_place(search)) != NULL)
        for (uint64_t which = find_fours_which(&search->fours, at) & search->wanted; which != 0;
             which &= which - 1) {
            *mark = (size_t)__builtin_ctzll(which);
            if (marks[*mark].is_part(at, (size_t)(search->end - at), len))
                return at;
        }
    return NULL;
}

/* It lies where the object does: its children are one level below. */
static void open_part(struct unpack *unpack, const struct unpack_object *object,
                      const uint8_t *found, size_t len, enum kind kind)
{
    struct unpack_object part = *object;

    part.bytes = found;
    part.len = len;
    part.kind = part.seen = kind;
    if (kind == KIND_ZIP)
        (void)unpack_zip_members(unpack, &part, true);
    else
        unpack_reader_of(kind)(unpack, &part);
}

void unpack_embedded(struct unpack *unpack, const struct unpack_object *object, size_t from,
                     size_t to)
{
    const struct unpack_request *wishes = unpack_wishes(unpack);
    const uint64_t len_max = wishes->limits.file_len_max;
    const uint8_t *at;
    unsigned wanted = (1u << MARKS) - 1, n = 0;
    struct search search;
    size_t mark, len;

    if ((len_max > 0 && to - from > len_max) || (wishes->closed >> UNPACK_ARCHIVES & 1) != 0)
        return;
    for (size_t i = 0; i < MARKS; i++) /* programs have marks as texts */
        if ((marks[i].kind == object->kind && object->kind != KIND_ZIP) ||
            (marks[i].kind == KIND_PDF && object->kind >= KIND_MSEXE && object->kind <= KIND_JAVA))
            wanted &= ~(1u << i);
    begin_search(&search, object->bytes + from, object->bytes + to, wanted);
    while ((at = find_part(&search, &mark, &len)) != NULL && !unpack_is_over(unpack)) {
        if (++n > PARTS_MAX) {
            unpack_incomplete(unpack, object, "it has more archives inside than are opened");
            return;
        }
        open_part(unpack, object, at, len, marks[mark].kind);
        if (marks[mark].is_last)
            search.wanted &= ~(1u << mark);
        search.at = at + (marks[mark].kind == KIND_CAB ? len : 1);
    }
}

void unpack_rest(struct unpack *unpack, const struct unpack_object *object, size_t at)
{
    while (at < object->len && object->bytes[at] == '\0')
        at++;
    if (at < object->len)
        (void)unpack_child(unpack, object, object->bytes + at, object->len - at, KINDS);
}
