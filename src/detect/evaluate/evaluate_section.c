/* SPDX-License-Identifier: MIT */
/* The steps of a section depend on each other through the cursor and the names that are set. The
 * outcome of the later ones depends only on these. So no combinations of occurrences are tried.
 * Each step maps the set of possible cursors before it to the set behind it, and the section is met
 * if the last set is not empty. A set has at most len + 1 members, kept sorted.
 *
 * A step that sets a name ends that where its cursors read different numbers. The rest of the
 * section is then walked once for each run of cursors that read the same one. These trials are
 * bounded, because a payload may give each cursor a number of its own. */
#include "evaluate_section.h"

#include <string.h>

#include "detect/data/rule_data.h"
#include "evaluate_base64.h"
#include "evaluate_bytes.h"
#include "evaluate_steps.h"

struct walk {
    const struct rule_payload *steps;
    size_t n;
    struct rule_scan *scan;
    struct rule_work *work;
    struct rule_numbers numbers;
};

/* The value of a name as a place, which no payload reaches where it is too large. */
static int32_t named(const struct walk *walk, uint8_t name)
{
    enum { FAR = 1 << 30 };
    const int64_t value = (int64_t)walk->work->named[name];

    return value > FAR ? FAR : value < -FAR ? -FAR : (int32_t)value;
}

/* The step with numbers in place of its names. No data is at a place below 0. */
static struct rule_payload with_numbers(const struct walk *walk, const struct rule_payload *step)
{
    struct rule_payload placed = *step;

    if (step->distance_name != 0) {
        const int32_t number = named(walk, step->distance_name);

        placed.distance += step->kind == RULE_DATA_AT && number < 0 ? INT32_MAX : number;
    }
    if (step->window_name != 0) {
        const int32_t number = named(walk, step->window_name);

        placed.window = number > 0 ? (uint32_t)number : 0;
    }
    return placed;
}

static bool passes(const struct walk *walk, const struct rule_payload *step, uint32_t cursor)
{
    const uint32_t base = step->relative ? cursor : 0;

    if (step->kind == RULE_BYTE_TEST)
        return rule_bytes_test(step->number, &walk->numbers, base);
    return ((int64_t)base + step->distance < walk->scan->len) != step->negated;
}

static struct rule_cursors cursors_of(uint32_t *at, uint32_t n)
{
    return (struct rule_cursors){.at = at, .n = n};
}

/* The cursors that a step lets pass, without a move. */
static struct rule_cursors filter(const struct walk *walk, const struct rule_payload *step,
                                  struct rule_cursors before)
{
    uint32_t n = 0;

    if (!step->relative)
        return cursors_of(before.at, passes(walk, step, 0) ? before.n : 0);
    for (uint32_t i = 0; i < before.n; i++)
        if (passes(walk, step, before.at[i]))
            before.at[n++] = before.at[i];
    return cursors_of(before.at, n);
}

static struct rule_cursors step_size(const struct rule_payload *size, const struct rule_scan *scan,
                                     struct rule_cursors before)
{
    if (!rule_size_meets(size, scan->len) || (scan->is_open && size->window < RULE_SIZE_MAX))
        before.n = 0;
    return before;
}

/* The buffer as a value. An empty one meets no option. Sets that rules change are asked later. */
static struct rule_cursors step_data(const struct rule_data *data, const struct rule_scan *scan,
                                     struct rule_cursors before)
{
    if (scan->len == 0 || (!data->dataset->changes &&
                           !rule_data_holds(data, &data->dataset->set, scan->payload, scan->len)))
        before.n = 0;
    return before;
}

static struct rule_cursors step_jump(const struct walk *walk, const struct rule_payload *jump,
                                     struct rule_cursors before, uint32_t *behind)
{
    struct rule_scan *scan = walk->scan;
    const uint32_t n = jump->relative ? before.n : 1;
    struct rule_cursors after = cursors_of(behind, 0);
    uint32_t to;

    if (n == 1) {
        after.n = rule_bytes_jump(jump->number, &walk->numbers, jump->relative ? before.at[0] : 0,
                                  behind);
        return after;
    }
    rule_scan_clear_marks(scan);
    for (uint32_t i = 0; i < n; i++)
        if (rule_bytes_jump(jump->number, &walk->numbers, before.at[i], &to))
            rule_scan_mark(scan, to);
    return rule_scan_take_marks(scan, behind);
}

/* Whether a step is about the first bytes of a stream, which are not in the buffer. */
static bool is_before(const struct rule_scan *scan, const struct rule_payload *step)
{
    if (scan->before == 0)
        return false;
    if (step->kind == RULE_EXPRESSION)
        return !step->relative && step->expression->anchored;
    return step->number != NULL && (!step->relative || step->number->origin == RULE_FROM_BEGIN);
}

/* A step at a place of a stream whose first bytes are not in the buffer. */
static struct rule_payload behind_stream(const struct rule_scan *scan,
                                         const struct rule_payload *step)
{
    enum { FAR = 1 << 30 };
    struct rule_payload placed = *step;

    placed.distance -= scan->before < FAR ? (int32_t)scan->before : FAR;
    return placed;
}

static struct rule_cursors step(struct walk *walk, const struct rule_payload *payload,
                                struct rule_cursors before, uint32_t *behind)
{
    struct rule_payload placed;

    if (walk->scan->before != 0 && !payload->relative) {
        placed = behind_stream(walk->scan, payload);
        payload = &placed;
    }
    if (payload->distance_name != 0 || payload->window_name != 0) {
        placed = with_numbers(walk, payload);
        payload = &placed;
    }
    switch (payload->kind) {
    case RULE_CONTENT:
        return rule_content_step(payload, walk->scan, walk->work, before, behind);
    case RULE_EXPRESSION:
        return rule_expression_step(payload, walk->scan, walk->work, before, behind);
    case RULE_SIZE:
        return step_size(payload, walk->scan, before);
    case RULE_DATA:
        return step_data(payload->data, walk->scan, before);
    case RULE_BYTE_JUMP:
        return step_jump(walk, payload, before, behind);
    default:
        return filter(walk, payload, before);
    }
}

