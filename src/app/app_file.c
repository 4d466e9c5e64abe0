/* SPDX-License-Identifier: MIT */
#include "app_file.h"

#include <magic.h>
#include <openssl/evp.h>

#include "http.h"
#include "multipart.h"

/* ---- tools ----------------------------------------------------------------------------------- */

struct app_file_tools {
    EVP_MD *md[SL_N_FILE_HASHES]; /* NULL: not asked for */
    magic_t magic;                /* NULL: not asked for */
    const char *fault;
};

static void open_magic(struct app_file_tools *tools)
{
    tools->magic = magic_open(MAGIC_NO_CHECK_COMPRESS);
    if (tools->magic != NULL && magic_load(tools->magic, NULL) != 0) {
        magic_close(tools->magic);
        tools->magic = NULL;
    }
    if (tools->magic == NULL)
        tools->fault = "libmagic finds no database of kinds of files";
}

struct app_file_tools *app_file_tools_create(const struct app_file_config *config)
{
    static const char *const names[SL_N_FILE_HASHES] = {"MD5", "SHA1", "SHA256"};
    struct app_file_tools *tools = calloc(1, sizeof *tools);

    for (int i = 0; tools != NULL && i < SL_N_FILE_HASHES; i++) {
        if ((config->hashes >> i & 1) == 0)
            continue;
        tools->md[i] = EVP_MD_fetch(NULL, names[i], NULL);
        if (tools->md[i] == NULL)
            tools->fault = "libcrypto lacks a hash of files";
    }
    if (tools != NULL && config->magic)
        open_magic(tools);
    return tools;
}

void app_file_tools_free(struct app_file_tools *tools)
{
    if (tools == NULL)
        return;
    for (int i = 0; i < SL_N_FILE_HASHES; i++)
        EVP_MD_free(tools->md[i]);
    if (tools->magic != NULL)
        magic_close(tools->magic);
    free(tools);
}

const char *app_file_tools_fault(const struct app_file_tools *tools)
{
    return tools->fault;
}

/* ---- a file ---------------------------------------------------------------------------------- */

struct app_file {
    struct sl_app_file report;
    bool is_open; /* `report` is that of a file whose bytes come */
    bool no_memory;
    uint64_t body_len; /* bytes of the body so far, with gaps */
    uint32_t n_files;  /* of the body so far */
    EVP_MD_CTX *hash[SL_N_FILE_HASHES];
    uint8_t *begin; /* the first bytes, for libmagic */
    uint32_t begin_len;
    struct app_text name;
    struct multipart *parts; /* NULL: the body is the file */
};

/* A call of this module. */
struct taking {
    struct app_file *file;
    struct app_file_tools *tools;
    const struct app_file_listener *listener;
};

static void open_hash(struct app_file *file, const struct app_file_tools *tools, int hash)
{
    if (tools->md[hash] == NULL)
        return;
    file->hash[hash] = EVP_MD_CTX_new();
    file->no_memory |= file->hash[hash] == NULL ||
                       EVP_DigestInit_ex2(file->hash[hash], tools->md[hash], NULL) != 1;
}

static void begin_file(const struct taking *taking, struct app_span name)
{
    struct app_file *const file = taking->file;

    file->report = (struct sl_app_file){.number = file->n_files++};
    file->is_open = true;
    file->name.len = 0;
    app_text_add(&file->name, name.bytes,
                 name.len < APP_FILE_NAME_MAX ? name.len : (uint32_t)APP_FILE_NAME_MAX);
    file->report.name =
        (struct sl_app_value){file->name.bytes, file->name.len, (uint32_t)SL_FILE_NAME};
    for (int i = 0; i < SL_N_FILE_HASHES; i++)
        open_hash(file, taking->tools, i);
    file->begin_len = 0;
    if (taking->tools->magic != NULL && file->begin == NULL) {
        file->begin = malloc(APP_FILE_MAGIC_LEN);
        file->no_memory |= file->begin == NULL;
    }
}

