/* SPDX-License-Identifier: MIT */
#ifndef UNPACK_TARGET_H
#define UNPACK_TARGET_H

/* Target types (ClamAV: FileTypes). A signature's target is one of them, an object has GENERIC and
 * at most one other. */
enum clam_target {
    CLAM_GENERIC,
    CLAM_PE,
    CLAM_OLE2,
    CLAM_HTML,
    CLAM_MAIL,
    CLAM_GRAPHICS,
    CLAM_ELF,
    CLAM_ASCII,
    CLAM_UNUSED,
    CLAM_MACHO,
    CLAM_PDF,
    CLAM_FLASH,
    CLAM_JAVA,
    CLAM_INTERNAL,
    CLAM_OTHER,
    CLAM_TARGETS
};

#endif
