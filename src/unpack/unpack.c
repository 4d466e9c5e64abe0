/* SPDX-License-Identifier: MIT */
/* The tree of a file's objects, with its limits. */
#include "unpack/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/least.h"

enum {
    TINY = 5,        /* bytes: objects that clamscan neither scans nor counts */
    OPENED = 1 << 12 /* objects of a file that are remembered */
};

struct unpack {
    unpack_emit *emit;
    void *user;
    struct unpack_request request;
    const uint8_t *passwords;
    size_t passwords_len;
    struct unpack_buffer buffers[UNPACK_CONTAINERS_MAX + 1];
    uint64_t scanned_len;
    uint64_t n_given, n_files; /* objects in the file; those that are not tiny, and the file */
    bool over;
    char reason[UNPACK_TEXT_LEN];

    char path[UNPACK_TEXT_LEN];                     /* of the object that is read */
    char member[UNPACK_TEXT_LEN];                   /* the name of the member that comes next, */
    unsigned member_depth;                          /* and the depth of its container */
    uint32_t n_children[UNPACK_CONTAINERS_MAX + 1]; /* of the object at each depth */
    bool limited;                                   /* the reason is a limit */

    XXH128_hash_t opened[OPENED]; /* sums of objects, and of the kinds around each */
    uint64_t seed;                /* of the sums: not to be known, and another for each file */
};

struct unpack *unpack_create(unpack_emit *emit, void *user)
{
    struct unpack *unpack = calloc(1, sizeof *unpack);

    if (unpack != NULL) {
        unpack->emit = emit;
        unpack->user = user;
        (void)!getrandom(&unpack->seed, sizeof unpack->seed, GRND_NONBLOCK);
    }
    return unpack;
}

void unpack_free(struct unpack *unpack)
{
    if (unpack == NULL)
        return;
    for (size_t i = 0; i < sizeof unpack->buffers / sizeof *unpack->buffers; i++)
        unpack_buffer_free(&unpack->buffers[i]);
    free(unpack);
}

bool unpack_is_over(const struct unpack *unpack)
{
    return unpack->over;
}

const struct unpack_request *unpack_wishes(const struct unpack *unpack)
{
    return &unpack->request;
}

/* ---- passwords ------------------------------------------------------------------------------- */

void unpack_set_passwords(struct unpack *unpack, const uint8_t *passwords, size_t len)
{
    unpack->passwords = passwords;
    unpack->passwords_len = len;
}

bool unpack_next_password(const struct unpack *unpack, size_t *at, const uint8_t **password,
                          size_t *len)
{
    if (*at >= unpack->passwords_len)
        return false;
    *len = unpack->passwords[*at];
    *password = unpack->passwords + *at + 1;
    *at += 1 + *len;
    return *at <= unpack->passwords_len;
}

/* ---- reasons --------------------------------------------------------------------------------- */

void unpack_incomplete(struct unpack *unpack, const struct unpack_object *object,
                       const char *reason)
{
    if (unpack->reason[0] == '\0')
        snprintf(unpack->reason, sizeof unpack->reason, "%s: %s", kind_name(object->kind), reason);
}

/* A limit comes before any other reason: it can be made an alert. */
void unpack_limited(struct unpack *unpack, const char *limit)
{
    if (unpack->limited)
        return;
    unpack->limited = true;
    snprintf(unpack->reason, sizeof unpack->reason, "Heuristics.Limits.Exceeded.%s", limit);
}

