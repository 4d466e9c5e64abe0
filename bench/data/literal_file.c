/* SPDX-License-Identifier: MIT */
#include "literal_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "cli/console.h"

/* Where a literal is being read. */
struct place {
    const char *path;
    uint64_t line;
};

static bool refuse(const struct place *place, const char *why)
{
    cli_error("%s:%" PRIu64 ": %s", place->path, place->line, why);
    return false;
}

/* Decodes |hex| in place from behind its first bar; NULL: refused. */
static const char *decode_hex(const struct place *place, const char *at, const char *end,
                              uint8_t **to)
{
    int high = -1;

    for (; at < end && *at != '|'; at++) {
        const int digit = hex_digit(*at);

        if (digit < 0 && *at != ' ') {
            refuse(place, "what stands between bars is not hexadecimal");
            return NULL;
        }
        if (digit < 0)
            continue;
        if (high >= 0)
            *(*to)++ = (uint8_t)(high << 4 | digit);
        high = high >= 0 ? -1 : digit;
    }
    if (at == end || high >= 0) {
        refuse(place, at == end ? "a bar has no other (a bar itself is written |7C|)"
                                : "half a hexadecimal byte");
        return NULL;
    }
    return at + 1;
}

/* Decodes a line in place: decoded text is never longer. */
static bool decode_line(const struct place *place, char *line, const char *end,
                        struct sl_literal *literal)
{
    uint8_t *to = (uint8_t *)line;
    const char *at = line;

    *literal = (struct sl_literal){.bytes = to};
    while (at < end && *at != ';') {
        if (*at == '|') {
            at = decode_hex(place, at + 1, end, &to);
            if (at == NULL)
                return false;
            continue;
        }
        if (*at == '\\' && (++at == end || memchr("\":;\\", *at, 4) == NULL))
            return refuse(place, "a backslash before none of \" : ; \\");
        *to++ = (uint8_t)*at++;
    }
    if (at < end) {
        if (end - at != 7 || memcmp(at, ";nocase", 7) != 0)
            return refuse(place, "only 'nocase' may stand behind ';' (a semicolon itself is "
                                 "written \\;)");
        literal->flags = SL_LITERAL_NOCASE;
    }
    if (to == literal->bytes)
        return refuse(place, "an empty literal");
    if ((size_t)(to - literal->bytes) > SL_LITERAL_LEN_MAX)
        return refuse(place, "a literal of more than 4096 bytes");
    literal->len = (uint32_t)(to - literal->bytes);
    return true;
}

/* The whole file, with a newline at its end; NULL: an error was printed. */
static char *read_whole(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    size_t cap = 1 << 16, n = 1;
    char *text = malloc(cap);

    *len = 0;
    while (file != NULL && text != NULL && n != 0) {
        if (*len + 1 == cap) {
            char *longer = realloc(text, cap *= 2);

            if (longer == NULL)
                break;
            text = longer;
        }
        n = fread(text + *len, 1, cap - 1 - *len, file);
        *len += n;
    }
    if (file == NULL || n != 0 || ferror(file)) {
        cli_error("%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    } else {
        text[(*len)++] = '\n';
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static bool add(struct literal_files *files, size_t *cap, const struct sl_literal *literal)
{
    if (files->n == *cap) {
        const size_t longer_cap = *cap * 2 + 1024;
        struct sl_literal *longer = realloc(files->literal, longer_cap * sizeof *longer);

        if (longer == NULL) {
            cli_error("no memory for %zu literals", longer_cap);
            return false;
        }
        files->literal = longer;
        *cap = longer_cap;
    }
    files->literal[files->n++] = *literal;
    return true;
}

/* Empty lines and those that begin with '#' are no literals. */
static bool read_file(struct literal_files *files, size_t *cap, const char *path)
{
    struct place place = {path, 0};
    size_t len;
    char *line = read_whole(path, &len);

    if (line == NULL)
        return false;
    files->text[files->n_files++] = line;
    for (char *end_of_file = line + len, *next; line < end_of_file; line = next) {
        char *end = memchr(line, '\n', (size_t)(end_of_file - line));
        struct sl_literal literal;

        next = end + 1;
        place.line++;
        if (end > line && end[-1] == '\r')
            end--;
        if (end == line || *line == '#')
            continue;
        if (!decode_line(&place, line, end, &literal) || !add(files, cap, &literal))
            return false;
    }
    return true;
}

bool literal_files_load(struct literal_files *files, const char *const *paths, size_t n_paths)
{
    size_t cap = 0;

    *files = (struct literal_files){.text = calloc(n_paths + 1, sizeof *files->text)};
    if (files->text == NULL) {
        cli_error("no memory for %zu files", n_paths);
        return false;
    }
    for (size_t i = 0; i < n_paths; i++)
        if (!read_file(files, &cap, paths[i]))
            return false;
    if (files->n != 0)
        return true;
    cli_error("%s: no literal in it", paths[n_paths - 1]);
    return false;
}

void literal_files_free(struct literal_files *files)
{
    for (size_t i = 0; i < files->n_files; i++)
        free(files->text[i]);
    free(files->text);
    free(files->literal);
}
