/* SPDX-License-Identifier: MIT */
/* The reader of each kind. */
#include "unpack/unpack.h"

static const struct {
    enum kind first, last;
    unpack_reader *reader;
} readers[] = {
    {KIND_TEXT_ASCII, KIND_TEXT_UTF16BE, unpack_text},
    {KIND_ZIP, KIND_OOXML_HWP, unpack_zip},
    {KIND_GZIP, KIND_GZIP, unpack_gzip},
    {KIND_COMPRESS, KIND_LZ4, unpack_compressed},
    {KIND_POSIX_TAR, KIND_OLD_TAR, unpack_tar},
    {KIND_CPIO_OLD, KIND_RPM, unpack_archive}, /* ar and rpm are among them */
    {KIND_ISO, KIND_ISO, unpack_iso},
    {KIND_LHA, KIND_LHA, unpack_lha},
    {KIND_ARJ, KIND_ARJ, unpack_arj},
    {KIND_RAR, KIND_RAR, unpack_archive},
    {KIND_SEVENZIP, KIND_SEVENZIP, unpack_7z},
    {KIND_XAR, KIND_XAR, unpack_xar},
    {KIND_NSIS, KIND_NSIS, unpack_nsis},
    {KIND_HWP3, KIND_HWP3, unpack_hwp3},
    {KIND_WARC, KIND_WARC, unpack_archive},
    {KIND_SWF, KIND_SWF, unpack_swf},
    {KIND_RTF, KIND_RTF, unpack_rtf},
    {KIND_TNEF, KIND_TNEF, unpack_tnef},
    {KIND_CAB, KIND_CAB, unpack_cab},
    {KIND_CHM, KIND_CHM, unpack_chm},
    {KIND_SZDD, KIND_SZDD, unpack_szdd},
    {KIND_MAIL, KIND_MHTML, unpack_mail},
    {KIND_OLE2, KIND_OLE2, unpack_ole2},
    {KIND_HTML, KIND_HTML, unpack_html},
    {KIND_PDF, KIND_PDF, unpack_pdf},
    {KIND_ONENOTE, KIND_ONENOTE, unpack_onenote},
    {KIND_UUENCODE, KIND_UUENCODE, unpack_encoded},
    {KIND_YENC, KIND_YENC, unpack_encoded},
};

enum unpack_group unpack_group_of(enum kind kind)
{
    switch (kind) {
    case KIND_MAIL:
    case KIND_MAIL_LIKE:
    case KIND_MHTML:
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
    case KIND_HWP3:
        return UNPACK_HWPS;
    default:
        return UNPACK_ARCHIVES;
    }
}

unpack_reader *unpack_reader_of(enum kind kind)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (kind >= readers[i].first && kind <= readers[i].last)
            return readers[i].reader;
    return NULL;
}

bool unpack_reads_all(enum kind kind)
{
    switch (kind) {
    case KIND_ZIP:
    case KIND_OOXML_WORD:
    case KIND_OOXML_PPT:
    case KIND_OOXML_XL:
    case KIND_OOXML_HWP:
    case KIND_SEVENZIP:
    case KIND_GZIP:
    case KIND_BZIP2:
    case KIND_XZ:
    case KIND_POSIX_TAR:
    case KIND_OLD_TAR:
    case KIND_CAB:
    case KIND_LHA:
    case KIND_ARJ:
    case KIND_MAIL:
    case KIND_MAIL_LIKE:
    case KIND_MHTML:
    case KIND_UUENCODE:
    case KIND_YENC:
        return true;
    default:
        return false;
    }
}
