/* SPDX-License-Identifier: MIT */
/* The reader of each kind. */
#include "unpack/unpack.h"

static unpack_reader *const readers[KINDS] = {
    [KIND_GZIP] = unpack_gzip,           [KIND_ZIP] = unpack_zip,
    [KIND_COMPRESS] = unpack_compressed, [KIND_BZIP2] = unpack_compressed,
    [KIND_XZ] = unpack_compressed,       [KIND_LZIP] = unpack_compressed,
    [KIND_LZMA] = unpack_compressed,     [KIND_ZSTD] = unpack_compressed,
    [KIND_LZ4] = unpack_compressed,      [KIND_RPM] = unpack_archive,
    [KIND_POSIX_TAR] = unpack_archive,   [KIND_OLD_TAR] = unpack_archive,
    [KIND_CPIO_OLD] = unpack_archive,    [KIND_CPIO_ODC] = unpack_archive,
    [KIND_CPIO_NEWC] = unpack_archive,   [KIND_CPIO_CRC] = unpack_archive,
    [KIND_AR] = unpack_archive,          [KIND_CAB] = unpack_archive,
    [KIND_ISO] = unpack_archive,         [KIND_LHA] = unpack_archive,
    [KIND_RAR] = unpack_archive,         [KIND_SEVENZIP] = unpack_archive,
    [KIND_XAR] = unpack_archive,         [KIND_WARC] = unpack_archive,
};

enum unpack_group unpack_group_of(enum kind kind)
{
    switch (kind) {
    case KIND_MAIL:
    case KIND_TNEF:
    case KIND_UUENCODE:
    case KIND_BINHEX:
    case KIND_YENC:
        return UNPACK_MAILS;
    case KIND_PDF:
        return UNPACK_PDFS;
    case KIND_OLE2:
        return UNPACK_OLE2S;
    case KIND_HTML:
    case KIND_HTML_UTF16:
        return UNPACK_HTMLS;
    case KIND_SWF:
        return UNPACK_SWFS;
    case KIND_OFFICE_XML:
        return UNPACK_XMLS;
    case KIND_ONENOTE:
        return UNPACK_ONENOTES;
    default:
        return UNPACK_ARCHIVES;
    }
}

unpack_reader *unpack_reader_of(enum kind kind)
{
    return readers[kind];
}
