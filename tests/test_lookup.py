#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice lookup as a person starts it: answers, options, bad input, pipes, updates, signals.

usage: test_lookup.py SLUICE
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

import case

SLUICE = sys.argv[1]


def lookup(*arguments, **options):
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SLUICE, "lookup", *arguments], capture_output=True, timeout=120,
                          **options)


class Lookup(case.Case):
    def setUp(self):
        super().setUp()
        self.routes = self.path("routes", b"/com/parc\t1\n/com/parc/www/a\t2,3\n")
        self.hosts = self.path("hosts", b"0.0.0.0 ads.test\nnonsense\n192.0.2.1 v.test\n")

    # ---- answers

    def test_tsv(self):
        result = lookup("--table", self.routes, "/com/parc/x", "www.parc.com",
                        "http://www.parc.com/a/b", "/com/par", "a..b")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.decode().splitlines(),
                         ["/com/parc/x\t/com/parc\tforward\t1",
                          "www.parc.com\tparc.com\tforward\t1",
                          "http://www.parc.com/a/b\twww.parc.com/a\tforward\t2,3",
                          "/com/par\t-\tnone\t-",
                          "a..b\t-\tinvalid\tan empty label"])

    def test_explain(self):
        result = lookup("--table", self.routes, "--table", self.hosts, "--explain", "v.test",
                        "x.test")
        self.assertEqual(result.stdout.decode().splitlines(),
                         [f"v.test\tv.test\taddress\t192.0.2.1\t{self.hosts}\t3",
                          "x.test\t-\tnone\t-\t-\t-"])

    def test_json(self):
        routes = self.path("nfdc", b"prefix=/a nexthop=262 cost=10\nprefix=/a nexthop=9 cost=0\n")
        result = lookup("--table", routes, "--table", self.hosts, "--json", "--explain", "/a/b",
                        "v.test", "x.test", b"\xff\"\x01")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[0],
                         {"name": "/a/b", "action": "forward", "prefix": "/a",
                          "next_hops": [{"hop": "262", "cost": 10}, {"hop": "9", "cost": 0}],
                          "list": routes, "format": "nfdc", "line": 1})
        self.assertEqual(lines[1]["values"], ["192.0.2.1"])
        self.assertEqual(lines[2], {"name": "x.test", "action": "none"})
        self.assertEqual(lines[3]["name"], "\\xff\"\x01")
        self.assertEqual(lines[3]["action"], "invalid")

    def test_answers_cannot_control_a_terminal(self):
        """UTF-8 stays. Other bytes, and C0, DEL and C1, are written as all sinks write them."""
        name = b"/\xc3\xa9\xff\x1b\x7f\xc2\x9b\x9b\tx"
        result = lookup("--table", self.routes, "-", input=name + b"\n")
        self.assertEqual(result.stdout,
                         b"/\xc3\xa9\\xff\\x1b\\x7f\\xc2\\x9b\\x9b\\x09x\t-\tinvalid\t"
                         b"a blank or control byte is not percent-escaped\n")
        result = lookup("--table", self.routes, "--json", "-", input=name + b"\n")
        self.assertIn(b"\\u001b\\u007f\\u009b\\\\x9b\\u0009x", result.stdout)
        self.assertEqual(json.loads(result.stdout)["name"], "/é\\xff\x1b\x7f\x9b\\x9b\tx")

    def test_names_from_a_pipe(self):
        names = b"".join(b"/com/parc/%d\n" % i for i in range(20000)) + b"\n  /com/parc \r\n/none"
        result = lookup("--table", self.routes, "-", input=names)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 20003)
        self.assertEqual(lines[19999], b"/com/parc/19999\t/com/parc\tforward\t1")
        self.assertEqual(lines[20000], b"\t-\tinvalid\tan empty name")
        self.assertEqual(lines[20001], b"/com/parc\t/com/parc\tforward\t1")
        self.assertEqual(lines[20002], b"/none\t-\tnone\t-")

    def test_threads_change_nothing(self):
        names = b"".join(b"/com/parc/%d\n/x%d\n" % (i, i) for i in range(30000))
        for options in ((), ("--json", "--explain")):
            one, *others = (lookup("--table", self.routes, *options, "--threads", n, "-",
                                   input=names) for n in ("1", "3", "0"))
            self.assertEqual((one.returncode, one.stdout.count(b"\n")), (0, 60000))
            for other in others:
                self.assertEqual((other.returncode, other.stdout), (0, one.stdout))
        for arguments in (["/a"], ["--bench", "-"], []):
            self.assert_refused(lookup("--table", self.routes, "--threads", "2", *arguments),
                                "--threads")
        self.assert_refused(lookup("--table", self.routes, "--threads", "1025", "-"), "--threads")

    def test_one_line_in_one_answer_out(self):
        """Nothing of a line is a query of its own, however long the line and however it ends."""
        query = b" /com/parc"
        large = (2 if case.is_sanitized(SLUICE) else 5) << 20
        for filler, n in ((b"a", large), (b"\0", 3), (b"\0", large), (b" /com/parc", large // 5),
                          (b"\r", (1 << 20) - 9)):
            for end in (b"", b"\n", b"\r\n"):
                line = b"x" + filler * n + query
                names = line + b"\n" + b"/com/parc\n" + line + end
                lines = lookup("--table", self.routes, "-", input=names).stdout.split(b"\n")
                self.assertEqual(len(lines), 4, (filler, n, end))
                self.assertEqual(lines[1], b"/com/parc\t/com/parc\tforward\t1")
                self.assertEqual(lines[3], b"")
                for i in (0, 2):
                    self.assertEqual(lines[i].split(b"\t")[1:3], [b"-", b"invalid"])
                    reason = lines[i].split(b"\t")[3]
                    self.assertEqual(reason == b"the line is longer than a line may be",
                                     len(line) > 1 << 20)

    def test_answers_come_at_once_and_ctrl_c_is_clean(self):
        with subprocess.Popen([SLUICE, "lookup", "--table", self.routes, "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdin.write(b"/com/parc\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), b"/com/parc\t/com/parc\tforward\t1\n")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 0)
            self.assertFalse(process.stderr.read())

    def test_ctrl_c_ends_updates_that_wait(self):
        """Whichever thread waits: for a writer of a pipe, for its lines, or for its end."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for arguments, line in ((["--update", "-"], b"+/new\t8\n"),
                                (["--update", fifo, "-"], b"/com/parc\n"),
                                (["--update", fifo], b"")):
            with subprocess.Popen([SLUICE, "lookup", "--table", self.routes, *arguments],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                self.addCleanup(process.kill)
                process.stdin.write(line)
                process.stdin.flush()
                self.wait_until_it_waits(process)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=60), 0, arguments)
                process.stdout.read()

    def wait_until_it_waits(self, process):
        """For updates, on a thread of their own."""
        end = time.monotonic() + 60
        tasks = f"/proc/{process.pid}/task"
        while len(os.listdir(tasks)) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)  # where it is not there yet, it hears of the signal later

    def test_a_closed_pipe_and_a_full_disk(self):
        command = (f"yes /com/parc | head -1000000 | "
                   f"{SLUICE} lookup --table {self.routes} - | head -1")
        result = subprocess.run(["sh", "-c", command], capture_output=True, timeout=120)
        self.assertEqual(result.stdout, b"/com/parc\t/com/parc\tforward\t1\n")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([SLUICE, "lookup", "--table", self.routes, "/a"], stdout=full,
                                    stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"No space left", result.stderr)

    def test_bench(self):
        result = json.loads(lookup("--table", self.routes, "--bench", "--json", "-",
                                   input=b"/com/parc/a\n/x\n").stdout)
        self.assertEqual((result["names"], result["found"]), (2, 1))
        self.assertGreater(result["lookups_per_second"], 0)

    # ---- counts of tables

    def test_ignored_lines(self):
        count = json.loads(lookup("--table", self.hosts, "--json").stdout)
        self.assertEqual((count["lines"], count["understood"], count["ignored"]), (3, 2, 1))
        self.assertEqual(count["ignored_by_reason"], {"no IP address at the beginning": 1})
        self.assertEqual((count["skipped"], count["skipped_by_reason"]), (0, {}))
        self.assertEqual(count["lists"], [{"file": self.hosts, "format": "hosts"}])
        filters = self.path("filters", b"||ads.test^\n||a.test^$third-party\n||a..b^\n##.ad\n")
        count = json.loads(lookup("--table", filters, "--json").stdout)
        self.assertEqual((count["lines"], count["understood"], count["ignored"], count["skipped"]),
                         (4, 1, 1, 2))
        self.assertEqual(sum(count["skipped_by_reason"].values()), 2)
        result = lookup("--table", filters)
        self.assertIn(b"1 of 4 lines ignored, 2 skipped", result.stderr)
        self.assertIn(b"2 skipped: they are not supported", result.stdout)
        result = lookup("--table", filters, "--ignored", "ads.test")
        self.assertIn(f"{filters}:2: a modifier".encode(), result.stderr)
        result = lookup("--table", self.hosts, "--ignored", "ads.test")
        self.assertIn(f"{self.hosts}:2: no IP address".encode(), result.stderr)
        self.assertEqual(result.stdout, b"ads.test\tads.test\tblock\t-\n")

    def test_ignored_lines_of_a_saved_table_are_known_to_its_list(self):
        filters = self.path("filters", b"||ads.test^\n||a.test^$third-party\n||a..b^\n##.ad\n")
        table = self.path("table")
        self.assertEqual(lookup("--table", filters, "--build", table).returncode, 0)
        for option in ((), ("--ignored",)):
            result = lookup("--table", table, *option, "ads.test")
            self.assertEqual(result.stderr, b"sluice: 1 of 4 lines ignored, 2 skipped\n"
                             b"sluice: 3 of them are in the lists that a saved table was built "
                             b"from (sluice lookup --table LIST --ignored lists them)\n")
        update = self.path("update", b"+||a..c^\n+||new.test^\n")
        result = lookup("--table", table, "--update", update, "ads.test")
        self.assertIn(b"2 of 6 lines ignored, 2 skipped (sluice lookup --ignored lists them):\n"
                      b"sluice: 3 of them are in the", result.stderr)
        self.assertIn(b"  an empty label", result.stderr)

    # ---- bad input

    def test_bad_options(self):
        self.assertEqual(lookup("--help").returncode, 0)
        self.assertIn(b"dnsmasq", lookup("--format", "help").stdout)
        self.assert_refused(lookup(), "--table")
        self.assert_refused(lookup("--what"), "--what")
        self.assert_refused(lookup("--table"), "--table")
        self.assert_refused(lookup("--format", "fancy", "--table", self.hosts), "fancy", "dnsmasq")
        self.assert_refused(lookup("--table", self.hosts, "--syntax", "x"), "'x'", "domain")
        self.assert_refused(lookup("--table", self.hosts, "-", "a"), "-")
        self.assert_refused(lookup("--table", self.hosts, "--update", "-", "-"), "standard input")
        self.assert_refused(lookup("--table", self.hosts, "--bench"), "--bench")
        for option in ("--explain", "--exit-status"):
            self.assert_refused(lookup("--table", self.hosts, "--bench", option, "a"), option)
        self.assert_refused(lookup("--table", self.hosts, "--exit-status"), "--exit-status")

    def test_no_option_is_without_effect(self):
        """Each option, in each place, does what the usage says, or is refused."""
        domains = self.path("domains", b"ads.test\n")
        result = lookup("--format", "subdomains", "--table", domains, "x.ads.test")
        self.assertIn(b"block", result.stdout)
        for arguments in (["--table", domains, "--format", "subdomains"],
                          ["--format", "hosts", "--format", "subdomains", "--table", domains],
                          ["--table", domains, "--format", "auto"],
                          ["--table", domains, "--update", domains, "--format", "hosts"]):
            self.assert_refused(lookup(*arguments, "x.ads.test"), "--format", "has no effect")
        other = self.path("other", b"+0.0.0.0 more.test\n")
        for arguments in (["--table", domains, "--format", "hosts", "--update", other],
                          ["--format", "hosts", "--update", other, "--format", "domains",
                           "--table", domains]):
            self.assertIn(b"block", lookup(*arguments, "more.test").stdout, arguments)
        for option, values in (("--build", "xy"), ("--update", "xy"), ("--plane", ("hash", "mata")),
                               ("--device", ("cpu", "auto")), ("--syntax", ("ndn", "url"))):
            self.assert_refused(lookup("--table", domains, option, values[0], option, values[1]),
                                option, "twice")

    def test_a_file_behind_a_table_is_no_name(self):
        domains = self.path("domains", b"ads.test\n")
        for arguments in ([self.hosts], ["x.test", self.hosts], [self.hosts, "x.test"]):
            self.assert_refused(lookup("--table", domains, *arguments), self.hosts, "is a file")
            result = lookup("--table", domains, "--", *arguments)
            self.assertEqual((result.returncode, len(result.stdout.splitlines())),
                             (0, len(arguments)))
        result = lookup("--table", domains, "--", "--table", self.hosts)
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertEqual(lookup(self.hosts, "--table", domains).returncode, 0)

    def test_exit_status(self):
        def status(*names, **options):
            return lookup("--exit-status", "--table", self.routes, *names, **options).returncode

        self.assertEqual(status("/com/parc", "/com/parc/x"), 0)
        self.assertEqual(status("/com/parc", "/none"), 1)
        self.assertEqual(status("a..b", "/com/parc"), 1)
        self.assertEqual(status("-", input=b"/com/parc\n"), 0)
        self.assertEqual(status("-", input=b"/none\n" + b"/com/parc\n" * 10000), 1)
        self.assertEqual(status("-", input=b"\n"), 1)
        self.assertEqual(status("-", input=b""), 0)
        self.assertEqual(status("/none", "--table", self.path("absent")), 2)
        self.assertEqual(lookup("--table", self.routes, "/none").returncode, 0)

    def test_bad_tables(self):
        self.assert_refused(lookup("--table", self.path("none")), "none", "No such file")
        self.assert_refused(lookup("--table", self.folder.name), "directory")
        self.assert_refused(lookup("--table", self.path("junk", b"{\n?\n}\n")), "junk", "adblock")
        self.assert_refused(lookup("--table", self.path("empty", b"")), "empty", "format")
        wrong = self.path("wrong", b"# nothing\n" + b"ads.test tracker.test\n" * 100000)
        for first in ([], ["--table", self.routes]):
            result = lookup(*first, "--format", "hosts", "--table", wrong)
            self.assert_refused(result, f"{wrong}:2: no IP address", "100000 lines")
        good = self.path("good", b"/a\t1\n")
        result = lookup("--table", good, "--plane", "tree")
        self.assert_refused(result, "tree", "hash")

    def stopped_while_reading(self, path):
        """A look-up in the list, stopped by a signal when it has read a part of the file. Its first
        bytes alone may be of the test for a saved table, which opens the file before the loader."""
        command = [SLUICE, "lookup", "--format", "hosts", "--table", path, "b.test"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        while process.poll() is None:
            for fd in os.listdir(f"/proc/{process.pid}/fd"):
                try:
                    if os.readlink(f"/proc/{process.pid}/fd/{fd}") != path:
                        continue
                    with open(f"/proc/{process.pid}/fdinfo/{fd}", encoding="ascii") as info:
                        at = int(info.readline().split()[1])
                except OSError:
                    continue
                if at > 4096:
                    process.send_signal(signal.SIGSTOP)
                    return process
        return process

    def test_a_list_that_changes_while_it_is_read(self):
        """It is refused: cut, overwritten, or longer. The look-up neither dies nor answers."""
        filling = b"# a line of no meaning, which takes time to read\n"
        text = b"0.0.0.0 a.test\n" + filling * (1 << 21)

        def cut(path):
            os.truncate(path, 1 << 20)

        def overwrite(path):
            with open(path, "r+b") as file:
                file.seek(len(text) - 20)
                file.write(b"\n0.0.0.0 b.test\n")

        def append(path):
            with open(path, "ab") as file:
                file.write(b"0.0.0.0 b.test\n")

        for change in (cut, overwrite, append):
            path = self.path(change.__name__, text)
            process = self.stopped_while_reading(path)
            change(path)
            process.send_signal(signal.SIGCONT)
            stdout, stderr = process.communicate(timeout=120)
            self.assertEqual((process.returncode, stdout), (2, b""), (change.__name__, stderr))
            self.assertIn(b"changed while it was read", stderr)

    def test_what_cannot_be_saved_leaves_nothing(self):
        os.mkdir(self.path("folder"))
        self.assert_refused(lookup("--table", self.routes, "--build", self.path("folder")),
                            "no regular file")
        self.assertEqual(os.listdir(self.path("folder")), [])

    def test_a_small_table_takes_little_address_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

        if subprocess.run([SLUICE, "--version"], capture_output=True, timeout=120,
                          preexec_fn=limit).returncode != 0:
            self.skipTest("a sanitizer needs more address space")
        for plane in "hash", "mata":
            result = subprocess.run([SLUICE, "lookup", "--plane", plane, "--table", self.routes,
                                     "--update", "-", "/new"], input=b"+/new\t8\n",
                                    capture_output=True, timeout=120, preexec_fn=limit)
            self.assertIn(b"forward\t8", result.stdout, (plane, result.stderr))

    def test_too_little_memory_is_said_before(self):
        names = self.path("many", b"".join(b"/a/%d\t1\n" % i for i in range(400000)))

        def run(size, *arguments):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (size, size))
            return subprocess.run([SLUICE, *arguments], stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=120, preexec_fn=limit)

        if run(400 << 20, "--version").returncode != 0:
            self.skipTest("a sanitizer needs more address space")
        said = 0
        for megabytes in range(60, 400, 20):
            result = run(megabytes << 20, "lookup", "--table", names, "/a")
            self.assertIn(result.returncode, (0, 2), megabytes)
            if result.returncode == 2:
                self.assertEqual(len(result.stderr.splitlines()), 1)
            said += b"400000 names needs about" in result.stderr
        self.assertGreater(said, 0)

    # ---- built tables

    def test_a_built_table(self):
        table = self.path("table")
        result = lookup("--table", self.hosts, "--build", table)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = lookup("--table", table, "--explain", "ads.test")
        self.assertEqual(result.stdout.decode(), f"ads.test\tads.test\tblock\t-\t{self.hosts}\t1\n")
        self.assert_refused(lookup("--table", table, "--table", self.hosts), table)
        self.assert_refused(lookup("--format", "hosts", "--table", table, "a"), table, "format")
        self.assert_refused(lookup("--plane", "mata", "--table", table, "a"), table, "'hash'")
        self.assertEqual(lookup("--plane", "hash", "--table", table, "a").returncode, 0)
        own = self.path("own", b"+0.0.0.0 own.test\n")
        self.assert_refused(lookup("--table", self.hosts, "--update", own, "--build", own), own)
        with open(table, "r+b") as file:
            file.seek(200)
            file.write(b"\xa5\x5a")
        self.assert_refused(lookup("--table", table, "ads.test"), table, "damaged")
        with open(table, "r+b") as file:
            file.truncate(100)
        self.assert_refused(lookup("--table", table, "ads.test"), table)
        self.assert_refused(lookup("--table", self.routes, "--build", "/nonexistent/t"),
                            "/nonexistent/t")

    # ---- updates

    def test_updates(self):
        update = self.path("update", b"+0.0.0.0 new.test\n-0.0.0.0 ads.test\n-0.0.0.0 no.test\nx\n")
        table = self.path("table")
        result = lookup("--table", self.hosts, "--update", update, "--build", table, "ads.test",
                        "new.test")
        self.assertEqual(result.stdout, b"ads.test\t-\tnone\t-\nnew.test\tnew.test\tblock\t-\n")
        result = lookup("--table", table, "--update", "-", "--json", input=b"+0.0.0.0 more.test")
        self.assertEqual(json.loads(result.stdout)["updated"],
                         {"added": 1, "removed": 0, "absent": 0, "skipped": 0, "ignored": 0})
        result = lookup("--table", self.hosts, "--update", update, "--json")
        count = json.loads(result.stdout)
        self.assertEqual(count["updated"],
                         {"added": 1, "removed": 1, "absent": 1, "skipped": 0, "ignored": 1})
        wrong = self.path("wrong", b"# none\n0.0.0.0 a.test\n+nonsense\n")
        self.assert_refused(lookup("--table", self.hosts, "--update", wrong),
                            f"{wrong}:2: neither '+' nor '-'", "2 are wrong")
        self.assertEqual(count["lines"], count["understood"] + count["ignored"])
        result = lookup("--table", table, "--explain", "new.test")
        self.assertEqual(result.stdout.decode(), f"new.test\tnew.test\tblock\t-\t{update}\t1\n")
        result = lookup("--table", self.hosts, "--table", self.routes, "--update", update)
        self.assert_refused(result, "--format")

    def test_updates_while_look_ups_go_on(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        with subprocess.Popen([SLUICE, "lookup", "--table", self.routes, "--update", fifo, "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:

            def ask(name):
                process.stdin.write(name + b"\n")
                process.stdin.flush()
                return process.stdout.readline()

            with open(fifo, "wb", buffering=0) as updates:
                self.assertIn(b"none", ask(b"/new"))
                updates.write(b"+/new\t8\n")
                end = time.monotonic() + 60
                while b"forward\t8" not in ask(b"/new") and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertIn(b"forward\t8", ask(b"/new/x"))
            process.stdin.close()
            process.stdout.read()
            self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    case.main()