static struct rule_cursors one_cursor(uint32_t *at, uint32_t cursor)
{
    *at = cursor;
    return cursors_of(at, 1);
}

/* Sets a name where all cursors read the same number. */
static struct rule_cursors step_set(struct walk *walk, const struct rule_payload *step,
                                    struct rule_cursors before)
{
    const struct rule_bytes *set = step->number;
    uint32_t to;

    if (!rule_bytes_value(set, &walk->numbers, step->relative ? before.at[0] : 0,
                          &walk->work->named[set->result], &to))
        before.n = 0;
    else if (!set->keeps_cursor)
        before = one_cursor(before.at, to);
    return before;
}

static bool walk_values(struct walk *walk, size_t i, struct rule_cursors before);
static bool walk_decoded(struct walk *walk, size_t i, struct rule_cursors before);

/* Walks steps i and later. */
static bool walk_from(struct walk *walk, size_t i, struct rule_cursors cursors)
{
    enum { EFFORT_OF_CURSOR = 2 };
    uint32_t *const begin = cursors.at;

    for (; i < walk->n && cursors.n != 0; i++) {
        const struct rule_payload *payload = &walk->steps[i];
        const bool sets = payload->kind == RULE_BYTE_SET;

        if (is_before(walk->scan, payload)) {
            cursors.n = payload->negated ? cursors.n : 0;
            continue;
        }
        if (cursors.marked && payload->kind != RULE_CONTENT)
            cursors = rule_scan_take_marks(walk->scan, begin);
        if (payload->kind == RULE_BASE64)
            return walk_decoded(walk, i, cursors);
        if (sets && payload->relative && cursors.n > 1)
            return walk_values(walk, i, cursors);
        if (!cursors.marked &&
            !rule_work_search(walk->work, EFFORT_OF_CURSOR * (uint64_t)cursors.n))
            return false;
        cursors = sets ? step_set(walk, payload, cursors)
                       : step(walk, payload, cursors, begin + cursors.n);
        if (cursors.at != begin && !cursors.marked)
            memmove(begin, cursors.at, cursors.n * sizeof *begin);
        cursors.at = begin;
    }
    return cursors.n != 0;
}

/* A run of cursors that read the same number, and the cursors behind it. */
struct run {
    uint64_t value;
    struct rule_cursors behind;
};

/* Takes the run that begins at before.at[*i], and moves *i behind it. False: that cursor reads no
 * number. */
static bool take_run(const struct walk *walk, const struct rule_bytes *set,
                     struct rule_cursors before, uint32_t *i, struct run *run)
{
    struct rule_cursors *behind = &run->behind;
    uint64_t value;
    uint32_t to;

    behind->n = 0;
    for (; *i < before.n; ++*i) {
        if (!rule_bytes_value(set, &walk->numbers, before.at[*i], &value, &to))
            break;
        if (behind->n != 0 && value != run->value)
            return true;
        run->value = value;
        if (set->keeps_cursor)
            to = before.at[*i];
        if (behind->n == 0 || behind->at[behind->n - 1] != to)
            behind->at[behind->n++] = to;
    }
    *i += behind->n == 0;
    return behind->n != 0;
}

/* Walks on behind step i, which sets a name relative to several cursors. */
static bool walk_values(struct walk *walk, size_t i, struct rule_cursors before)
{
    const struct rule_bytes *set = walk->steps[i].number;
    const struct rule_scan *scan = walk->scan;
    struct run run = {.behind.at = before.at + before.n};
    const size_t used = (size_t)(run.behind.at - scan->cursor);
    const uint64_t effort = (walk->n - i) * (16 + scan->len / 3);

    for (uint32_t k = 0; k < before.n;) {
        if (!take_run(walk, set, before, &k, &run))
            continue;
        if (!rule_work_spend(
                walk->work,
                used + 2 * ((size_t)scan->len + 1) > RULE_CURSORS(scan->len) ? UINT64_MAX : effort))
            return false;
        walk->work->named[set->result] = run.value;
        if (walk_from(walk, i + 1, run.behind))
            return true;
    }
    return false;
}

/* Walks the steps behind step i over the bytes that it decodes from some cursor. */
static bool walk_decoded(struct walk *walk, size_t i, struct rule_cursors before)
{
    const struct rule_payload *decode = &walk->steps[i];
    const uint32_t n = decode->relative ? before.n : 1;

    for (uint32_t k = 0; k < n; k++) {
        const struct base64_text text =
            rule_base64_find(decode->number, walk->scan, decode->relative ? before.at[k] : 0);

        if (!rule_work_spend(walk->work, text.len / 2 + (walk->n - i) * (16 + text.len / 3)))
            return false;
        if (rule_base64_decode(text, &walk->work->decoded) &&
            rule_section_match(decode + 1, walk->n - i - 1, &walk->work->decoded.scan, walk->work))
            return true;
    }
    return false;
}

bool rule_section_match(const struct rule_payload *steps, size_t n, struct rule_scan *scan,
                        struct rule_work *work)
{
    struct walk walk;

    walk.steps = steps;
    walk.n = n;
    walk.scan = scan;
    walk.work = work;
    walk.numbers = (struct rule_numbers){scan->payload, scan->len, scan->is_little, work->named};
    return walk_from(&walk, 0, one_cursor(scan->cursor, 0));
}
