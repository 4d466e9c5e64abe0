/* SPDX-License-Identifier: MIT */
#include "names_texts.h"

#include <stdlib.h>

#include "base/diag.h"

enum { NAMES_BYTES = 4 << 20 }; /* of the names of a batch */

struct names_texts {
    struct sl_names_reader *reader;
    enum sl_name_syntax syntax;
    sl_names_take *take;
    void *user;

    struct sl_names_result result[SL_NAMES_BATCH_MAX];
    uint64_t heads[SL_NAMES_BATCH_MAX];
    uint32_t n_results;
    struct sl_name name[SL_NAMES_BATCH_MAX];
    struct sl_names_answer answer[SL_NAMES_BATCH_MAX];
    uint32_t n_names;
    uint32_t bytes_len;
    uint8_t bytes[NAMES_BYTES];
};

enum sl_status names_texts_open(struct names_texts **opened,
                                const struct sl_names_stream_config *config, sl_names_take *take,
                                void *user, struct sl_diag *diag)
{
    struct names_texts *const texts = malloc(sizeof *texts);

    *opened = NULL;
    if (texts == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    texts->syntax = config->syntax;
    texts->take = take;
    texts->user = user;
    texts->n_results = texts->n_names = texts->bytes_len = 0;
    const enum sl_status status =
        sl_names_reader_open(&texts->reader, config->names, config->device, diag);
    if (status != SL_OK) {
        free(texts);
        return status;
    }
    *opened = texts;
    return SL_OK;
}

void names_texts_close(struct names_texts *texts)
{
    if (texts != NULL)
        sl_names_reader_close(texts->reader);
    free(texts);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static const char *trim(const char *text, size_t *len)
{
    const char *end = text + *len;

    while (text < end && is_blank(*text))
        text++;
    while (end > text && (is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    *len = (size_t)(end - text);
    return text;
}

static bool is_full(const struct names_texts *texts)
{
    return texts->n_results == SL_NAMES_BATCH_MAX ||
           sizeof texts->bytes - texts->bytes_len < SL_NAME_LEN_MAX;
}

/* Reads a result's text as a name of the batch, which has room. */
static void read_name(struct names_texts *texts, struct sl_names_result *result)
{
    struct sl_name *const name = &texts->name[texts->n_names];

    result->why = sl_name_read(name, texts->syntax, texts->bytes + texts->bytes_len,
                               (uint32_t)(sizeof texts->bytes) - texts->bytes_len, result->text,
                               result->text_len);
    if (result->why != NULL)
        return;
    result->name = name;
    result->answer = &texts->answer[texts->n_names++];
    texts->bytes_len += name->len;
}

enum sl_status names_texts_add(struct names_texts *texts, const char *text, size_t len,
                               const char *why, struct sl_diag *diag)
{
    const enum sl_status status = is_full(texts) ? names_texts_flush(texts, diag) : SL_OK;

    if (status != SL_OK)
        return status;
    texts->heads[texts->n_results] = 0;
    struct sl_names_result *const result = &texts->result[texts->n_results++];

    *result = (struct sl_names_result){.why = why};
    result->text = trim(text, &len);
    result->text_len = len;
    if (why == NULL)
        read_name(texts, result);
    return SL_OK;
}

enum sl_status names_texts_add_plain(struct names_texts *texts, const char *text,
                                     const struct name_plain *plain, struct sl_diag *diag)
{
    const enum sl_status status = is_full(texts) ? names_texts_flush(texts, diag) : SL_OK;

    if (status != SL_OK)
        return status;
    const uint32_t i = texts->n_names++;
    struct sl_name *const name = &texts->name[i];
    uint8_t *const bytes = texts->bytes + texts->bytes_len;

    texts->heads[texts->n_results] = name_plain_read(bytes, &name->len, text, plain);
    name->bytes = bytes;
    name->host_len = name->len;
    name->syntax = SL_NAME_NDN;
    texts->bytes_len += name->len;
    texts->result[texts->n_results++] = (struct sl_names_result){
        .text = text, .text_len = plain->len, .name = name, .answer = &texts->answer[i]};
    return SL_OK;
}

const uint64_t *names_texts_heads(const struct names_texts *texts)
{
    return texts->heads;
}

enum sl_status names_texts_flush(struct names_texts *texts, struct sl_diag *diag)
{
    const uint32_t n = texts->n_results;
    const enum sl_status status =
        sl_names_lookup(texts->reader, texts->name, texts->n_names, texts->answer);

    texts->n_results = texts->n_names = texts->bytes_len = 0;
    if (status != SL_OK)
        return diag_set(diag, status, NULL, 0, "look-ups failed: %s", sl_status_text(status));
    return n == 0 ? SL_OK : texts->take(texts->user, texts->result, n);
}
