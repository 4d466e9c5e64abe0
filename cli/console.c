/* SPDX-License-Identifier: MIT */
#include "console.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grouped.h"
#include "base/utf8.h"
#include "json_text.h"

enum { PRINTABLE_LEN = 2 * UTF8_ESCAPE_LEN }; /* of a character: two bytes of a control at most */

/* Takes the next character, writes it as a terminal may see it; returns the bytes written. */
static size_t take_printable(const uint8_t **at, const uint8_t *end, char out[PRINTABLE_LEN])
{
    const size_t len = utf8_len(*at, end);
    const size_t taken = len > 0 ? len : 1;
    size_t n = 0;

    if (len > 0 && !utf8_is_control(*at)) {
        memcpy(out, *at, len);
        n = len;
    } else {
        for (; n < taken * UTF8_ESCAPE_LEN; n += UTF8_ESCAPE_LEN)
            utf8_escape(out + n, (*at)[n / UTF8_ESCAPE_LEN]);
    }
    *at += taken;
    return n;
}

char *cli_printable(const char *text, char *out, size_t out_len)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    size_t n = 0;

    while (at < end) {
        char character[PRINTABLE_LEN];
        const size_t len = take_printable(&at, end, character);

        if (n + len >= out_len) /* no part of a character */
            break;
        memcpy(out + n, character, len);
        n += len;
    }
    out[n] = '\0';
    return out;
}

void cli_error(const char *format, ...)
{
    char text[4 * PATH_MAX], character[PRINTABLE_LEN];
    const uint8_t *at = (const uint8_t *)text;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputs("sluice: ", stderr);
    for (const uint8_t *end = at + strlen(text); at < end;)
        fwrite(character, 1, take_printable(&at, end, character), stderr);
    fputc('\n', stderr);
}

void cli_diag(const struct sl_diag *diag)
{
    char text[sizeof diag->file + sizeof diag->text + 16];

    sl_diag_format(diag, text, sizeof text);
    cli_error("%s", text);
}

/* A closed standard descriptor would become the first file that is opened, and output would go into
 * it. A descriptor that refuses every write takes its place. */
bool cli_hold_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int cli_finish(int exit_status)
{
    errno = 0;
    if (!cli_json_is_whole()) {
        cli_error("no memory for all of the JSON");
        return EXIT_FAILED;
    }
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_status;
    cli_error("standard output: cannot be written%s%s", errno != 0 ? ": " : "",
              errno != 0 ? strerror(errno) : "");
    return EXIT_FAILED;
}

static bool is_one(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool cli_is_one_file(const char *a, const char *b)
{
    struct stat there;

    return strcmp(a, b) == 0 || (stat(a, &there) == 0 && S_ISREG(there.st_mode) && is_one(a, b));
}

/* Whether the path is one of a file right in this folder. */
static bool lies_in(const char *path, const char *folder)
{
    const char *const slash = strrchr(path, '/');
    char around[PATH_MAX];

    if (slash != NULL && slash - path >= PATH_MAX - 1)
        return false;
    snprintf(around, sizeof around, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    return is_one(around, folder);
}

bool cli_is_input(const char *out, const char *in)
{
    struct stat there;

    if (stat(out, &there) != 0 || !S_ISREG(there.st_mode) || !(is_one(out, in) || lies_in(out, in)))
        return false;
    cli_error("%s: is read, and would be written (expected another file)", out);
    return true;
}

char *cli_count(uint64_t value, char out[32])
{
    const struct grouped count = grouped(value);

    return memcpy(out, count.text, sizeof count.text);
}

char *cli_bytes(double bytes, char out[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int unit = 0;

    while (bytes >= 999.5 && unit < 5) {
        bytes /= 1000;
        unit++;
    }
    snprintf(out, 32, unit == 0 || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return out;
}

/* A number at the text's begin; *end is behind it. */
static bool parse_digits(const char *text, uint64_t *value, char **end)
{
    errno = 0;
    *value = strtoull(text, end, 10);
    return *text >= '0' && *text <= '9' && errno == 0;
}

bool cli_parse_number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;

    return parse_digits(text, value, &end) && *end == '\0' && *value <= max;
}

bool cli_parse_number_of(const char *option, const char *text, uint64_t lowest, uint64_t highest,
                         const char *unit, uint64_t *value)
{
    if (cli_parse_number(text, highest, value) && *value >= lowest)
        return true;
    cli_error("%s '%s' (expected %" PRIu64 " to %" PRIu64 "%s)", option, text, lowest, highest,
              unit);
    return false;
}

bool cli_parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMG";
    uint64_t value;
    char *end;

    if (!parse_digits(text, &value, &end))
        return false;
    const char *const unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if ((*end != '\0' && (unit == NULL || end[1] != '\0')) || value > UINT64_MAX >> shift)
        return false;
    *bytes = value << shift;
    return true;
}
