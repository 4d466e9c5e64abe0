#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev install: which tree it builds and installs, and what it does for the loader.

usage: test_dev.py DEV

cmake, id and ldconfig are scripts here, which write down how they were called.
"""
import os
import shutil
import subprocess
import sys

import case

DEV = sys.argv[1]
CMAKE = """#!/bin/sh
echo "cmake $*" >>"$CALLS"
case $1 in
--preset)
    mkdir -p "build/$2"
    touch "build/$2/build.ninja"
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$2/CMakeCache.txt"
    echo "CMAKE_INSTALL_LIBDIR:PATH=lib" >>"build/$2/CMakeCache.txt"
    ;;
esac
"""
LDCONFIG = """#!/bin/sh
echo "ldconfig $*" >>"$CALLS"
[ $# -eq 0 ] || echo "libsluice.so.0.1 (libc6,x86-64) => $KNOWN/libsluice.so.0.1"
"""


class Dev(case.Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("tools"))
        self.script("tools/cmake", CMAKE)
        self.script("tools/ldconfig", LDCONFIG)
        self.script("tools/id", "#!/bin/sh\necho $TEST_UID\n")

    def script(self, name, text):
        os.chmod(self.path(name, text.encode()), 0o755)

    def tree(self, name):
        os.makedirs(self.path(name + "/tools"))
        shutil.copy(DEV, self.path(name))
        self.script(name + "/tools/install-deps", "#!/bin/sh\n")
        return self.path(name)

    def install(self, tree, known="/usr/local/lib", user="0", **more):
        """What was called, and what was printed."""
        calls = self.path("calls", b"")
        result = subprocess.run(["./dev", "install", "/usr/local"], cwd=tree, capture_output=True,
                                text=True, check=True, timeout=60,
                                env={**os.environ, "PATH": self.path("tools") + ":" +
                                     os.environ["PATH"], "CALLS": calls, "KNOWN": known,
                                     "TEST_UID": user, **more})
        with open(calls, encoding="utf-8") as file:
            return file.read().splitlines(), result.stdout + result.stderr

    def test_a_copied_tree_is_built_anew(self):
        tree = self.tree("tree")
        built = ["cmake --build --preset release",
                 "cmake --install build/release --prefix /usr/local"]
        self.assertEqual(self.install(tree)[0][:3], ["cmake --preset release", *built])
        self.assertEqual(self.install(tree)[0][:2], built)
        copied = self.path("copied")
        shutil.copytree(tree, copied)
        self.path("copied/build/release/left", b"of the other tree")
        calls, said = self.install(copied)
        self.assertEqual(calls[:3], ["cmake --preset release", *built])
        self.assertIn("build/release is of " + tree, said)
        self.assertFalse(os.path.exists(self.path("copied/build/release/left")))
        self.assertEqual(self.install(copied)[0][:2], built)
        os.rename(tree, self.path("gone"))
        self.assertEqual(self.install(self.path("gone"))[0][:3], ["cmake --preset release", *built])

    def test_a_link_to_the_tree_is_the_tree(self):
        tree = self.tree("tree")
        self.install(tree)
        os.symlink("tree", self.path("link"))
        self.assertEqual(self.install(self.path("link"))[0][0], "cmake --build --preset release")

    def test_the_loader_learns_the_library(self):
        tree = self.tree("tree")
        calls, said = self.install(tree)
        self.assertEqual(calls[-2:], ["ldconfig ", "ldconfig -p"])
        self.assertNotIn("LD_LIBRARY_PATH", said)
        for options in ({"user": "1000"}, {"DESTDIR": self.path("root")}):
            calls, said = self.install(tree, known="/elsewhere", **options)
            self.assertEqual(calls[-1], "ldconfig -p")
            self.assertNotIn("ldconfig ", calls)
            self.assertIn("LD_LIBRARY_PATH=/usr/local/lib", said)
            self.assertIn("PKG_CONFIG_PATH=/usr/local/lib/pkgconfig", said)


if __name__ == "__main__":
    case.main()
