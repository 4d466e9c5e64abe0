/* SPDX-License-Identifier: MIT */
/* Sections and entry points of PE, ELF and Mach-O. Every field is untrusted. A field out of bounds
 * makes the headers bad, as libclamav does. */
#include <string.h>

#include "clamav/object.h"

enum { LITTLE, BIG };

static uint32_t get16(const uint8_t *at, int order)
{
    return order == BIG ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static uint32_t get32(const uint8_t *at, int order)
{
    return order == BIG ? get16(at, order) << 16 | get16(at + 2, order)
                        : get16(at + 2, order) << 16 | get16(at, order);
}

static uint64_t get64(const uint8_t *at, int order)
{
    return order == BIG ? (uint64_t)get32(at, order) << 32 | get32(at + 4, order)
                        : (uint64_t)get32(at + 4, order) << 32 | get32(at, order);
}

/* Copies bytes that later reads might push out of the window. */
static bool get(struct clam_object *object, uint64_t at, void *copy, size_t len)
{
    const uint8_t *bytes = clam_object_at(object, at, len);

    if (bytes == NULL)
        return false;
    memcpy(copy, bytes, len);
    return true;
}

/* ---- PE -------------------------------------------------------------------------------------- */

enum {
    PE_FILE_HEADER = 24, /* "PE\0\0" and the COFF header */
    PE_OPTIONAL_32 = 96, /* without data directories */
    PE_OPTIONAL_64 = 112,
    PE_SECTION = 40,
    PE_DIRECTORIES_MAX = 16
};

static uint32_t align_down(uint32_t value, uint32_t to)
{
    return to != 0 ? value / to * to : value;
}

static uint32_t align_up(uint32_t value, uint32_t to)
{
    return to != 0 ? (value / to + (value % to != 0)) * to : value;
}

/* The file offset of an address; false: it lies in no section. */
static bool pe_raw(const struct clam_exe *exe, uint32_t rva, uint32_t header_len, uint64_t file_len,
                   uint32_t *raw)
{
    *raw = rva;
    if (rva < header_len)
        return rva < file_len;
    for (uint32_t i = exe->n_sections; i-- > 0;) {
        const struct clam_section *section = &exe->sections[i];

        if (section->len != 0 && section->rva <= rva && section->len > rva - section->rva) {
            *raw = rva - section->rva + section->raw;
            return true;
        }
    }
    return false;
}

/* False: the section makes the headers bad. A section that lies behind the file's end is empty. */
static bool pe_section(const uint8_t *header, uint32_t section_align, uint32_t file_align,
                       uint64_t file_len, struct clam_section *section)
{
    const uint32_t virtual_len = get32(header + 8, LITTLE), rva = get32(header + 12, LITTLE);
    const uint32_t raw = get32(header + 20, LITTLE);
    uint32_t raw_len = get32(header + 16, LITTLE);

    section->rva = align_down(rva, section_align);
    section->raw = align_down(raw, file_align);
    section->len = align_up(raw_len, file_align);
    if (section->len != 0) {
        if (section->raw >= file_len || raw >= file_len) {
            section->len = raw_len = 0;
        } else {
            if (section->len > file_len - section->raw)
                section->len = (uint32_t)(file_len - section->raw);
            if (raw_len > file_len - raw)
                raw_len = (uint32_t)(file_len - raw);
        }
    }
    return rva >> 31 == 0 && virtual_len >> 31 == 0 && raw_len >> 31 == 0 &&
           (section->len == 0 || raw >> 31 == 0);
}

static bool pe_sections(struct clam_object *object, uint64_t at, uint32_t section_align,
                        uint32_t file_align)
{
    struct clam_exe *exe = object->exe;
    uint8_t header[PE_SECTION];

    /* Where some section does not lie where the alignment says, 512 bytes do. */
    for (uint32_t i = 0; i < exe->n_sections && file_align != 0x200; i++) {
        if (!get(object, at + (uint64_t)i * PE_SECTION, header, sizeof header))
            return false;
        const uint32_t raw = get32(header + 20, LITTLE);
        if (file_align != 0 && get32(header + 16, LITTLE) != 0 && raw % file_align != 0 &&
            raw % 0x200 == 0)
            file_align = 0x200;
    }
    for (uint32_t i = 0; i < exe->n_sections; i++)
        if (!get(object, at + (uint64_t)i * PE_SECTION, header, sizeof header) ||
            !pe_section(header, section_align, file_align, object->len, &exe->sections[i]))
            return false;
    return true;
}

static bool read_pe(struct clam_object *object)
{
    struct clam_exe *exe = object->exe;
    uint8_t dos[64], file[PE_FILE_HEADER], optional[PE_OPTIONAL_64];

    if (!get(object, 0, dos, sizeof dos) || (get16(dos, LITTLE) != 0x5A4D))
        return false;
    const uint64_t at = get32(dos + 60, LITTLE);
    if (at == 0 || !get(object, at, file, sizeof file) || memcmp(file, "PE\0\0", 4) != 0)
        return false;
    const uint32_t n_sections = get16(file + 6, LITTLE), optional_len = get16(file + 20, LITTLE);
    if (n_sections == 0 || n_sections > CLAM_SECTIONS_MAX || optional_len < PE_OPTIONAL_32 ||
        !get(object, at + PE_FILE_HEADER, optional, PE_OPTIONAL_32))
        return false;
    exe->n_sections = n_sections;
    const bool plus = get16(optional, LITTLE) == 0x20B;
    const uint32_t fixed_len = plus ? PE_OPTIONAL_64 : PE_OPTIONAL_32;
    if (optional_len < fixed_len || !get(object, at + PE_FILE_HEADER, optional, fixed_len))
        return false;
    uint32_t n_directories = get32(optional + fixed_len - 4, LITTLE);
    if (n_directories > PE_DIRECTORIES_MAX)
        n_directories = PE_DIRECTORIES_MAX;
    if (optional_len < fixed_len + 8 * n_directories)
        return false;

    const uint32_t section_align = get32(optional + 32, LITTLE);
    const uint32_t header_len = align_up(get32(optional + 60, LITTLE), section_align);
    return pe_sections(object, at + PE_FILE_HEADER + optional_len, section_align,
                       get32(optional + 36, LITTLE)) &&
           pe_raw(exe, get32(optional + 16, LITTLE), header_len, object->len, &exe->entry);
}

/* ---- ELF ------------------------------------------------------------------------------------- */

enum { ELF_PROGRAMS_MAX = 128, ELF_SECTIONS_MAX = 256 };

/* Where the fields of both sizes lie. */
struct elf_layout {
    uint8_t header_len, entry, programs, sections, program_len_at, section_len_at;
    uint8_t program_len, program_offset, program_address, program_memory;
    uint8_t section_len, section_address, section_offset, section_size;
};

static const struct elf_layout elf_32 = {52, 24, 28, 32, 42, 46, 32, 4, 8, 20, 40, 12, 16, 20};
static const struct elf_layout elf_64 = {64, 24, 32, 40, 54, 58, 56, 8, 16, 40, 64, 16, 24, 32};

static uint64_t elf_word(const uint8_t *at, bool wide, int order)
{
    return wide ? get64(at, order) : get32(at, order);
}

static bool elf_entry(struct clam_object *object, const uint8_t *header,
                      const struct elf_layout *layout, int order)
{
    const bool wide = layout == &elf_64;
    const uint64_t entry = elf_word(header + layout->entry, wide, order);
    const uint64_t at = elf_word(header + layout->programs, wide, order);
    const uint32_t n = get16(header + layout->program_len_at + 2, order);
    uint8_t program[56];

    if (n > ELF_PROGRAMS_MAX)
        return false;
    if (n == 0 || entry == 0)
        return true;
    if (get16(header + layout->program_len_at, order) != layout->program_len ||
        at > UINT64_MAX - (uint64_t)n * layout->program_len)
        return false;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!get(object, at + (uint64_t)i * layout->program_len, program, layout->program_len))
            return false;
        const uint64_t address = elf_word(program + layout->program_address, wide, order);
        const uint64_t memory = elf_word(program + layout->program_memory, wide, order);
        if (!found && address <= entry && entry - address < memory) {
            found = true;
            object->exe->entry =
                (uint32_t)(entry - address +
                           elf_word(program + layout->program_offset, wide, order));
        }
    }
    return found;
}

