/* SPDX-License-Identifier: MIT */
/* The compiled block: arrays of fixed records that name one another by index. No pointers. The set
 * of signatures as read consists of the same records, so compiling is choosing anchors and laying
 * the arrays behind one another. */
#ifndef CLAMAV_BLOCK_H
#define CLAMAV_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/block_file.h"
#include "unpack/target.h"

/* Whether files of this type have an entry point and sections. */
static inline bool clam_is_executable(uint8_t target)
{
    return target == CLAM_PE || target == CLAM_ELF || target == CLAM_MACHO;
}

enum { CLAM_NONE = 0xFFFFFFFFu, CLAM_UNBOUNDED = 0xFFFFFFFFu, CLAM_SUBS_MAX = 64 };

enum clam_elem_kind {
    CLAM_EXACT,     /* bytes */
    CLAM_MASKED,    /* (byte & mask) == value */
    CLAM_ALTS,      /* one of n alternates of equal length, or none of them where negated */
    CLAM_VARIABLE,  /* one of n alternates of any lengths: the only element of its segment */
    CLAM_LEFT_B,    /* word boundary, no width, before the segment */
    CLAM_LEFT_L,    /* line boundary */
    CLAM_LEFT_W,    /* non-alphanumeric */
    CLAM_LEFT_WIDE, /* non-alphanumeric in two bytes */
    CLAM_RIGHT_B,   /* the same behind the segment */
    CLAM_RIGHT_L,
    CLAM_RIGHT_W,
    CLAM_RIGHT_WIDE,
    CLAM_ELEM_KINDS
};

/* The sides of a word at which a byte may stand, by ClamAV's table: 1 before it, 2 behind it, 3
 * both. */
static inline unsigned clam_word_side(uint8_t byte)
{
    switch (byte) {
    case ' ':
    case '-':
    case '/':
    case '_':
        return 3;
    case '\n':
    case '\r':
    case '"':
    case '\'':
    case '=':
    case '>':
        return 2;
    case '.':
    case '<':
    case '@':
        return 1;
    default:
        return 0;
    }
}

/* A check at `at` bytes from the segment's first. */
struct clam_elem {
    uint8_t kind;
    uint8_t negated;
    uint16_t n_alts;
    uint16_t at;
    uint16_t len;   /* bytes */
    uint32_t bytes; /* in the pool; alternates: index of the first */
    uint32_t masks; /* in the pool, where CLAM_MASKED */
};

/* An alternate: value and mask for each byte. */
struct clam_alt {
    uint32_t len;
    uint32_t bytes, masks; /* masks CLAM_NONE: all bits count */
};

/* Bytes at fixed distances from one another. */
struct clam_seg {
    uint32_t gap_min, gap_max; /* bytes between the segment before and this one; gap_max may be
                                  CLAM_UNBOUNDED */
    uint32_t elems; /* n_elems 0: its bytes in the pool, which are all there is to compare */
    uint32_t key;   /* its rarest literal: bytes in the pool */
    float key_bits; /* how rare: -log2 of the chance to meet it at a place */
    uint16_t n_elems;
    uint16_t len;      /* bytes; of a variable one the shortest alternate */
    uint16_t len_max;  /* of a variable one the longest */
    uint16_t key_at;   /* bytes from the segment's first */
    uint16_t key_len;  /* 0: it has none */
    uint16_t key_case; /* 1: ASCII case is ignored */
};

/* Of the segments from first to last the one with the rarest literal; the first, where none has
 * one.
 */
static inline uint32_t clam_rarest_seg(const struct clam_seg *segs, uint32_t first, uint32_t last)
{
    uint32_t best = first;

    for (uint32_t s = first + 1; s <= last; s++)
        if (segs[s].key_bits > segs[best].key_bits)
            best = s;
    return best;
}

enum clam_offset_kind {
    CLAM_ANYWHERE,
    CLAM_ABSOLUTE,
    CLAM_EOF_MINUS,
    CLAM_EP_PLUS,
    CLAM_EP_MINUS,
    CLAM_SECTION_PLUS,
    CLAM_SECTION_WHOLE,
    CLAM_LAST_PLUS,
    CLAM_OFFSET_KINDS
};

