/* SPDX-License-Identifier: MIT */
#include "scanned_trees.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/console.h"
#include "random.h"
#include "tunnel_content.h"

enum {
    FILES = 8,
    IN_EACH = 8, /* documents */
    SHORTEST = 2 << 10,
    SIZES = 8, /* each twice the one before */
    PATH_LEN = 128
};

const char *const scanned_tree_names[SCANNED_TREES] = {"plain", "mail", "stored", "deflated",
                                                       "mixed", "bz2",  "xz",     "7z"};

/* How the documents of a file are written. */
enum form { PLAIN, MAIL, STORED, DEFLATED, BZ2, XZ, SEVENZIP, TAR, TAR_GZIP, SCRIPTS, PROGRAMS };

static const enum form forms[SCANNED_TREES] = {PLAIN, MAIL, STORED, DEFLATED,
                                               PLAIN, BZ2,  XZ,     SEVENZIP};

/* Of the mixed tree. */
static const enum form mixed[FILES] = {PLAIN, MAIL,     STORED,  DEFLATED,
                                       TAR,   TAR_GZIP, SCRIPTS, PROGRAMS};

struct document {
    uint8_t *bytes;
    size_t len;
};

/* Words, and in every fourth document, as in programs, noise and zeros between them. */
static bool make_document(struct document *document, uint32_t number)
{
    enum { PIECE = 512 };
    uint64_t random = number + 1;

    (void)bench_random(&random);
    document->len = (size_t)SHORTEST << number % SIZES;
    document->bytes = malloc(document->len);
    if (document->bytes == NULL)
        return false;
    tunnel_content_fill(document->bytes, document->len, TUNNEL_TEXT, number + 1);
    for (size_t at = 0; number % 4 == 3 && at < document->len; at += 3 * PIECE) {
        tunnel_content_fill(document->bytes + at, PIECE, TUNNEL_NEW, bench_random(&random));
        memset(document->bytes + at, 0, bench_random(&random) % PIECE);
    }
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Closes a file. False: an error was printed. */
static bool end_file(FILE *file, const char *path)
{
    const bool written = file != NULL && ferror(file) == 0;

    if (file != NULL && fclose(file) == 0 && written)
        return true;
    cli_error("%s: %s", path, strerror(errno));
    return false;
}

/* A file each, which begins with a magic number, or with none. */
static bool write_plain(const char *path, const char *magic, const struct document *documents)
{
    char name[PATH_LEN + 8];

    for (int i = 0; i < IN_EACH; i++) {
        snprintf(name, sizeof name, "%s.%d", path, i);
        FILE *file = fopen(name, "wb");
        if (file != NULL) {
            fputs(magic, file);
            fwrite(documents[i].bytes, 1, documents[i].len, file);
        }
        if (!end_file(file, name))
            return false;
    }
    return true;
}

/* In lines of 76 characters. */
static void write_base64(FILE *file, const struct document *document)
{
    enum { LINE = 57 };
    unsigned char line[LINE * 4 / 3 + 4];

    for (size_t at = 0; at < document->len; at += LINE) {
        const size_t len = document->len - at < LINE ? document->len - at : LINE;
        const int n = EVP_EncodeBlock(line, document->bytes + at, (int)len);

        fprintf(file, "%.*s\r\n", n, (const char *)line);
    }
}

static bool write_mail(const char *path, const struct document *documents)
{
    FILE *file = fopen(path, "wb");

    if (file != NULL) {
        fputs("From: a@example.com\r\nSubject: documents\r\nMIME-Version: 1.0\r\n"
              "Content-Type: multipart/mixed; boundary=\"next\"\r\n\r\n",
              file);
        for (int i = 0; i < IN_EACH; i++) {
            fputs("--next\r\nContent-Type: application/octet-stream\r\n"
                  "Content-Transfer-Encoding: base64\r\n\r\n",
                  file);
            write_base64(file, &documents[i]);
        }
        fputs("--next--\r\n", file);
    }
    return end_file(file, path);
}

static int set_filter(struct archive *archive, enum form form)
{
    switch (form) {
    case BZ2:
        return archive_write_add_filter_bzip2(archive);
    case XZ:
        return archive_write_add_filter_xz(archive);
    case TAR_GZIP:
        return archive_write_add_filter_gzip(archive);
    default:
        return ARCHIVE_OK;
    }
}

static bool set_format(struct archive *archive, enum form form)
{
    switch (form) {
    case STORED:
    case DEFLATED:
        return archive_write_set_format_zip(archive) == ARCHIVE_OK &&
               archive_write_set_options(archive, form == STORED
                                                      ? "zip:compression=store"
                                                      : "zip:compression=deflate") == ARCHIVE_OK;
    case SEVENZIP:
        return archive_write_set_format_7zip(archive) == ARCHIVE_OK;
    default:
        return set_filter(archive, form) == ARCHIVE_OK &&
               archive_write_set_format_ustar(archive) == ARCHIVE_OK;
    }
}

static bool put_document(struct archive *archive, struct archive_entry *entry, int number,
                         const struct document *document)
{
    char name[16];

    snprintf(name, sizeof name, "%d", number);
    archive_entry_clear(entry);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (int64_t)document->len);
    return archive_write_header(archive, entry) == ARCHIVE_OK &&
           archive_write_data(archive, document->bytes, document->len) == (la_ssize_t)document->len;
}