static bool read_elf(struct clam_object *object)
{
    struct clam_exe *exe = object->exe;
    uint8_t header[64] = {0}, section[64];

    if (!get(object, 0, header, elf_32.header_len) || memcmp(header, "\177ELF", 4) != 0 ||
        header[4] < 1 || header[4] > 2)
        return false;
    const bool wide = header[4] == 2;
    const int order = header[5] == 1 ? LITTLE : BIG;
    const struct elf_layout *layout = wide ? &elf_64 : &elf_32;
    if (!get(object, 0, header, layout->header_len) || !elf_entry(object, header, layout, order))
        return false;
    const uint64_t at = elf_word(header + layout->sections, wide, order);
    const uint32_t n = get16(header + layout->section_len_at + 2, order);
    if (n > ELF_SECTIONS_MAX ||
        get16(header + layout->section_len_at, order) != layout->section_len ||
        at > UINT64_MAX - (uint64_t)n * layout->section_len)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!get(object, at + (uint64_t)i * layout->section_len, section, layout->section_len))
            return false;
        exe->sections[i] = (struct clam_section){
            .raw = (uint32_t)elf_word(section + layout->section_offset, wide, order),
            .len = (uint32_t)elf_word(section + layout->section_size, wide, order),
            .rva = (uint32_t)elf_word(section + layout->section_address, wide, order)};
    }
    exe->n_sections = n;
    return true;
}

