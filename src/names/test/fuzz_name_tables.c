/* SPDX-License-Identifier: MIT */
/* Any bytes as a list of each format, and of the detected one. The list is built, updated by its
 * own lines, and asked for its names. */
#include <stdlib.h>
#include <string.h>

#include "sluice/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lookup(struct sl_names *names)
{
    static const char *const asked[] = {"a.test", "x.a.test", "/", "http://a.test/b/c?d", "/a/b"};
    static uint8_t bytes[5][64];
    struct sl_names_answer answers[5];
    struct sl_names_reader *reader;
    struct sl_name name[5];
    struct sl_diag diag;
    size_t len;

    for (int i = 0; i < 5; i++)
        if (sl_name_read(&name[i], SL_NAME_AUTO, bytes[i], sizeof *bytes, asked[i],
                         strlen(asked[i])) != NULL)
            abort();
    if (sl_names_reader_open(&reader, names, "cpu", &diag) != SL_OK ||
        sl_names_lookup(reader, name, 5, answers) != SL_OK)
        abort();
    for (int i = 0; i < 5; i++) {
        if (answers[i].prefix_len > name[i].len)
            abort();
        (void)sl_names_value(names, &answers[i], 0, &len);
    }
    sl_names_reader_close(reader);
}

static void load(const char *format, const char *text, size_t len)
{
    struct sl_names_updated updated = {0};
    struct sl_names_count count;
    struct sl_names *names;
    struct sl_diag diag;

    if (sl_names_create(&names, &diag) != SL_OK)
        abort();
    if (sl_names_load_text(names, "list", format, text, len, &diag) == SL_OK) {
        sl_names_count(names, &count);
        if (count.rules + count.skipped + count.ignored != count.lines)
            abort();
        if (sl_names_build(names, NULL, &diag) != SL_OK)
            abort();
        lookup(names);
        if (format != NULL &&
            sl_names_update(names, "u", format, text, len, 1, &updated, &diag) != SL_OK)
            abort();
        lookup(names);
    }
    sl_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int n = 0;

    while (sl_names_formats()[n].name != NULL)
        n++;
    if (size == 0)
        return 0;
    const int format = data[0] % (n + 1);
    load(format == n ? NULL : sl_names_formats()[format].name, (const char *)data + 1, size - 1);
    return 0;
}
