/* SPDX-License-Identifier: MIT */
/* Microsoft's formats by libmspack: help files, and cabinets. The library reads and writes files by
 * calls of ours, which are memory. */
#include <mspack.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "unpack/little.h"
#include "unpack/unpack.h"

/* An open "file": the object, or the buffer that a member is written to. */
struct memory_file {
    struct unpack_buffer *buffer; /* NULL: it is read */
    const uint8_t *bytes;
    size_t len, at;
};

/* The library's system is its first member, so that each call finds the object. */
struct memory {
    struct mspack_system system;
    const struct unpack_object *object;
    struct unpack_buffer *buffer;
};

static struct mspack_file *open_file(struct mspack_system *self, const char *name, int mode)
{
    const struct memory *memory = (const struct memory *)self;
    struct memory_file *file = calloc(1, sizeof *file);

    (void)name;
    if (file != NULL && mode == MSPACK_SYS_OPEN_READ) {
        file->bytes = memory->object->bytes;
        file->len = memory->object->len;
    } else if (file != NULL) {
        file->buffer = memory->buffer;
    }
    return (struct mspack_file *)file;
}

static void close_file(struct mspack_file *file)
{
    free(file);
}

static int read_file(struct mspack_file *opened, void *to, int n)
{
    struct memory_file *file = (struct memory_file *)opened;
    const size_t left = file->len - file->at, len = n < 0 ? 0 : (size_t)n < left ? (size_t)n : left;

    memcpy(to, file->bytes + file->at, len);
    file->at += len;
    return (int)len;
}

static int write_file(struct mspack_file *opened, void *from, int n)
{
    const struct memory_file *file = (const struct memory_file *)opened;

    return n >= 0 && file->buffer != NULL && unpack_buffer_add(file->buffer, from, (size_t)n) ? n
                                                                                              : -1;
}

static int seek_file(struct mspack_file *opened, off_t offset, int mode)
{
    struct memory_file *file = (struct memory_file *)opened;
    const off_t from = mode == MSPACK_SYS_SEEK_START ? 0
                       : mode == MSPACK_SYS_SEEK_CUR ? (off_t)file->at
                                                     : (off_t)file->len;

    if (offset < -from || from + offset > (off_t)file->len)
        return -1;
    file->at = (size_t)(from + offset);
    return 0;
}

static off_t tell_file(struct mspack_file *opened)
{
    return (off_t)((const struct memory_file *)opened)->at;
}

static void take_message(struct mspack_file *file, const char *format, ...)
{
    (void)file;
    (void)format;
}

static void *take_memory(struct mspack_system *self, size_t len)
{
    (void)self;
    return malloc(len);
}

static void copy_memory(void *from, void *to, size_t len)
{
    memcpy(to, from, len);
}

static void memory_init(struct memory *memory, struct unpack *unpack,
                        const struct unpack_object *object)
{
    memory->system = (struct mspack_system){.open = open_file,
                                            .close = close_file,
                                            .read = read_file,
                                            .write = write_file,
                                            .seek = seek_file,
                                            .tell = tell_file,
                                            .message = take_message,
                                            .alloc = take_memory,
                                            .free = free,
                                            .copy = copy_memory};
    memory->object = object;
    memory->buffer = unpack_buffer(unpack, object);
}

static bool give(struct unpack *unpack, const struct memory *memory, const char *name,
                 uint64_t position, uint64_t len, int error)
{
    const struct unpack_member member = {name, 0, len, position, false};

    if (memory->buffer->cut)
        unpack_cut(unpack, memory->buffer);
    else if (error != MSPACK_ERR_OK)
        unpack_incomplete(unpack, memory->object, "a member is damaged or cannot be unpacked");
    return unpack_report_member(unpack, memory->object, &member) &&
           unpack_child(unpack, memory->object, memory->buffer->bytes, memory->buffer->len, KINDS);
}

void unpack_cab(struct unpack *unpack, const struct unpack_object *object)
{
    enum { LEN_AT = 8, HEADER_LEN = 36 };
    struct memory memory;
    uint64_t position = 0;

    memory_init(&memory, unpack, object);
    struct mscab_decompressor *cabs = mspack_create_cab_decompressor(&memory.system);
    if (cabs == NULL)
        return;
    (void)cabs->set_param(cabs, MSCABD_PARAM_SALVAGE, 1);
    struct mscabd_cabinet *cab = cabs->open(cabs, "");
    if (cab == NULL)
        unpack_incomplete(unpack, object, "cut, damaged or of an unknown form");
    for (struct mscabd_file *file = cab != NULL ? cab->files : NULL; file != NULL;
         file = file->next) {
        unpack_buffer_init(unpack, memory.buffer);
        const int error = cabs->extract(cabs, file, "");
        if (!give(unpack, &memory, file->filename, position++, file->length, error))
            break;
    }
    if (cab != NULL)
        cabs->close(cabs, cab);
    mspack_destroy_cab_decompressor(cabs);
    if (object->len >= HEADER_LEN && little32(object->bytes + LEN_AT) >= HEADER_LEN)
        unpack_rest(unpack, object, little32(object->bytes + LEN_AT));
}

void unpack_chm(struct unpack *unpack, const struct unpack_object *object)
{
    struct memory memory;
    uint64_t position = 0;

    memory_init(&memory, unpack, object);
    struct mschm_decompressor *helps = mspack_create_chm_decompressor(&memory.system);
    if (helps == NULL)
        return;
    struct mschmd_header *help = helps->open(helps, "");
    if (help == NULL)
        unpack_incomplete(unpack, object, "cut, damaged or of an unknown form");
    for (struct mschmd_file *file = help != NULL ? help->files : NULL; file != NULL;
         file = file->next) {
        unpack_buffer_init(unpack, memory.buffer);
        const int error = helps->extract(helps, file, "");
        if (!give(unpack, &memory, file->filename, position++, (uint64_t)file->length, error))
            break;
    }
    if (help != NULL)
        helps->close(helps, help);
    mspack_destroy_chm_decompressor(helps);
}

void unpack_szdd(struct unpack *unpack, const struct unpack_object *object)
{
    struct memory memory;

    memory_init(&memory, unpack, object);
    struct msszdd_decompressor *files = mspack_create_szdd_decompressor(&memory.system);
    if (files == NULL)
        return;
    if (files->decompress(files, "", "") != MSPACK_ERR_OK && !memory.buffer->cut)
        unpack_incomplete(unpack, object, "cut or damaged");
    if (memory.buffer->cut)
        unpack_cut(unpack, memory.buffer);
    (void)unpack_child(unpack, object, memory.buffer->bytes, memory.buffer->len, KINDS);
    mspack_destroy_szdd_decompressor(files);
}
