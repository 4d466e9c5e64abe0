#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public header alone, as C11 and as C++17, with all warnings as errors. Each declaration has
a comment. Each config has an init function and room to grow.

usage: test_headers.py INCLUDE_DIR C_COMPILER
"""
import os
import re
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


def headers():
    """Name and text of each."""
    folder = os.path.join(INCLUDE, "sluice")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            yield name, file.read()


def undocumented(text):
    """First lines of the groups of declarations without a comment, as blank lines part them."""
    bare = re.sub(r"\{.*?^\}", lambda body: body.group().replace("\n\n", "\n"), text,
                  flags=re.S | re.M)
    declares = re.compile(r"^(SL_|struct|enum|typedef|static inline|#define SL_\w+ )", re.M)
    return [group.split("\n")[0] for group in bare.split("\n\n")
            if declares.search(group) and "/*" not in group]


class Headers(unittest.TestCase):
    def check(self, compiler, language, standard):
        for header, _ in headers():
            with self.subTest(header=header):
                result = compile_twice(compiler, language, standard, header)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_c11(self):
        self.check(C_COMPILER, "c", "c11")

    @unittest.skipUnless(CXX_COMPILER, "no C++ compiler is here")
    def test_cpp17(self):
        self.check(CXX_COMPILER, "c++", "c++17")

    def test_one_header_includes_all(self):
        with open(os.path.join(INCLUDE, "sluice", "sluice.h"), encoding="utf-8") as file:
            included = re.findall(r'^#include "sluice/(.*)"', file.read(), re.M)
        self.assertEqual(included, [name for name, _ in headers() if name != "sluice.h"])

    def test_each_declaration_has_a_comment(self):
        for header, text in headers():
            with self.subTest(header=header):
                self.assertEqual(undocumented(text), [])
        self.assertEqual(undocumented("/* a */\nstruct a;\n\nstruct b {\n\n};\n"), ["struct b {"])

    def test_each_config_has_an_init_function_and_room_to_grow(self):
        found = 0
        for header, text in headers():
            for name, body in re.findall(r"^struct (sl_\w+_config) \{(.*?)^\}", text, re.S | re.M):
                with self.subTest(header=header, config=name):
                    self.assertIn("SL_API void %s_init(struct %s *config);" % (name, name), text)
                    self.assertIn("uint64_t reserved[4];", body)
                found += 1
        self.assertGreater(found, 10)

    def test_each_free_is_called_with_null(self):
        with open(os.path.join(os.path.dirname(__file__), "test_contracts.c"),
                  encoding="utf-8") as file:
            calls = set(re.findall(r"(sl_\w+)\(NULL", file.read()))
        for header, text in headers():
            frees = re.findall(r"\b(sl_\w+_(?:free|close|unload))\(struct", text)
            self.assertEqual(set(frees) - calls, set(), header)

    def test_a_header_that_warns_fails(self):
        result = subprocess.run([C_COMPILER, "-x", "c", "-std=c11", *WARNINGS, "-fsyntax-only",
                                 "-"], input="enum sl_bad { SL_BAD, };;\n", text=True,
                                capture_output=True, check=False)
        self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    case.main()
