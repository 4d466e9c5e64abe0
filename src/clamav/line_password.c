/* SPDX-License-Identifier: MIT */
/* Passwords of archives: .pwdb. */
#include <string.h>

#include "clamav/line_internal.h"

static enum clam_taken read_argument(struct sl_clamav_set *set, struct clam_text argument)
{
    struct clam_text name;
    uint64_t from, to;

    clam_text_cut(&argument, ':', &name);
    if (clam_text_is(name, "Engine"))
        return line_read_span(argument, UINT32_MAX, &from, &to)
                   ? line_check_level(set, from, to)
                   : clam_bad(set, "Engine is no range");
    if (!clam_text_is(name, "Container")) /* nothing else can hold or fail for a container */
        return CLAM_TAKEN;
    if (clam_text_is(argument, "CL_TYPE_ZIP") || clam_text_is(argument, "CL_TYPE_ANY"))
        return CLAM_TAKEN;
    if (clam_text_is(argument, "CL_TYPE_RAR"))
        return clam_skip(set, "passwords of rar are not supported");
    return clam_bad(set, "passwords are for CL_TYPE_ANY, CL_TYPE_ZIP or CL_TYPE_RAR");
}

static enum clam_taken read_description(struct sl_clamav_set *set, struct clam_text block)
{
    enum clam_taken taken = CLAM_TAKEN;
    struct clam_text argument;
    bool more = true;

    if (block.len < 7 || memcmp(block.at, "Engine:", 7) != 0)
        return clam_bad(set, "the target description does not begin with Engine");
    while (more && taken == CLAM_TAKEN) {
        more = clam_text_cut(&block, ',', &argument);
        taken = read_argument(set, argument);
    }
    return taken;
}

/* NAME;DESCRIPTION;0;TEXT or NAME;DESCRIPTION;1;HEXADECIMAL */
enum clam_taken line_read_pwdb(struct sl_clamav_set *set, struct clam_text line)
{
    enum { LEN_MAX = UINT8_MAX };
    struct clam_text name, description, storage, password;
    uint32_t index;

    if (!clam_text_cut(&line, ';', &name) || !clam_text_cut(&line, ';', &description) ||
        !clam_text_cut(&line, ';', &storage))
        return clam_bad(set, "has less than four fields");
    clam_text_cut(&line, ';', &password);
    const bool is_hex = clam_text_is(storage, "1");
    if (!is_hex && !clam_text_is(storage, "0"))
        return clam_bad(set, "the storage of the password is neither 0 nor 1");
    const enum clam_taken taken = read_description(set, description);
    if (taken != CLAM_TAKEN)
        return taken;
    const size_t len = is_hex ? password.len / 2 : password.len;
    if (len > LEN_MAX)
        return clam_skip(set, "a password of more than %d bytes", (int)LEN_MAX);
    if (set->records[CLAM_A_PASSWORDS].n + 1 + len > CLAM_PASSWORDS_LEN_MAX)
        return clam_skip(set, "too many passwords");
    uint8_t *const room = clam_push(set, CLAM_A_PASSWORDS, 1 + len, &index);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    room[0] = (uint8_t)len;
    if (is_hex && !line_read_hex(password, room + 1))
        return clam_bad(set, "the password is not hexadecimal");
    if (!is_hex)
        memcpy(room + 1, password.at, len);
    return CLAM_TAKEN;
}
