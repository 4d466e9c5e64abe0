/* SPDX-License-Identifier: MIT */
/* Files that HTTP and SMTP carry: the body of a response, that of a PUT or POST, the files of one
 * in several parts (multipart/form-data), and the attachments of a mail. They are hashed and
 * inspected as their bytes come.
 *
 * A flow holds at most one file a side: its name of APP_FILE_NAME_MAX bytes, the state of the
 * hashes, and where its kind is asked for its first APP_FILE_MAGIC_LEN bytes. */
#ifndef APP_FILE_H
#define APP_FILE_H

#include "app_parser.h"
#include "sluice/app.h"

enum {
    APP_FILE_NAME_MAX = 1024,  /* bytes of a name that are kept */
    APP_FILE_MAGIC_LEN = 4096, /* bytes that libmagic sees */
    APP_FILE_MAGIC_TEXT_MAX = 1024
};

/* The results wanted of files. */
struct app_file_config {
    uint8_t hashes; /* as bits: enum sl_file_hash */
    bool magic;
};

/* The set of tools that makes them. A thread uses one at a time. */
struct app_file_tools;

/* NULL: there is no memory. */
struct app_file_tools *app_file_tools_create(const struct app_file_config *config);
void app_file_tools_free(struct app_file_tools *tools); /* accepts NULL */

/* The reason that files lack what was asked for: libmagic cannot be used, or libcrypto lacks a
 * hash. NULL: they lack nothing. */
const char *app_file_tools_fault(const struct app_file_tools *tools);

struct app_file_listener {
    /* The next bytes of a file: `offset` is that of the first in the file. NULL: not wanted. */
    void (*give)(void *to, const struct sl_app_file *file, uint64_t offset, const uint8_t *bytes,
                 uint32_t len);
    /* The file is over. It and what it points to are valid during the call. */
    void (*end)(void *to, const struct sl_app_file *file);
    void *to;
};

struct app_file; /* one that is open, or a body that may have files */

/* The files of a flow. Zeroed at first. */
struct app_files {
    struct app_file *open[2]; /* by side */
    uint64_t mail;            /* the transaction of SMTP that has these: */
    uint32_t n_attachments;
};

/* Takes the next news of HTTP or SMTP. False: there is no memory, and bytes are missing in the
 * file. */
bool app_files_take(struct app_files *files, struct app_file_tools *tools,
                    const struct app_news *news, const struct app_file_listener *listener);

/* The flow is over, or gives way. Files that are open are not reported: the end of their bodies
 * was, or nobody listens. */
void app_files_free(struct app_files *files);

uint64_t app_files_held(const struct app_files *files); /* bytes of memory, but for libcrypto's */

#endif