/* A body: segments in order. Segments with bounded gaps between them are a group. */
struct clam_pattern {
    uint32_t segs;
    uint16_t n_segs;
    uint16_t last_part; /* index, from segs, of the segment that begins the last part. `{}` and `*`
                           separate parts, and the begin of its last part counts a match */
    uint16_t groups;    /* number of groups */
    uint8_t offset_kind;
    uint8_t looked_for; /* 1: the matcher searches for a literal of it */
    uint16_t targets;   /* bits of the targets of the signatures that it anchors */
    uint16_t section;   /* UINT16_MAX: one that no program has */
    uint32_t offset, shift;
    uint32_t sigs, n_sigs; /* in the list of signatures that it anchors */
    uint32_t count_max;    /* the highest count that an expression asks about */
};

enum { CLAM_SUB_BODY, CLAM_SUB_PCRE };

/* A subsignature: a body in one or two variants (ascii, wide), or a PCRE. */
struct clam_sub {
    uint16_t kind;
    uint16_t n;
    uint32_t first; /* body: in the list of variants; PCRE: its index, and n is 1 */
};

struct clam_pcre {
    uint32_t text, text_len; /* in the text pool, NUL behind */
    uint32_t options;        /* PCRE2_* */
    uint32_t flags;          /* CLAM_PCRE_* */
    uint32_t offset_kind, section, offset, shift;
    uint32_t node; /* root of its trigger */
};

enum { CLAM_PCRE_GLOBAL = 1, CLAM_PCRE_ROLLING = 2, CLAM_PCRE_ENCOMPASS = 4 };

enum { CLAM_LEAF, CLAM_AND, CLAM_OR, CLAM_NODE_KINDS };

/* Of a logical expression; operands come before operators. */
struct clam_node {
    uint8_t kind;
    uint8_t modifier; /* '=', '<', '>' or 0 */
    uint16_t depth;   /* of the tree below, from 1: bounds recursion */
    uint32_t left;    /* leaf: the number of the subsignature */
    uint32_t right;
    uint32_t value, distinct; /* of the modifier */
    uint32_t first;           /* the first node of the tree below */
};

enum { CLAM_DEPTH_MAX = 200 };

enum { CLAM_OFFICIAL = 1, CLAM_LOGICAL = 2 };
enum { CLAM_KIND_ANY = 0xFF, CLAM_IN_MAX = 8 };

/* What a signature wants of the object. */
struct clam_demand {
    uint32_t nos_min, nos_max; /* sections */
    uint32_t ep_min, ep_max;
    uint64_t size_min, size_max; /* bytes of the file */

    /* The kinds of the containers around it, the next one last. n_in 0: any. */
    uint8_t n_in;
    uint8_t in[CLAM_IN_MAX - 1];
};

struct clam_sig {
    uint32_t name; /* in the text pool */
    uint8_t target;
    uint8_t flags;
    uint16_t n_subs;
    uint32_t subs;
    uint32_t node;      /* root of the expression */
    uint32_t count_max; /* the highest count that an expression asks about */
    uint32_t demand;    /* CLAM_NONE: none */
};

/* A number that a container says about a member. */
struct clam_span {
    uint64_t from, to; /* 0 and UINT64_MAX: any, also where it says none */
};

/* The statements of a container about a member, and the place where they are found. */
struct clam_member {
    struct clam_span container_len, packed_len, len, position;
    uint32_t name;     /* of the signature, in the text pool */
    uint32_t pattern;  /* POSIX extended, of the member's name, in the text pool */
    uint8_t container; /* enum kind, or CLAM_KIND_ANY */
    uint8_t encrypted; /* 0, 1; 2: either */
    uint8_t any_name;
    uint8_t official;
    uint32_t pad;
};

/* A certificate that signs programs (.crb): what is signed by it is trusted, or found. */
struct clam_certificate {
    uint32_t name;         /* in the text pool */
    uint32_t key, key_len; /* the modulus, without zeros before it, in the pool of bytes */
    uint8_t subject[20];   /* SHA-1s of what the fields hold */
    uint8_t serial[20];
    uint8_t has_serial; /* else any number is right */
    uint8_t trusted;    /* else blocked */
    uint8_t signs;      /* programs and certificates: else it makes nothing trusted */
    uint8_t pad;
};

/* Names of hosts, or an expression of them (.pdb, .wdb), in the text pool. */
struct clam_domain {
    uint32_t text; /* a name with "/" behind it, or a POSIX extended expression */
    uint32_t tail; /* of an expression: what each text that it matches holds */
    uint32_t is_expression;
};

/* Where a literal of the matcher lies in a pattern. */
struct clam_use {
    uint32_t pattern;
    uint32_t seg;  /* from the pattern's first */
    uint32_t back; /* bytes from the segment's first to the literal's end */
};

