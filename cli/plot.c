/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

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

bool plot_begin(struct plot *plot, const char *path, unsigned width, unsigned height)
{
    const int fd = memfd_create("plot", 0); /* gnuplot inherits it */
    struct sl_diag diag = {0};

    plot->script = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (plot->script == NULL) {
        cli_error("%s: no memory for a picture: %s", path, strerror(errno));
        return false;
    }
    if (new_file_create(&plot->file, path, &diag) != SL_OK) {
        cli_diag(&diag);
        fclose(plot->script);
        return false;
    }
    fprintf(plot->script,
            "set terminal svg size %u,%u dynamic background rgb 'white' font 'sans,13'\n", width,
            height);
    return true;
}

/* gnuplot says nothing of a full disk, so its output is written here. False: it failed. */
static bool draw(struct plot *plot)
{
    char command[64], piece[16384];

    if (fflush(plot->script) != 0)
        return false;
    snprintf(command, sizeof command, "exec gnuplot /dev/fd/%d", fileno(plot->script));
    FILE *picture = popen(command, "r");
    if (picture == NULL)
        return false;
    for (size_t n; (n = fread(piece, 1, sizeof piece, picture)) > 0;)
        new_file_write(&plot->file, piece, n);
    return pclose(picture) == 0;
}

bool plot_end(struct plot *plot)
{
    struct sl_diag diag = {0};
    const bool drawn = draw(plot);

    fclose(plot->script);
    if (!drawn) {
        cli_error("%s: gnuplot failed (is it installed?)", plot->file.path);
        new_file_drop(&plot->file);
    } else if (new_file_end(&plot->file, &diag) == SL_OK) {
        return true;
    } else {
        cli_diag(&diag);
    }
    return false;
}
