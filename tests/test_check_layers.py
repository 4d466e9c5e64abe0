#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/check-layers finds each fault that is planted in a tree, and nothing in a tree without.

usage: test_check_layers.py CHECK_LAYERS
"""
import sys
import unittest

import planted_tree

CHECK_LAYERS = sys.argv[1]
PAGE = """# Architecture

## Layers

| module | may include | public headers |
|---|---|---|
| base | | `status.h` |
| device | base | `device.h` |
| engines/mpm | base | `mpm.h` |
| engines/header | base | `header.h` |
| run | src/* |
| cli | public headers |
| bench/frame | base, cli |
| bench/data | src/*, bench/frame |
"""
CLEAN = {
    "docs/architecture.md": PAGE,
    "include/sluice/status.h": "",
    "include/sluice/device.h": '#include "sluice/status.h"\n',
    "include/sluice/mpm.h": '#include "sluice/status.h"\n',
    "include/sluice/header.h": "",
    "include/sluice/sluice.h": '#include "sluice/mpm.h"\n',
    "src/base/clock.h": "",
    "src/base/diag.h": '#include "sluice/status.h"\n',
    "src/device/cuda.cu": '#include <cuda_runtime.h>\n#include "base/diag.h"\n',
    "src/engines/mpm/mpm_table.h": "",
    "src/engines/mpm/mpm.c": '#include "mpm_table.h"\n#include "sluice/mpm.h"\n',
    "src/engines/mpm/papers/rk.c": '#include "engines/mpm/mpm_table.h"\n',
    "src/engines/mpm/test/mpm_ref.h": "",
    "src/engines/mpm/test/test_mpm.c": '#include "test.h"\n#include "mpm_ref.h"\n'
                                       '#include "sluice/sluice.h"\n',
    "src/engines/mpm/CMakeLists.txt": "sluice_module(mpm SOURCES mpm.c NEEDS sluice_base)\n",
    "src/run/run.c": '#include "engines/mpm/mpm_table.h"\n',
    "cli/main.c": '#include "base/clock.h"\n#include "sluice/mpm.h"\n',
    "examples/scan.c": "#include <sluice/sluice.h>\n",
    "cli/console.h": "",
    "bench/frame/row.h": '#include "cli/console.h"\n',
    "bench/data/data.c": '#include "bench/frame/row.h"\n#include "engines/mpm/mpm_table.h"\n',
    "tests/test.h": "#include <cmocka.h>\n",
}
FAULTS = [  # file, its text, line of the fault, words of the reason
    ("src/base/a.c", '\n#include "engines/mpm/mpm_table.h"', 2, "base may not include"),
    ("src/base/b.c", '#include "sluice/mpm.h"', 1, "'sluice/mpm.h' of engines/mpm"),
    ("src/engines/header/c.c", '#include "engines/mpm/mpm_table.h"', 1, "of engines/mpm"),
    ("src/engines/mpm/papers/d.c", '#include "mpm_table.h"', 1, "not in the file's own folder"),
    ("src/base/e.c", '#include "base/none.h"', 1, "no path from src/"),
    ("src/run/f.c", '#include "sluice/sluice.h"', 1, "run may not include"),
    ("cli/r.c", '#include "sluice/sluice.h"', 1, "cli may not include"),
    ("src/run/s.c", "#include <sluice/sluice.h>", 1, "run may not include"),
    ("bench/data/p.c", '#include "sluice/sluice.h"', 1, "bench/data may not include"),
    ("src/base/g.c", '#include "sluice/none.h"', 1, "in no row"),
    ("include/sluice/lost.h", "", 1, "in no row"),
    ("include/sluice/status.h", '#include "sluice/mpm.h"', 1, "base may not include"),
    ("src/base/h.c", '#include "test.h"', 1, "not in the file's own folder"),
    ("src/base/i.c", "#include <cmocka.h>", 1, "this file is no test"),
    ("src/run/j.c", '#include "engines/mpm/test/mpm_ref.h"', 1, "this file is no test"),
    ("src/run/k.c", "# include <cuda_runtime.h>", 1, "outside its fence"),
    ("src/run/l.c", "#ifdef SLUICE_HAVE_CUDA\n#endif", 1, "asks whether CUDA"),
    ("cli/m.c", '#include "base/diag.h"', 1, "cli may not include 'base/diag.h'"),
    ("bench/frame/n.c", '#include "bench/data/made.h"', 1, "may not include"),
    ("bench/data/made.h", "", None, ""),
    ("src/new/o.c", "", 1, "module new is in no row"),
    ("src/run/mpm.c", "", 1, "the same name"),
    ("src/engines/header/CMakeLists.txt", "sluice_module(header SOURCES c.c\n NEEDS sluice_mpm)",
     2, "may not link engines/mpm"),
]


class CheckLayers(unittest.TestCase):
    def check(self, files):
        """The exit status and the lines of a tree with these files."""
        status, lines, errors = planted_tree.check(CHECK_LAYERS, files)
        self.assertEqual(errors, "")
        return status, lines

    def test_a_tree_without_faults(self):
        self.assertEqual(self.check(CLEAN), (0, []))

    def test_each_fault_is_found_once(self):
        status, lines = self.check({**CLEAN, **{path: text for path, text, _, _ in FAULTS}})
        planted = [fault for fault in FAULTS if fault[2]]
        self.assertEqual((status, len(lines)), (1, len(planted)), lines)
        for path, _, line, words in planted:
            self.assertTrue(any(found.startswith(f"{path}:{line}: ") and words in found
                                for found in lines), (path, words, lines))

    def test_the_tree_itself(self):
        self.assertEqual(planted_tree.run(CHECK_LAYERS), (0, [], ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
