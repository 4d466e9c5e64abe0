# SPDX-License-Identifier: MIT
"""What tests of the command share: a folder of their own, and refusals."""
import os
import tempfile
import unittest


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = os.path.join(self.folder.name, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def assert_refused(self, result, *words):
        """Exit 2, exactly one line on stderr, which holds these words, and nothing on stdout."""
        text = result.stderr.decode()
        self.assertEqual(result.returncode, 2, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("sluice: "), text)
        self.assertEqual(result.stdout, b"")
        for word in words:
            self.assertIn(word, text)
