/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "base/grouped.h"
#include "sinks/event_text.h"

void cli_error(const char *format, ...)
{
    va_list args;

    fputs("sluice: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_diag(const struct sl_diag *diag)
{
    char text[sizeof diag->file + sizeof diag->text + 16];
    char safe[sizeof text];

    sl_diag_format(diag, text, sizeof text);
    cli_error("%s", cli_printable(text, safe, sizeof safe));
}

int cli_bad_option(char **argv, const char *command)
{
    const char *option = argv[optind - 1];
    char letter[3] = {'-', (char)optopt, '\0'};
    char safe[256];

    /* getopt leaves optind behind the argument only for long options and last letters. */
    if (optopt > 0 && optopt < 256 && strncmp(option, "--", 2) != 0)
        option = letter;
    cli_error("option '%s' is not known to '%s', or lacks its argument (sluice %s --help)",
              cli_printable(option, safe, sizeof safe), command, command);
    return EXIT_FAILED;
}

char *cli_count(uint64_t value, char out[32])
{
    return strcpy(out, grouped(value).text);
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

/* Of a well-formed sequence: C0, DEL or C1 (U+0080 to U+009F). */
static bool is_control(const uint8_t *at)
{
    return at[0] < 0x20 || at[0] == 0x7F || (at[0] == 0xC2 && at[1] < 0xA0);
}

char *cli_printable(const char *text, char *out, size_t out_len)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    size_t n = 0;

    while (*at != '\0' && n + 1 < out_len) {
        const size_t len = event_utf8_len(at, end);

        if (len == 0 || is_control(at)) {
            out[n++] = '?';
            at++;
            continue;
        }
        if (n + len >= out_len) /* no half of a character */
            break;
        memcpy(out + n, at, len);
        n += len;
        at += len;
    }
    out[n] = '\0';
    return out;
}
