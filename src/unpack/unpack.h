/* SPDX-License-Identifier: MIT */
/* Opening an object: its format's reader is given its bytes, and gives its members. A reader is
 * one function in a file of its own, and is listed in formats.c. Objects hold objects, so readers
 * and unpack.c call each other, down to the deepest object. Decoders call neither. */
#ifndef UNPACK_UNPACK_H
#define UNPACK_UNPACK_H

#include "base/inflate.h"
#include "unpack/message.h"
#include "unpack/unpack_buffer.h"

struct unpack;

struct unpack_object {
    const uint8_t *bytes;
    size_t len;
    enum kind kind;
    enum kind seen; /* by what it holds: its own kind, with few exceptions */
    unsigned depth; /* 1: the file */
    const struct unpack_object *container;
};

/* A member, as its container describes it; numbers may be UNPACK_UNKNOWN. */
struct unpack_member {
    const char *name;
    uint64_t packed_len, len;
    uint64_t position;
    bool encrypted;
};

/* ---- a file ---------------------------------------------------------------------------------- */

/* Gets each event, and an object's bytes. False: nothing more is wanted. */
typedef bool unpack_emit(void *user, struct unpack_event *event, const uint8_t *bytes);

/* SL_ENOMEM is NULL. */
struct unpack *unpack_create(unpack_emit *emit, void *user);
void unpack_free(struct unpack *unpack);

/* Has archives tried with passwords, each behind its length in one byte. They are lent. */
void unpack_set_passwords(struct unpack *unpack, const uint8_t *passwords, size_t len);

/* Opens a file: its objects are emitted, each behind those that it holds, and an END last. The
 * file's own bytes are not emitted. */
void unpack_file(struct unpack *unpack, const struct unpack_request *request, const uint8_t *bytes,
                 size_t len);

/* The same with a kind that is known. */
void unpack_file_as(struct unpack *unpack, const struct unpack_request *request,
                    const uint8_t *bytes, size_t len, enum kind kind);

/* ---- for readers ----------------------------------------------------------------------------- */

/* False: nothing more is wanted, the reader returns. */
bool unpack_report_member(struct unpack *unpack, const struct unpack_object *object,
                          const struct unpack_member *member);

/* Gives a child of an object, of a kind that is known or, with KINDS, to be found. */
bool unpack_child(struct unpack *unpack, const struct unpack_object *object, const uint8_t *bytes,
                  size_t len, enum kind kind);

/* The same of one that is a container of another kind for what it holds. */
bool unpack_child_seen(struct unpack *unpack, const struct unpack_object *object,
                       const uint8_t *bytes, size_t len, enum kind kind, enum kind seen);

/* Gives another form of an object, which lies where the object does. */
bool unpack_form(struct unpack *unpack, const struct unpack_object *object, const uint8_t *bytes,
                 size_t len, enum kind kind);

/* The buffer for the children of an object, empty. One is there for each depth. */
struct unpack_buffer *unpack_buffer(struct unpack *unpack, const struct unpack_object *object);

/* An own buffer with the limits of the scan; unpack_buffer_free. */
void unpack_buffer_init(const struct unpack *unpack, struct unpack_buffer *buffer);

/* Says why an object was not fully opened. The first reason of a file counts. */
void unpack_incomplete(struct unpack *unpack, const struct unpack_object *object,
                       const char *reason);

/* Says which limit was reached ("MaxFileSize"). */
void unpack_limited(struct unpack *unpack, const char *limit);

/* The same for a buffer that is cut. */
void unpack_cut(struct unpack *unpack, const struct unpack_buffer *buffer);

/* A content that an option makes a finding: "Heuristics.Encrypted.Zip". */
void unpack_alert(struct unpack *unpack, enum unpack_alert alert, const char *name);

/* Gives records of links, at most UNPACK_LINKS_LEN_MAX bytes (message.h). */
void unpack_links(struct unpack *unpack, const uint8_t *records, size_t len);

/* The password at *at, which then is the next one's place. False: there is none. */
bool unpack_next_password(const struct unpack *unpack, size_t *at, const uint8_t **password,
                          size_t *len);

bool unpack_is_over(const struct unpack *unpack);
const struct unpack_request *unpack_wishes(const struct unpack *unpack);

/* ---- the readers ----------------------------------------------------------------------------- */

typedef void unpack_reader(struct unpack *unpack, const struct unpack_object *object);

/* The group of kinds that an option leaves closed. */
enum unpack_group unpack_group_of(enum kind kind);

/* NULL: none opens that kind. */
unpack_reader *unpack_reader_of(enum kind kind);

/* Whether its reader gives all of an object: nothing else is searched for archives. */
bool unpack_reads_all(enum kind kind);

unpack_reader unpack_gzip, unpack_rtf, unpack_tnef, unpack_cab, unpack_chm, unpack_szdd, unpack_pdf,
    unpack_html, unpack_ole2, unpack_mail, unpack_encoded, unpack_tar, unpack_zip, unpack_archive,
    unpack_compressed, unpack_7z, unpack_swf, unpack_text, unpack_lha, unpack_arj, unpack_nsis,
    unpack_hwp3, unpack_xar, unpack_iso, unpack_onenote;

/* Alerts of programs and images that are broken. */
void unpack_report_broken(struct unpack *unpack, const struct unpack_object *object);

/* Whether a length is within a limit, of which 0 is none. */
static inline bool unpack_is_allowed(uint64_t len, uint64_t limit)
{
    return limit == 0 || len <= limit;
}

/* Whether an HTML is searched in its normal forms, and not as it is. */
bool html_is_normalized(const struct unpack *unpack, const struct unpack_object *object);

/* Gives the links of a text in a mail, which may be an HTML. */
void html_read_links(struct unpack *unpack, const struct unpack_object *object);

/* A file that was dragged into a document, as its native data has it, which begins with a length.
 */
void office_give_native(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *at, size_t len);

/* Archives in the midst of an object, of any kind, but of its own. */
void unpack_embedded(struct unpack *unpack, const struct unpack_object *object, size_t from,
                     size_t to);

/* Gives what lies from `at` on, behind a container's end. Zeros before it are none of it. */
void unpack_rest(struct unpack *unpack, const struct unpack_object *object, size_t at);

/* Gives what a deflated stream holds, and `reason` where it is cut or damaged. NULL: bytes that are
 * not whole are no such stream, and nothing is given. */
void unpack_deflated(struct unpack *unpack, const struct unpack_object *object, const uint8_t *in,
                     size_t len, enum inflate_format format, const char *reason);

/* The members of a zip by their local headers, or, `embedded`, by those that no other bytes are
 * likely to be. Returns their number. */
uint64_t unpack_zip_members(struct unpack *unpack, const struct unpack_object *object,
                            bool embedded);

/* Whether a text is searched in its normal form where signatures ask for a text. */
bool text_is_normalized(const struct unpack *unpack, const struct unpack_object *object);

/* A text in its normal form, of at most len bytes. Returns its length. */
size_t text_normalize(const uint8_t *in, size_t len, uint8_t *out);

#endif