static void give_file(const struct taking *taking, const uint8_t *bytes, uint32_t len)
{
    struct app_file *const file = taking->file;
    const uint32_t room = file->begin != NULL ? APP_FILE_MAGIC_LEN - file->begin_len : 0;
    const uint32_t n_begin = len < room ? len : room;

    if (!file->is_open || file->no_memory)
        return;
    for (int i = 0; i < SL_N_FILE_HASHES; i++)
        if (file->hash[i] != NULL)
            file->no_memory |= EVP_DigestUpdate(file->hash[i], bytes, len) != 1;
    if (n_begin != 0 && !file->report.has_gaps) {
        memcpy(file->begin + file->begin_len, bytes, n_begin);
        file->begin_len += n_begin;
    }
    if (taking->listener->give != NULL)
        taking->listener->give(taking->listener->to, &file->report, file->report.size, bytes, len);
    file->report.size += len;
}

/* The hash of a file that came in part says nothing, but that of one cut at its end is reported, as
 * Suricata reports it. */
static void end_hashes(struct app_file *file)
{
    for (int i = 0; i < SL_N_FILE_HASHES; i++) {
        if (file->hash[i] != NULL && !file->report.has_gaps && !file->no_memory &&
            EVP_DigestFinal_ex(file->hash[i], file->report.hash[i], NULL) == 1)
            file->report.hashes |= (uint8_t)(1 << i);
        EVP_MD_CTX_free(file->hash[i]);
        file->hash[i] = NULL;
    }
}

