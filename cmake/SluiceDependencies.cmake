# SPDX-License-Identifier: MIT
# Debian packages, each for what it is best at. tools/install-deps installs them.

find_package(PkgConfig REQUIRED)
pkg_check_modules(PCAP REQUIRED IMPORTED_TARGET libpcap)       # live capture, link type names
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)          # .gz captures
pkg_check_modules(BROTLI REQUIRED IMPORTED_TARGET libbrotlidec) # bodies of HTTP
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)       # .xz captures
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)       # .zst captures
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)    # JSON
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)    # the database sink
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)   # checksums of compiled tables
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)     # PCRE subsignatures
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)       # suricata.yaml
find_package(BZip2 REQUIRED)                                   # unpacking: zip
pkg_check_modules(ARCHIVE REQUIRED IMPORTED_TARGET libarchive) # unpacking: 7z, tar, cab, ...
pkg_check_modules(MSPACK REQUIRED IMPORTED_TARGET libmspack)  # unpacking: cab, chm
pkg_check_modules(MAGIC REQUIRED IMPORTED_TARGET libmagic)     # kinds of files
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)     # MD5, SHA-1, SHA-256
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd) # metrics over HTTP
pkg_check_modules(HYPERSCAN IMPORTED_TARGET libhs)             # optional: a matcher to compare with
if(SLUICE_TESTS)
  # Optional: a judge of HTTP. Its .pc file names a folder that is not there.
  find_library(HTP_LIBRARY htp)
  find_path(HTP_INCLUDE_DIR htp/htp.h)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
