#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands that write one file: when they overwrite, killed at any moment, and on a full disk.

usage: test_written_files.py SLUICE SAMPLES

SLUICE_TEST_TRIES: how many times each command is killed (8, and 3 under a sanitizer).
"""
import json
import os
import pty
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import case

SLUICE, SAMPLES = sys.argv[1:3]
TRIES = int(os.environ.get("SLUICE_TEST_TRIES", "3" if case.is_sanitized(SLUICE) else "8"))
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
DISK_FULL = (b"No space left on device", b"File too large")


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class WrittenFiles(case.Case):
    # For each command: the arguments for an old and a new file, and what shows which it is.
    commands = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = os.path.join(cls.folder.name, "out", "file")
        os.mkdir(os.path.dirname(cls.out))

    def setUp(self):  # All tests read the same inputs, as these take longer than a test.
        if not self.commands:
            self.add_commands()
        self.addCleanup(self.remove)

    def add_commands(self):
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        old, new = self.path("old", capture * 8), self.path("new", capture * 8 + os.urandom(9999))
        encoded = [self.path("old.enc"), self.path("new.enc")]
        for source, target in zip((old, new), encoded):
            self.assertEqual(sluice("encode", source, target).returncode, 0)
        self.add("encode", [["encode", old], ["encode", new]], ["decode", "{}", "-"])
        self.add("decode", [["decode", path] for path in encoded], None)
        names = [self.path(name, b"".join(b"0.0.0.0 %s%d.test\n" % (name.encode(), i)
                                          for i in range(n))) for name, n in (("a", 9000),
                                                                              ("b", 12000))]
        self.add("lookup", [["lookup", "--table", path, "--build"] for path in names],
                 ["lookup", "--table", "{}", "a1.test", "b1.test"])
        bases = [self.path("%s.ndb" % name, b"".join(b"%s:0:*:%s\n" % (
            name.encode(), os.urandom(9).hex().encode()) for _ in range(n)) +
            b"This.%s:0:*:68656c6c6f20\n" % name.encode())
            for name, n in (("x", 3000), ("y", 4000))]
        self.path("hello", b"hello hello")
        self.add("scan", [["scan", "-d", path, "--compile"] for path in bases],
                 ["scan", "-d", "{}", "--no-summary", self.path("hello")])
        rules = [self.path("%s.rules" % name, b"".join(
            b'alert tcp any any -> any any (msg:"r"; content:"%s"; sid:%d;)\n' % (
                os.urandom(8).hex().encode(), i) for i in range(1, n))) for name, n in (
                    ("r", 3000), ("s", 4000))]
        self.add("rules", [["rules", path, "--device", "cpu", "--compile"] for path in rules], None)
        self.add_pictures()

    def add_pictures(self):
        rows = [self.path("rows%s.json" % rate, json.dumps({
            "format": "sluice bench", "version": 1, "timelines": [],
            "machine": {"sluice": "0.1.0", "time": "2026-11-21T00:00:00Z", "cpu": "Test CPU",
                        "level": "AVX2", "cores": 2, "memory_bytes": 1000000000},
            "command": ["bench"],
            "rows": [{"bench": "header", "variant": "a", "data": "some", "unit": "GB/s",
                      "role": "engine", "series": "a", "cores": cores, "runs": 3,
                      **dict.fromkeys(("median", "min", "q1", "q3", "max"), rate * cores)}
                     for cores in (1, 2)]}).encode()) for rate in (1, 2)]
        self.add("bench --save", [["bench", "--from", path, "--save"] for path in rows], None)
        if shutil.which("gnuplot"):
            self.add("bench --plot", [["bench", "--from", path, "--plot"] for path in rows], None)
            self.add("run", [["run", "-r", CAPTURE, "--redundancy", sampler, "-q", "--plot"]
                             for sampler in ("maxp", "rabin")], None)

    def add(self, name, arguments, use):
        """`use`: a command that reads the file; None: its bytes themselves tell."""
        uses = []
        for which in arguments:
            begin = time.monotonic()
            result = sluice(*which, self.out)
            took = time.monotonic() - begin
            self.assertEqual(result.returncode, 0, result.stderr)
            uses.append(self.use(use))
            self.remove()
        self.assertNotEqual(uses[0], uses[1])
        self.commands[name] = (arguments, use, uses, took)

    def use(self, use):
        if use is None:
            return read(self.out)
        result = sluice(*[argument.replace("{}", self.out) for argument in use])
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.stdout

    def remove(self):
        for name in os.listdir(os.path.dirname(self.out)):
            os.unlink(os.path.join(os.path.dirname(self.out), name))

    # ---- overwriting

    def test_a_file_is_overwritten_only_with_force(self):
        for (old, new), _, _, _ in self.commands.values():
            self.assertEqual(sluice(*old, self.out).returncode, 0)
            before = read(self.out)
            self.assert_refused(sluice(*new, self.out), self.out, "is there already", "--force")
            self.assertEqual(read(self.out), before)
            self.assertEqual(sluice(new[0], "--force", *new[1:], self.out).returncode, 0)
            self.assertNotEqual(read(self.out), before)
            self.remove()
        self.assertEqual(sluice("encode", CAPTURE, "/dev/null").returncode, 0)
        for command, option in (("rules", "--compile"), ("lookup", "--build"),
                                ("scan", "--compile")):
            files = {"rules": [os.path.join(SAMPLES, "sample.rules")],
                     "lookup": ["--table", self.path("a")], "scan": ["-d", self.path("x.ndb")]}
            self.assert_refused(sluice(command, "--force", *files[command]),
                                "--force needs " + option)

    def test_what_is_read_is_not_written(self):
        """An input stays as it is, whatever names it: itself, its folder or a pattern."""
        folder = os.path.join(self.folder.name, "inputs")
        os.mkdir(folder)
        rules, base, names, table, capture = (
            os.path.join("inputs", name)
            for name in ("a.rules", "a.ndb", "a.hosts", "a.table", "a.pcap"))
        shutil.copy(os.path.join(SAMPLES, "sample.rules"), self.path(rules))
        shutil.copy(CAPTURE, self.path(capture))
        self.path(base, b"Hello:0:*:68656c6c6f20\n")
        self.path(names, b"0.0.0.0 a.test\n")
        self.assertEqual(sluice("rules", self.path(rules), "--compile",
                                self.path(table)).returncode, 0)
        before = {name: read(os.path.join(folder, name)) for name in os.listdir(folder)}
        run = ["run", "-r", CAPTURE, "-q"]
        for out, command in (
                (rules, ["rules", folder, "--force", "--compile", "{}"]),
                (rules, ["rules", folder + "/*.rules", "--force", "--compile", "{}"]),
                (base, ["scan", "-d", folder, "--force", "--compile", "{}"]),
                (base, ["scan", "-d", folder, "-l", "{}", CAPTURE]),
                (base, ["scan", "-d", self.path(base), "-l", "{}", CAPTURE]),
                (names, ["scan", "-d", self.path(base), "-f", self.path(names), "-l", "{}"]),
                (rules, [*run, "--rules", folder, "--alerts", "eve:{}"]),
                (rules, [*run, "--rules", folder + "/*.rules", "--alerts", "eve:{}"]),
                (base, [*run, "--scan", self.path(base), "--alerts", "eve:{}"]),
                (base, [*run, "--scan", folder, "--alerts", "eve:{}"]),
                (table, [*run, "--rules", self.path(rules), "--compiled", self.path(table),
                         "--alerts", "eve:{}"]),
                (names, [*run, "--names", self.path(names), "--alerts", "eve:{}"]),
                (capture, [*run, "--redundancy", "samplebyte", "--train", self.path(capture),
                           "--alerts", "eve:{}"]),
                (rules, [*run, "--rules", self.path(rules), "--redundancy", "maxp", "--force",
                         "--plot", "{}"]),
                (capture, ["bench", "header", "-r", self.path(capture), "--force", "--save", "{}"]),
                (rules, ["bench", "mpm", "--rules", self.path(rules), "--force", "--save", "{}"])):
            path = self.path(out)
            self.assert_refused(sluice(*(word.replace("{}", path) for word in command)),
                                path + ": is read, and would be written")
            self.assertEqual({name: read(os.path.join(folder, name))
                              for name in os.listdir(folder)}, before)
        again = ["rules", folder, "--force", "--compile", self.path("inputs/b.table")]
        for _ in range(2):  # what is not read may be overwritten in a folder that is
            self.assertEqual(sluice(*again).returncode, 0)

    def test_two_outputs_are_two_files(self):
        rules, out = os.path.join(SAMPLES, "sample.rules"), self.path("events", b"")
        run = ["run", "-r", CAPTURE, "--rules", rules, "-q", "--alerts", "eve:" + out]
        link = self.path("link")
        os.symlink(out, link)
        for more in (["--alerts", "eve:" + out], ["--alerts", "eve:" + link],
                     ["--alerts", "sqlite:" + out], ["--redundancy", "maxp", "--plot", out]):
            self.assert_refused(sluice(*run, *more), "are one file (expected two)")
        self.assertEqual(read(out), b"")

    def ask(self, answer, *arguments):
        """What the command says at a terminal whose user gives this answer."""
        child, terminal = pty.fork()
        if child == 0:
            os.execv(SLUICE, [SLUICE, *arguments])
        os.write(terminal, answer)
        said = b""
        try:
            while piece := os.read(terminal, 4096):
                said += piece
        except OSError:  # the terminal's other side is closed
            pass
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said

    def test_a_user_at_a_terminal_is_asked(self):
        self.assertEqual(sluice("encode", self.path("old"), self.out).returncode, 0)
        before = read(self.out)
        for answer in (b"n\n", b"\n", b"\x04"):
            status, said = self.ask(answer, "encode", self.path("new"), self.out)
            self.assertEqual(status, 2)
            self.assertIn(b"overwrite it (y/n)?", said)
            self.assertIn(b"was not overwritten", said)
            self.assertEqual(read(self.out), before)
        self.assertEqual(self.ask(b"", "encode", "-q", self.path("new"), self.out)[0], 2)
        self.assertEqual(self.ask(b"y\n", "encode", self.path("new"), self.out)[0], 0)
        self.assertNotEqual(read(self.out), before)

    # ---- limits

    def test_decode_has_a_limit(self):
        encoded, length = self.path("old.enc"), os.path.getsize(self.path("old"))
        self.assertEqual(sluice("decode", "--max-output", str(length), encoded,
                                self.out).returncode, 0)
        before = read(self.out)
        for limit in (str(length - 1), "1K", "1"):
            self.assert_refused(sluice("decode", "-f", "--max-output", limit, encoded, self.out),
                                "longer than the limit of", "nothing was written")
            self.assertEqual(read(self.out), before)
        self.remove()
        self.assert_refused(sluice("decode", "--max-output", "1M", encoded, self.out), "1048576")
        self.assertEqual(os.listdir(os.path.dirname(self.out)), [])
        result = sluice("decode", "--max-output", "1M", encoded, "-")
        self.assertEqual(result.returncode, 2)
        self.assertLessEqual(len(result.stdout), 1 << 20)
        self.assertTrue(before.startswith(result.stdout))
        for limit in ("0", "x", "-1", "1T"):
            self.assert_refused(sluice("decode", "--max-output", limit, encoded, "-"),
                                "'" + limit + "'")

    def test_decode_reports_the_ratio(self):
        status, said = self.ask(b"", "decode", self.path("old.enc"), self.out)
        self.assertEqual(status, 0)
        self.assertRegex(said, rb"MB \([0-9.]+ times as much\)")

    # ---- kills

    def test_killed_at_any_moment(self):
        for (old, new), use, (is_old, is_new), took in self.commands.values():
            self.assertEqual(sluice(*old, self.out).returncode, 0)
            for _ in range(TRIES):
                with subprocess.Popen([SLUICE, new[0], "--force", *new[1:], self.out],
                                      stdout=subprocess.DEVNULL) as process:
                    time.sleep(random.uniform(0, took))
                    process.kill()
                self.assertIn(self.use(use), (is_old, is_new))
            self.assertEqual(sluice(old[0], "--force", *old[1:], self.out).returncode, 0)
            self.assertEqual(self.use(use), is_old)
            self.assertLessEqual(set(os.listdir(os.path.dirname(self.out))), {"file", "file.fib"})
            self.remove()

    def test_a_stop_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([SLUICE, "encode", "-", self.out], stdin=subprocess.PIPE)
            process.stdin.write(read(self.path("old")))
            process.stdin.flush()
            case.wait_until_read(process.stdin)
            self.assertEqual(len(os.listdir(os.path.dirname(self.out))), 1)
            process.send_signal(number)
            process.stdin.close()
            self.assertEqual(process.wait(120), -number)
            self.assertEqual(os.listdir(os.path.dirname(self.out)), [])

    # ---- full disks

    def assert_full(self, start, new, before):
        result = start(SLUICE, new[0], "--force", *new[1:], self.out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(self.out.encode(), result.stderr)
        self.assertTrue(any(reason in result.stderr for reason in DISK_FULL), result.stderr)
        self.assertEqual({name: read(os.path.join(os.path.dirname(self.out), name))
                          for name in os.listdir(os.path.dirname(self.out))}, before)

    def test_a_full_disk(self):
        """A limit of the file's length stands for the disk where nothing can be mounted."""
        folder = os.path.dirname(self.out)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24M", "none", folder],
                                 stderr=subprocess.DEVNULL, check=False).returncode == 0
        if mounted:
            self.addCleanup(subprocess.run, ["umount", folder], check=True)

        def start(*command):
            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
            return subprocess.run(command, capture_output=True, timeout=120, check=False,
                                  stdin=subprocess.DEVNULL, preexec_fn=None if mounted else limit)

        for (old, new), _, _, _ in self.commands.values():
            self.remove()
            self.assertEqual(sluice(*old, self.out).returncode, 0)
            if mounted:
                with open(os.path.join(folder, "rest"), "wb") as file:
                    room = os.statvfs(folder)
                    file.write(bytes(room.f_bavail * room.f_frsize))
            before = {name: read(os.path.join(folder, name)) for name in os.listdir(folder)}
            self.assert_full(start, new, before)


if __name__ == "__main__":
    case.main()
