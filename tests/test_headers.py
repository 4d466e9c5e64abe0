#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public header alone, as C11 and as C++17, with all warnings as errors.

usage: test_headers.py INCLUDE_DIR C_COMPILER
"""
import os
import shutil
import subprocess
import sys
import unittest

import case

INCLUDE, C_COMPILER = sys.argv[1:3]
CXX_COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def compile_twice(compiler, language, standard, header):
    """The header is included twice: its guard is part of what is tested."""
    source = '#include "sluice/%s"\n' % header * 2
    command = [compiler, "-x", language, "-std=" + standard, *WARNINGS, "-fsyntax-only",
               "-I" + INCLUDE, "-"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False)


class Headers(unittest.TestCase):
    def check(self, compiler, language, standard):
        for header in sorted(os.listdir(os.path.join(INCLUDE, "sluice"))):
            with self.subTest(header=header):
                result = compile_twice(compiler, language, standard, header)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_c11(self):
        self.check(C_COMPILER, "c", "c11")

    @unittest.skipUnless(CXX_COMPILER, "no C++ compiler is here")
    def test_cpp17(self):
        self.check(CXX_COMPILER, "c++", "c++17")

    def test_a_header_that_warns_fails(self):
        result = subprocess.run([C_COMPILER, "-x", "c", "-std=c11", *WARNINGS, "-fsyntax-only",
                                 "-"], input="enum sl_bad { SL_BAD, };;\n", text=True,
                                capture_output=True, check=False)
        self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    case.main()
