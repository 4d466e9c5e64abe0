#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/list-skipped: skipped checks of CTest's last run, by their reasons.

usage: test_list_skipped.py LIST_SKIPPED
"""
import os
import sys

import case

LIST_SKIPPED = sys.argv[1]
LOG = b"""Start testing: Nov 23 17:00 UTC
----------------------------------------------------------
1/3 Testing: sinks
1/3 Test: sinks
Output:
skipped: no disk
skipped: no disk
[  SKIPPED ] test_a
<end of output>
2/3 Testing: run
2/3 Test: run
Output:
all is well, nothing was skipped: x
3/3 Testing: live
3/3 Test: live
Output:
skipped: no right
skipped: no disk
"""


class ListSkipped(case.Case):
    def list(self, log):
        os.makedirs(self.path("Testing/Temporary"))
        self.path("Testing/Temporary/LastTest.log", log)
        result = case.run(LIST_SKIPPED, self.folder.name)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout

    def test_reasons_have_their_tests(self):
        self.assertEqual(self.list(LOG),
                         b"\nSkipped checks:\n  no disk: sinks, live\n  no right: live\n")

    def test_no_test_was_run(self):
        result = case.run(LIST_SKIPPED, self.folder.name)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))

    def test_nothing_was_skipped(self):
        self.assertEqual(self.list(b"1/1 Testing: a\nOutput:\nx\n"), b"")


if __name__ == "__main__":
    case.main()
