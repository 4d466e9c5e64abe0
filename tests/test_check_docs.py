#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/check-docs finds each fault that is planted in a tree, and nothing in a tree without.

usage: test_check_docs.py CHECK_DOCS
"""
import os
import re
import sys
import unittest

import planted_tree

CHECK_DOCS = sys.argv[1]
with open(CHECK_DOCS, encoding="utf-8") as tool:  # a page for a new subject raises it
    TOTAL = int(re.search(r"^TOTAL = (\d+)", tool.read(), re.M).group(1))
CLEAN = {
    "README.md": "# House\n\n[docs](docs/rules.md#how-to), `src/base/x.c`, `sluice/x.h`,\n"
                 "`include/sluice/*.h`, `src/engines/NAME/test/`, `src/base/{x,y}.c`,\n"
                 "[web](https://a.b/c)\n",
    "docs/rules.md": "# Rules\n\n## How to\n\n[back](../README.md), [here](#how-to)\n",
    "docs/bench/page.md": "# Machine\n\n| " + "x" * 200 + " |\n",
    "include/sluice/x.h": "/* docs/rules.md */\n",
    "src/base/README.md": "The module.\n",
    "src/base/x.c": "// " + "\u00e9" * 97 + "\n",
    "src/base/y.c": "/* src/base/x.c, src/NAME/x.c */\n",
    "src/engines/mpm/README.md": "The engine.\n",
    "tools/script": "#!/bin/sh\n",
    "tests/data.txt": "x" * 200 + "\n",
}
FAULTS = [  # file, its text, line of the fault, words of the reason
    ("src/base/wide.c", "\n" + "x" * 101, 2, "101 columns"),
    ("src/base/CMakeLists.txt", "#" * 101, 1, "101 columns"),
    ("cmake/x.cmake", "#" * 101, 1, "101 columns"),
    ("tools/wide", "#!/bin/sh\n#" + "x" * 101, 2, "102 columns"),
    ("tests/x.py", "#" * 101, 1, "101 columns"),
    ("docs/wide.md", "# Rules\n|" + "x" * 100, 2, "101 columns"),
    ("README.md", "word\n" * 901, 1, "901 words, at most 900"),
    ("src/base/README.md", "word\n" * 801, 1, "801 words, at most 800"),
    ("docs/long.md", "word\n" * 901, 1, "901 words, at most 900"),
    ("docs/benchmarks.md", "word\n" * 2451, 1, "2451 words, at most 2450"),
    ("docs/papers/x.md", "word\n" * 401, 1, "401 words, at most 400"),
    ("docs/bench/long.md", "word\n" * 901, 1, "901 words, at most 900"),
    ("docs/bench/wide.md", "word\n" + "x" * 101, 2, "101 columns"),
    ("docs/a.md", "a\n[x](../docs/none.md)", 2, "'../docs/none.md' leads to no file"),
    ("docs/b.md", "[x](rules.md#none)", 1, "leads to no heading"),
    ("docs/c.md", "[x](#none)", 1, "leads to no heading"),
    ("docs/d.md", "`src/base/none.c`", 1, "'src/base/none.c' is no path"),
    ("docs/e.md", "`cat src/base/none.c`", 1, "'src/base/none.c' is no path"),
    ("docs/f.md", "`sluice/none.h`", 1, "'sluice/none.h' is no path"),
    ("docs/g.md", "`src/base/{x,none}.c`", 1, "is no path"),
    ("docs/h.md", "`include/none/*.h`", 1, "is no path"),
    ("src/base/z.c", "/* docs/none.md */", 1, "'docs/none.md' is no path"),
    ("tools/lost", "#!/bin/sh\n# docs/none.md", 2, "'docs/none.md' is no path"),
    ("src/new/x.c", "int x;", None, "no README.md"),
    ("src/engines/new/x.c", "int x;", None, "no README.md"),
]


class CheckDocs(unittest.TestCase):
    def check(self, files):
        """The exit status and the lines of a tree with these files."""
        status, lines, errors = planted_tree.check(CHECK_DOCS, files)
        self.assertEqual(errors, "")
        return status, lines

    def test_a_tree_without_faults(self):
        self.assertEqual(self.check(CLEAN), (0, []))

    def test_each_fault_is_found_once(self):
        status, lines = self.check({**CLEAN, **{path: text for path, text, _, _ in FAULTS}})
        self.assertEqual((status, len(lines)), (1, len(FAULTS)), lines)
        for path, _, line, words in FAULTS:
            place = f"{path}:{line}: " if line else os.path.dirname(path) + ":1: "
            self.assertTrue(any(found.startswith(place) and words in found for found in lines),
                            (path, words, lines))

    def test_all_pages_together_are_limited(self):
        words = sum(len(text.split()) for path, text in CLEAN.items()
                    if path.startswith("docs/") and path.endswith(".md"))
        pages = [f"docs/{page}.md" for page in range((TOTAL - words) // 800)]
        full = {**CLEAN, **{page: "word\n" * 800 for page in pages}}
        left = TOTAL - words - 800 * len(pages)
        self.assertEqual(self.check({**full, "docs/last.md": "word\n" * left}), (0, []))
        self.assertEqual(self.check({**full, "docs/last.md": "word\n" * (left + 1)}),
                         (1, [f"docs:1: all pages have {TOTAL + 1} words, at most {TOTAL} are "
                              "allowed"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
