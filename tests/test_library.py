#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shared library as a packager sees it: symbols, libraries, paths, version.

usage: test_library.py LIBSLUICE HEADERS SOURCE_DIR SLUICE
"""
import os
import re
import subprocess
import sys
import unittest

import case

LIBRARY, HEADERS, SOURCE_DIR, SLUICE = sys.argv[1:5]

# What libsluice needs at run time. A client of a server is loaded when it is used.
NEEDED = {"libc.so", "libm.so", "libpcap.so", "libz.so", "liblzma.so", "libzstd.so",
          "libjansson.so", "libsqlite3.so", "libxxhash.so", "libpcre2-8.so", "libcrypto.so",
          "libyaml-0.so", "libbrotlidec.so", "libmagic.so",
          "ld-linux-x86-64.so"}
NEEDED_OF_CUDA = {"libstdc++.so", "libgcc_s.so"}  # CUDA's runtime and headers are C++
SANITIZERS = {"libasan.so", "libubsan.so", "libtsan.so"}


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def dynamic(tag, file=LIBRARY):
    return re.findall(r"\(%s\).*\[(.*)\]" % tag, output("readelf", "-d", file))


def symbols():
    lines = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
    return [(line.split()[-1], line.split()[-2]) for line in lines]


def declared():
    names = set()
    for header in os.listdir(HEADERS):
        with open(os.path.join(HEADERS, header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
        for declaration in re.findall(r"SL_API\s([^;]*);", text):
            names.add(re.search(r"\b(sl_\w+)\s*\(", declaration).group(1))
    return names


class Library(unittest.TestCase):
    maxDiff = None

    def test_exports_what_the_headers_declare_and_nothing_else(self):
        self.assertEqual({name for name, _ in symbols()}, declared())

    def test_exports_no_data(self):
        self.assertEqual([name for name, kind in symbols() if kind != "T"], [])

    def test_needs_these_libraries_alone(self):
        found = {re.sub(r"\.so.*", ".so", name) for name in dynamic("NEEDED")} - SANITIZERS
        self.assertLessEqual(NEEDED - {"ld-linux-x86-64.so", "libm.so"}, found)
        self.assertLessEqual(found, NEEDED | NEEDED_OF_CUDA)

    def test_holds_no_path_of_the_build(self):
        if "libasan.so" in {re.sub(r"\.so.*", ".so", name) for name in dynamic("NEEDED")}:
            self.skipTest("the address sanitizer writes each source's path into the library")
        with open(LIBRARY, "rb") as file:
            self.assertFalse(SOURCE_DIR.encode() + b"/" in file.read())

    def test_the_command_has_no_module_in_itself(self):
        needed = {re.sub(r"\.so.*", ".so", name) for name in dynamic("NEEDED", SLUICE)}
        self.assertIn("libsluice.so", needed)
        self.assertFalse(needed & {"libpcap.so", "libsqlite3.so", "libpcre2-8.so", "libcrypto.so"})
        defined = output("nm", "--defined-only", SLUICE).split()
        self.assertEqual([name for name in defined if name.startswith("sl_")], [])

    def test_version_is_of_the_header_in_the_soname_and_at_run_time(self):
        with open(os.path.join(HEADERS, "version.h"), encoding="utf-8") as file:
            parts = re.findall(r"#define SL_VERSION_\w+ (\d+)", file.read())
        self.assertEqual(dynamic("SONAME"), ["libsluice.so." + ".".join(parts[:2])])
        with open(LIBRARY, "rb") as file:
            self.assertTrue(".".join(parts).encode() + b"\0" in file.read())


if __name__ == "__main__":
    case.main()