static void end_file(const struct taking *taking, enum sl_file_state state)
{
    struct app_file *const file = taking->file;

    if (!file->is_open)
        return;
    file->is_open = false;
    file->report.state = (uint8_t)(file->no_memory ? SL_FILE_TRUNCATED : state);
    end_hashes(file);
    if (file->begin_len != 0) {
        const char *magic = magic_buffer(taking->tools->magic, file->begin, file->begin_len);
        const size_t len = magic != NULL ? strnlen(magic, APP_FILE_MAGIC_TEXT_MAX) : 0;

        file->report.magic =
            (struct sl_app_value){(const uint8_t *)magic, (uint32_t)len, (uint32_t)SL_FILE_MAGIC};
    }
    taking->listener->end(taking->listener->to, &file->report);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void begin_part(void *to, struct app_span filename)
{
    if (filename.len != 0)
        begin_file(to, filename);
}

static void give_part(void *to, const uint8_t *bytes, uint32_t len)
{
    give_file(to, bytes, len);
}

static void end_part(void *to)
{
    end_file(to, SL_FILE_CLOSED);
}

static bool get_field(struct app_span *value, const struct app_news *news, enum http_name name,
                      struct app_text *text)
{
    return http_field_get(value, news->transaction, (enum app_side)news->side, name, text);
}

/* The name that the server gives, else the path of the URI. */
static void name_of_body(const struct app_news *news, struct app_span *name, struct app_text *text)
{
    struct app_span field;

    *name = (struct app_span){0};
    if (news->side == APP_SERVER && get_field(&field, news, HTTP_CONTENT_DISPOSITION, text))
        *name = multipart_parameter(field, "filename");
    if (name->len == 0 && http_value_get(name, news->transaction, APP_CLIENT, SL_HTTP_URI, text)) {
        const uint8_t *query = name->len != 0 ? memchr(name->bytes, '?', name->len) : NULL;

        if (query != NULL)
            name->len = (uint32_t)(query - name->bytes);
    }
}

/* Whether the side's body is of files: each of a server's, and those of PUT and POST. */
static bool has_files(const struct app_news *news, struct app_text *text)
{
    struct app_span method;

    if (news->side == APP_SERVER)
        return true;
    return http_value_get(&method, news->transaction, APP_CLIENT, SL_HTTP_METHOD, text) &&
           (http_span_is(method, "put") || http_span_is(method, "post"));
}

/* The body begins. */
static bool open_body(const struct taking *taking, const struct app_news *news)
{
    struct app_text text = {0};
    struct app_span span;
    bool is_one = true; /* file, not several in parts */

    if (!has_files(news, &text)) {
        app_text_free(&text);
        return !text.no_memory;
    }
    if (news->side == APP_CLIENT && get_field(&span, news, HTTP_CONTENT_TYPE, &text)) {
        taking->file->parts = multipart_open(span, &is_one);
        taking->file->no_memory |= !is_one && taking->file->parts == NULL;
    }
    if (is_one) {
        name_of_body(news, &span, &text);
        begin_file(taking, span);
    }
    taking->file->no_memory |= text.no_memory;
    app_text_free(&text);
    return !taking->file->no_memory;
}

static bool open_attachment(struct app_files *files, const struct taking *taking,
                            const struct app_news *news)
{
    if (files->mail != news->number)
        files->n_attachments = 0;
    files->mail = news->number;
    taking->file->n_files = files->n_attachments++;
    begin_file(taking, (struct app_span){news->bytes, news->len});
    return !taking->file->no_memory && !taking->file->name.no_memory;
}

static void free_body(struct app_files *files, uint8_t side)
{
    struct app_file *const file = files->open[side];

    for (int i = 0; i < SL_N_FILE_HASHES; i++)
        EVP_MD_CTX_free(file->hash[i]);
    multipart_close(file->parts);
    app_text_free(&file->name);
    free(file->begin);
    free(file);
    files->open[side] = NULL;
}

static bool take_body(const struct taking *taking, const struct app_news *news)
{
    struct app_file *const file = taking->file;
    const struct multipart_listener parts = {begin_part, give_part, end_part, (void *)taking};

    if (news->offset != file->body_len) {
        file->report.has_gaps = file->is_open;
        if (file->parts != NULL)
            multipart_gap(file->parts, &parts);
    }
    file->body_len = news->offset + news->len;
    if (file->parts == NULL)
        give_file(taking, news->bytes, news->len);
    else
        file->no_memory |= !multipart_give(file->parts, news->bytes, news->len, &parts);
    return !file->no_memory;
}

/* The last part ends at a boundary: where it is open still, it is cut. */
static void end_body(const struct taking *taking, const struct app_news *news)
{
    const uint64_t len =
        news->parser->app == SL_APP_HTTP
            ? ((const struct http_transaction *)news->transaction)->message[news->side].decoded_len
            : news->offset;
    const bool lacks_end = len != taking->file->body_len;
    const bool is_cut = news->cut || lacks_end || taking->file->parts != NULL;

    taking->file->report.has_gaps |= lacks_end;
    end_file(taking, is_cut ? SL_FILE_TRUNCATED : SL_FILE_CLOSED);
}

bool app_files_take(struct app_files *files, struct app_file_tools *tools,
                    const struct app_news *news, const struct app_file_listener *listener)
{
    struct app_file **const open = &files->open[news->side];
    struct taking taking = {*open, tools, listener};
    const bool is_mail = news->parser->app == SL_APP_SMTP;
    bool good = true;

    if (news->kind == (is_mail ? APP_FILE : APP_BODY) && *open == NULL) {
        taking.file = *open = calloc(1, sizeof **open);
        good = *open != NULL &&
               (is_mail ? open_attachment(files, &taking, news) : open_body(&taking, news));
    }
    if (news->kind == APP_BODY && *open != NULL)
        good = take_body(&taking, news) && good;
    if (news->kind == APP_END && *open != NULL) {
        end_body(&taking, news);
        free_body(files, news->side);
    }
    return good;
}

void app_files_free(struct app_files *files)
{
    for (uint8_t side = 0; side < 2; side++)
        if (files->open[side] != NULL)
            free_body(files, side);
}

uint64_t app_files_held(const struct app_files *files)
{
    uint64_t held = 0;

    for (int side = 0; side < 2; side++) {
        const struct app_file *const file = files->open[side];

        if (file != NULL)
            held += sizeof *file + file->name.max + (file->begin != NULL ? APP_FILE_MAGIC_LEN : 0) +
                    (file->parts != NULL ? multipart_held(file->parts) : 0);
    }
    return held;
}