void unpack_cut(struct unpack *unpack, const struct unpack_buffer *buffer)
{
    unpack_limited(unpack, buffer->by_scan ? "MaxScanSize" : "MaxFileSize");
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool emit(struct unpack *unpack, struct unpack_event *event, const uint8_t *bytes)
{
    unpack->over = unpack->over || !unpack->emit(unpack->user, event, bytes);
    return !unpack->over;
}

/* The kinds around an object, the file's first. */
static void list_containers(struct unpack_event *event, const struct unpack_object *container)
{
    event->n_containers = container != NULL ? (uint8_t)container->depth : 0;
    for (; container != NULL; container = container->container)
        event->containers[container->depth - 1] = (uint8_t)container->seen;
}

bool unpack_report_member(struct unpack *unpack, const struct unpack_object *object,
                          const struct unpack_member *member)
{
    struct unpack_event event = {.type = UNPACK_MEMBER,
                                 .kind = (uint8_t)object->seen,
                                 .encrypted = member->encrypted,
                                 .len = member->len,
                                 .packed_len = member->packed_len,
                                 .position = member->position,
                                 .container_len = object->len};

    list_containers(&event, object);
    snprintf(event.text, sizeof event.text, "%s", member->name != NULL ? member->name : "");
    memcpy(unpack->member, event.text, sizeof unpack->member);
    unpack->member_depth = object->depth;
    return emit(unpack, &event, NULL);
}

void unpack_alert(struct unpack *unpack, enum unpack_alert alert, const char *name)
{
    struct unpack_event event = {.type = UNPACK_ALERT, .alert = (uint8_t)alert};

    snprintf(event.text, sizeof event.text, "%s", name);
    (void)emit(unpack, &event, NULL);
}

void unpack_links(struct unpack *unpack, const uint8_t *records, size_t len)
{
    struct unpack_event event = {.type = UNPACK_LINKS, .len = len};

    memcpy(event.text, unpack->path, sizeof event.text);
    if (!unpack->over)
        (void)emit(unpack, &event, records);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static size_t room_left(const struct unpack *unpack)
{
    const struct unpack_limits *limits = &unpack->request.limits;
    uint64_t room = SIZE_MAX / 4;

    if (limits->file_len_max > 0)
        room = least(room, limits->file_len_max);
    if (limits->scan_len_max > 0)
        room = least(room, limits->scan_len_max - least(limits->scan_len_max, unpack->scanned_len));
    return (size_t)room;
}

void unpack_buffer_init(const struct unpack *unpack, struct unpack_buffer *buffer)
{
    buffer->len = 0;
    buffer->cut = false;
    buffer->max = room_left(unpack);
    buffer->by_scan = unpack->request.limits.file_len_max == 0 ||
                      buffer->max < unpack->request.limits.file_len_max;
}

struct unpack_buffer *unpack_buffer(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer = &unpack->buffers[object->depth];

    unpack_buffer_init(unpack, buffer);
    return buffer;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* ClamAV takes an object of a kind unknown to it for a text, if it can be one. */
static void read_as_text(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_object text = *object;

    text.kind = kind_of_raw_text(object->bytes, object->len);
    if (kind_is_text(text.kind))
        unpack_text(unpack, &text);
}

static void open_object(struct unpack *unpack, const struct unpack_object *object)
{
    unpack_reader *reader = unpack_reader_of(object->kind);

    if ((unpack->request.closed >> unpack_group_of(object->kind) & 1) != 0 &&
        kind_is_container(object->kind))
        unpack_incomplete(unpack, object, "not opened, as asked");
    else if (reader != NULL)
        reader(unpack, object);
    else if (kind_is_container(object->kind))
        unpack_incomplete(unpack, object, "not opened");
    unpack_report_broken(unpack, object);
    if (!unpack_reads_all(object->kind))
        unpack_embedded(unpack, object, object->len > 0, object->len);
    if (kind_is_container(object->kind) && kind_clam_name(object->kind)[0] == '\0')
        read_as_text(unpack, object);
}

/* Whether the limits let one more object in. */
static bool let_in(struct unpack *unpack, unsigned depth, size_t len)
{
    const struct unpack_limits *limits = &unpack->request.limits;
    const char *limit = NULL;

    if (depth > UNPACK_CONTAINERS_MAX || (limits->depth_max > 0 && depth > limits->depth_max))
        limit = "MaxRecursion";
    else if (limits->files_max > 0 &&
             (unpack->n_files >= limits->files_max || unpack->n_given >= limits->files_max))
        limit = "MaxFiles";
    else if (limits->file_len_max > 0 && len > limits->file_len_max)
        limit = "MaxFileSize";
    else if (limits->scan_len_max > 0 && unpack->scanned_len + len > limits->scan_len_max)
        limit = "MaxScanSize";
    if (limit != NULL)
        unpack_limited(unpack, limit);
    return limit == NULL;
}

/* A signature for texts is one for their normal form. */
static enum kind searched_as(const struct unpack *unpack, const struct unpack_object *object)
{
    return text_is_normalized(unpack, object) ? KIND_BINARY : object->kind;
}

/* Adds a child's name to the path, or its number. */
static void enter(struct unpack *unpack, const struct unpack_object *child)
{
    const unsigned depth = child->depth - 1;
    const size_t len = strlen(unpack->path), room = sizeof unpack->path - len;
    const char *const before = len > 0 ? "/" : "";

    unpack->n_children[depth]++;
    unpack->n_children[child->depth] = 0;
    if (unpack->member_depth == depth && unpack->member[0] != '\0')
        snprintf(unpack->path + len, room, "%s%s", before, unpack->member);
    else
        snprintf(unpack->path + len, room, "%s#%u", before, (unsigned)unpack->n_children[depth]);
    unpack->member_depth = 0;
}

/* The place of an object's sum among those that were opened. A copy of an object, inside of the
 * same kinds, holds nothing new: so a bomb of copies is opened once. */
static XXH128_hash_t *find_opened(struct unpack *unpack, const struct unpack_object *child,
                                  XXH128_hash_t *sum)
{
    uint8_t kinds[UNPACK_CONTAINERS_MAX + 2] = {(uint8_t)child->kind, (uint8_t)child->seen};
    size_t n = 2;

    for (const struct unpack_object *at = child->container; at != NULL; at = at->container)
        kinds[n++] = (uint8_t)at->seen;
    *sum = XXH3_128bits_withSeed(child->bytes, child->len,
                                 XXH3_64bits_withSeed(kinds, n, unpack->seed));
    return &unpack->opened[sum->low64 % OPENED];
}

static bool give_child(struct unpack *unpack, struct unpack_object *child)
{
    struct unpack_event event = {.type = UNPACK_OBJECT, .len = child->len};
    const size_t path_len = strlen(unpack->path);
    XXH128_hash_t sum;

    if (unpack->over || child->len == 0)
        return !unpack->over;
    if (!let_in(unpack, child->depth, child->len))
        return true;
    unpack->n_given++;
    unpack->n_files += child->len > TINY;
    unpack->scanned_len += child->len; /* of a copy, too: it was unpacked */
    XXH128_hash_t *opened = find_opened(unpack, child, &sum);
    if (XXH128_isEqual(*opened, sum))
        return true;
    if (child->kind == KINDS)
        child->kind = child->seen = kind_of(child->bytes, child->len);
    enter(unpack, child);
    open_object(unpack, child);
    *opened = sum;
    memcpy(event.text, unpack->path, sizeof event.text);
    unpack->path[path_len] = '\0';
    event.kind = (uint8_t)searched_as(unpack, child);
    event.hashes_only = child->kind == KIND_HTML && html_is_normalized(unpack, child);
    list_containers(&event, child->container);
    return !unpack->over && emit(unpack, &event, child->bytes);
}

bool unpack_child(struct unpack *unpack, const struct unpack_object *object, const uint8_t *bytes,
                  size_t len, enum kind kind)
{
    return unpack_child_seen(unpack, object, bytes, len, kind, kind);
}

bool unpack_child_seen(struct unpack *unpack, const struct unpack_object *object,
                       const uint8_t *bytes, size_t len, enum kind kind, enum kind seen)
{
    struct unpack_object child = {bytes, len, kind, seen, object->depth + 1, object};

    return give_child(unpack, &child);
}

bool unpack_form(struct unpack *unpack, const struct unpack_object *object, const uint8_t *bytes,
                 size_t len, enum kind kind)
{
    struct unpack_event event = {.type = UNPACK_OBJECT,
                                 .kind = (uint8_t)kind,
                                 .len = len,
                                 .stated_len = kind_is_text(kind) ? object->len : 0};

    memcpy(event.text, unpack->path, sizeof event.text);
    list_containers(&event, object->container);
    return len == 0 ? !unpack->over : !unpack->over && emit(unpack, &event, bytes);
}

void unpack_file(struct unpack *unpack, const struct unpack_request *request, const uint8_t *bytes,
                 size_t len)
{
    unpack_file_as(unpack, request, bytes, len, kind_of(bytes, len));
}

/* Those of two files differ in all bits: with near ones, other kinds around an object could make
 * the sum that it had in the file before. */
static uint64_t next_seed(uint64_t seed)
{
    return XXH3_64bits(&seed, sizeof seed);
}

void unpack_file_as(struct unpack *unpack, const struct unpack_request *request,
                    const uint8_t *bytes, size_t len, enum kind kind)
{
    const struct unpack_object file = {bytes, len, kind, kind, 1, NULL};
    struct unpack_event end = {.type = UNPACK_END};

    unpack->request = *request;
    unpack->seed = next_seed(unpack->seed);
    unpack->scanned_len = len;
    unpack->n_given = 0;
    unpack->n_files = 1;
    unpack->over = unpack->limited = false;
    unpack->reason[0] = unpack->path[0] = '\0';
    unpack->member_depth = unpack->n_children[1] = 0;
    open_object(unpack, &file);
    end.kind = (uint8_t)searched_as(unpack, &file);
    end.hashes_only = kind == KIND_HTML && html_is_normalized(unpack, &file);
    end.limited = unpack->limited;
    memcpy(end.text, unpack->reason, sizeof end.text);
    (void)unpack->emit(unpack->user, &end, NULL);
}
