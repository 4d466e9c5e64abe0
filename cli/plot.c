/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "console.h"

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* In single quotes, with those in it doubled; a line's end would end the string. */
void plot_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc(is_control(*text) ? '?' : *text, script);
    }
    fputc('\'', script);
}

/* gnuplot goes on where it cannot open its file, and writes the picture to standard output. */
static bool can_write(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file != NULL && fclose(file) == 0)
        return true;
    cli_error("--plot '%s': %s", path, strerror(errno));
    return false;
}

FILE *plot_begin(const char *path, unsigned width, unsigned height)
{
    FILE *script;
    char safe[512];

    for (const char *at = path; *at != '\0'; at++) {
        if (is_control(*at)) {
            cli_error("--plot '%s': control characters in a path",
                      cli_printable(path, safe, sizeof safe));
            return NULL;
        }
    }
    if (!can_write(path))
        return NULL;
    signal(SIGPIPE, SIG_IGN); /* until plot_end: gnuplot may be missing, or end early */
    script = popen("gnuplot >/dev/null", "w");
    if (script == NULL) {
        cli_error("--plot '%s': gnuplot cannot be started: %s", path, strerror(errno));
        return NULL;
    }
    fprintf(script,
            "set terminal svg size %u,%u dynamic background rgb 'white' font 'sans,13'\n"
            "set output ",
            width, height);
    plot_quoted(script, path);
    fputc('\n', script);
    return script;
}

bool plot_end(FILE *script, const char *path)
{
    fputs("set output\n", script);
    const int status = pclose(script);
    signal(SIGPIPE, SIG_DFL);
    if (status != 0)
        cli_error("--plot '%s': gnuplot failed (is it installed?)", path);
    return status == 0;
}