/* ---- Mach-O ---------------------------------------------------------------------------------- */

enum { MACHO_COMMANDS_MAX = 1024, MACHO_SECTIONS_OF_SEGMENT = 255, MACHO_PPC64 = 18 | 0x1000000 };

/* A section's length rounded up to its alignment. */
static bool macho_section(const uint8_t *at, bool wide, int order, struct clam_section *section)
{
    const uint32_t len = (uint32_t)(wide ? get64(at + 40, order) : get32(at + 36, order));
    const uint32_t shift = get32(at + (wide ? 52 : 44), order);

    section->rva = (uint32_t)(wide ? get64(at + 32, order) : get32(at + 32, order));
    section->raw = get32(at + (wide ? 48 : 40), order);
    if (shift >= 32)
        return false;
    const uint32_t align = UINT32_C(1) << shift;
    section->len = len + (align - len % align) % align;
    return true;
}

/* A segment's sections, from `at` on behind the command's header; at moves behind them. */
static bool macho_segment(struct clam_object *object, uint64_t *at, bool wide, int order)
{
    const size_t command_len = wide ? 64 : 48, section_len = wide ? 80 : 68;
    struct clam_exe *exe = object->exe;
    uint8_t bytes[80];

    if (!get(object, *at, bytes, command_len))
        return false;
    *at += command_len;
    const uint32_t n = get32(bytes + command_len - 8, order);
    if (n > MACHO_SECTIONS_OF_SEGMENT || n > CLAM_SECTIONS_MAX - exe->n_sections)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!get(object, *at, bytes, section_len) ||
            !macho_section(bytes, wide, order, &exe->sections[exe->n_sections]))
            return false;
        exe->n_sections++;
        *at += section_len;
    }
    return true;
}

/* The program counter in the registers of the first thread: x86, PowerPC and its 64 bits. */
static bool macho_thread(struct clam_object *object, uint64_t at, uint32_t cpu, int order,
                         uint32_t *entry)
{
    uint8_t counter[8];

    if (!get(object, at + 8 + (cpu == 7 ? 40 : 0), counter, sizeof counter))
        return false;
    *entry = (uint32_t)(cpu == MACHO_PPC64 ? get64(counter, order) : get32(counter, order));
    return true;
}

static bool macho_entry(struct clam_exe *exe, uint32_t address)
{
    exe->entry = address;
    if (address == 0 || exe->n_sections == 0)
        return true;
    for (uint32_t i = 0; i < exe->n_sections; i++) {
        const struct clam_section *section = &exe->sections[i];

        if (section->rva <= address && address - section->rva < section->len) {
            exe->entry = address - section->rva + section->raw;
            return true;
        }
    }
    return false;
}

static bool read_macho(struct clam_object *object)
{
    uint8_t header[28], command[8];
    uint32_t entry = 0;

    if (!get(object, 0, header, sizeof header))
        return false;
    const int order = header[0] == 0xFE ? BIG : LITTLE;
    const uint32_t magic = get32(header, order), cpu = get32(header + 4, order);
    const bool wide = magic == 0xFEEDFACF;
    const uint32_t n_commands = get32(header + 16, order);
    uint64_t at = sizeof header + (wide ? 4 : 0);

    if ((!wide && magic != 0xFEEDFACE) || n_commands == 0 || n_commands > MACHO_COMMANDS_MAX)
        return false;
    for (uint32_t i = 0; i < n_commands; i++) {
        if (!get(object, at, command, sizeof command))
            return false;
        at += sizeof command;
        const uint32_t kind = get32(command, order), len = get32(command + 4, order);
        if (kind == (wide ? 0x19 : 0x01)) {
            if (!macho_segment(object, &at, wide, order))
                return false;
        } else if ((kind == 4 || kind == 5) && (cpu == 7 || cpu == 18 || cpu == MACHO_PPC64) &&
                   !macho_thread(object, at, cpu, order, &entry)) {
            return false;
        } else if (len > sizeof command) {
            at += len - sizeof command;
        }
    }
    return macho_entry(object->exe, entry);
}

void clam_exe_read(struct clam_object *object)
{
    struct clam_exe *exe = object->exe;

    exe->good = false;
    exe->entry = exe->n_sections = 0;
    if (object->target == CLAM_PE)
        exe->good = read_pe(object);
    else if (object->target == CLAM_ELF)
        exe->good = read_elf(object);
    else if (object->target == CLAM_MACHO)
        exe->good = read_macho(object);
}