enum { CLAM_MD5, CLAM_SHA1, CLAM_SHA256, CLAM_HASHES };
enum { CLAM_OF_FILE, CLAM_OF_SECTION, CLAM_OF_ALLOWED, CLAM_OF_URL, CLAM_HASHED };

static const uint32_t clam_hash_len[CLAM_HASHES] = {16, 20, 32};

#define CLAM_ANY_SIZE UINT64_MAX

/* The size of a hash of an address (.gdb): whether it is found, or allowed. */
enum { CLAM_URL_ALLOWED, CLAM_URL_FOUND };

/* A hash signature. Those of a purpose and a kind lie together, sorted by size and digest. They are
 * the most of a database, so that each is as short as its digest allows. Most names differ in a
 * number alone. They share a text that has CLAM_NUMBER_MARK in its place. */
struct clam_hash {
    uint64_t size;      /* bytes, or CLAM_ANY_SIZE */
    uint32_t name : 31; /* in the text pool */
    uint32_t official : 1;
    uint32_t number; /* of the name; CLAM_NONE: its text is whole */
    uint8_t digest[];
} __attribute__((packed, aligned(4)));

enum { CLAM_HASH_NAME_MAX = INT32_MAX, CLAM_NUMBER_MARK = 1 };

/* Bytes from one hash of a kind to the next. */
static inline size_t clam_hash_step(int kind)
{
    return sizeof(struct clam_hash) + clam_hash_len[kind];
}

static inline const struct clam_hash *clam_hash_in(const void *hashes, int kind, size_t i)
{
    return (const struct clam_hash *)((const uint8_t *)hashes + i * clam_hash_step(kind));
}

/* The arrays of the block. */
enum clam_array {
    CLAM_A_TEXT,         /* char: names and PCREs, each ended by NUL */
    CLAM_A_BYTES,        /* uint8_t: values, masks, literals */
    CLAM_A_ALTS,         /* struct clam_alt */
    CLAM_A_ELEMS,        /* struct clam_elem */
    CLAM_A_SEGS,         /* struct clam_seg */
    CLAM_A_PATTERNS,     /* struct clam_pattern */
    CLAM_A_VARIANTS,     /* uint32_t: patterns */
    CLAM_A_SUBS,         /* struct clam_sub */
    CLAM_A_PCRES,        /* struct clam_pcre */
    CLAM_A_NODES,        /* struct clam_node */
    CLAM_A_DEMANDS,      /* struct clam_demand */
    CLAM_A_SIGS,         /* struct clam_sig */
    CLAM_A_MEMBERS,      /* struct clam_member: signatures of containers' members (.cdb) */
    CLAM_A_PASSWORDS,    /* uint8_t: of archives (.pwdb), each behind its length */
    CLAM_A_CERTIFICATES, /* struct clam_certificate */
    CLAM_A_PROTECTED,    /* struct clam_domain: what links pretend to lead to (.pdb) */
    CLAM_A_HARMLESS,     /* struct clam_domain: links that are none of those (.wdb) */
    CLAM_A_READ,         /* as many as a set has; the others are the compiler's */

    CLAM_A_ANCHORED = CLAM_A_READ, /* uint32_t: signatures, by pattern */
    CLAM_A_LITERALS,               /* uint32_t: first use of each literal, and the end */
    CLAM_A_USES,                   /* struct clam_use, by literal */
    CLAM_A_FIXED,                  /* uint32_t: patterns at fixed positions */
    CLAM_A_SEARCHED,               /* uint32_t: signatures without an anchor */
    CLAM_A_HASHES,                 /* uint8_t: struct clam_hash, by purpose and kind */
    CLAM_A_MPM,                    /* uint8_t: the matcher's table */
    CLAM_ARRAYS
};

extern const uint32_t clam_record_len[CLAM_ARRAYS];

enum { CLAM_ALIGN = 64, CLAM_PASSWORDS_LEN_MAX = 1 << 20 };

struct clam_block {
    struct block_head head;
    uint64_t at[CLAM_ARRAYS];
    uint64_t n[CLAM_ARRAYS];
    uint64_t hashes[CLAM_HASHED][CLAM_HASHES][2]; /* first byte in CLAM_A_HASHES, and number */
    uint64_t n_hashes;                            /* of files, sections and addresses */
    uint64_t anchored, fixed, searched;
    uint64_t in_parts;         /* those of them that parts of files can match */
    uint64_t n_bad, n_skipped; /* lines and signatures of the databases that are not in the block */
};

static inline const void *clam_at(const struct clam_block *block, enum clam_array array)
{
    return (const uint8_t *)block + block->at[array];
}

#endif