static bool write_archive(const char *path, const struct document *documents, enum form form)
{
    struct archive *archive = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    bool good = archive != NULL && entry != NULL && set_format(archive, form) &&
                archive_write_open_filename(archive, path) == ARCHIVE_OK;

    for (int i = 0; i < IN_EACH && good; i++)
        good = put_document(archive, entry, i, &documents[i]);
    good = good && archive_write_close(archive) == ARCHIVE_OK;
    if (!good)
        cli_error("%s: %s", path,
                  archive != NULL ? archive_error_string(archive) : "out of memory");
    archive_entry_free(entry);
    archive_write_free(archive);
    return good;
}

static bool write_as(enum form form, const char *path, const struct document *documents)
{
    switch (form) {
    case PLAIN:
        return write_plain(path, "", documents);
    case SCRIPTS:
        return write_plain(path, "#!/bin/sh\n", documents);
    case PROGRAMS:
        return write_plain(path, "\177ELF", documents);
    case MAIL:
        return write_mail(path, documents);
    default:
        return write_archive(path, documents, form);
    }
}

static bool write_file_of(const char *folder, const struct document *documents, int number)
{
    char path[PATH_LEN];
    bool good = true;

    for (int tree = 0; tree < SCANNED_TREES && good; tree++) {
        snprintf(path, sizeof path, "%.80s/%s/%d", folder, scanned_tree_names[tree], number);
        good = write_as(tree == TREE_MIXED ? mixed[number] : forms[tree], path, documents);
    }
    return good;
}

bool scanned_trees_make(const char *folder, uint64_t *len)
{
    char path[PATH_LEN];

    *len = 0;
    for (int kind = 0; kind < SCANNED_TREES; kind++) {
        snprintf(path, sizeof path, "%.80s/%s", folder, scanned_tree_names[kind]);
        if (mkdir(path, 0700) != 0) {
            cli_error("%s: %s", path, strerror(errno));
            return false;
        }
    }
    bool good = true;
    for (int number = 0; number < FILES && good; number++) {
        struct document documents[IN_EACH] = {0};

        for (int i = 0; i < IN_EACH && good; i++) {
            good = make_document(&documents[i], (uint32_t)(number * IN_EACH + i));
            *len += documents[i].len;
        }
        if (!good)
            cli_error("no memory for documents");
        good = good && write_file_of(folder, documents, number);
        for (int i = 0; i < IN_EACH; i++)
            free(documents[i].bytes);
    }
    return good;
}

/* ---- unpacked -------------------------------------------------------------------------------- */

/* The bytes of a member; below 0: it is damaged. */
static int64_t read_member(struct archive *archive)
{
    uint8_t bytes[1 << 14];
    int64_t len = 0;
    la_ssize_t n;

    while ((n = archive_read_data(archive, bytes, sizeof bytes)) > 0)
        len += n;
    return n < 0 ? n : len;
}

static uint64_t unpack_file(const char *path)
{
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    uint64_t len = 0;
    int64_t n = 0;

    if (archive == NULL)
        return 0;
    archive_read_support_filter_all(archive);
    archive_read_support_format_all(archive);
    int status = archive_read_open_filename(archive, path, 1 << 16);
    while (status == ARCHIVE_OK && n >= 0) {
        status = archive_read_next_header(archive, &entry);
        n = status == ARCHIVE_OK ? read_member(archive) : 0;
        len += n > 0 ? (uint64_t)n : 0;
    }
    archive_read_free(archive);
    return status == ARCHIVE_EOF ? len : 0;
}

uint64_t scanned_tree_unpack(const char *folder)
{
    char path[PATH_LEN];
    uint64_t all = 0;

    for (int number = 0; number < FILES; number++) {
        snprintf(path, sizeof path, "%.110s/%d", folder, number);
        const uint64_t len = unpack_file(path);
        if (len == 0)
            return 0;
        all += len;
    }
    return all;
}
