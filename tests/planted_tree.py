# SPDX-License-Identifier: MIT
"""A checker of tools/ on a git tree in which faults are planted."""
import os
import subprocess
import sys
import tempfile


def run(checker, *arguments):
    """The exit status, the lines of stdout, and stderr of a checker."""
    result = subprocess.run([sys.executable, checker, *arguments], capture_output=True,
                            encoding="utf-8", timeout=60, check=False)
    return result.returncode, result.stdout.splitlines(), result.stderr


def check(checker, files):
    """What the checker reports on a tree with these files: texts by path."""
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q", root], check=True)
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return run(checker, root)
