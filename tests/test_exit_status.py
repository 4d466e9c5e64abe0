#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exit statuses of every command, as the table of docs/exit-status.md has them.

usage: test_exit_status.py SLUICE SAMPLES PAGE MANUAL
"""
import os
import re
import signal
import subprocess
import sys

import case

SLUICE, SAMPLES, PAGE, MANUAL = sys.argv[1:5]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")


def status_of(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SLUICE, *arguments], capture_output=True, timeout=300,
                          **options).returncode


def rows_of_page():
    """Commands, and whether the table has a meaning for 1."""
    rows = {}
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("| `"):
                for command in re.findall(r"`([a-z]+)`", cells[0]):
                    rows[command] = bool(cells[2])
    return rows


class ExitStatus(case.Case):
    def cases(self):
        out = self.path("out")
        bad = self.path("bad.rules", b'alert tcp any any -> any any (msg:"x; sid:1;)\n'
                        b'alert tcp any any -> any any (msg:"y"; content:"abc"; sid:2;)\n')
        table = self.path("names.txt", b"example.org\n")
        signature = self.path("x.ndb", b"Test.Virus:0:*:6576696c2d6279746573\n")
        clean, virus = self.path("clean", b"nothing"), self.path("virus", b"some evil-bytes here")
        cut = self.path("cut.pcap", b"\xd4\xc3\xb2\xa1\x02")
        encoded = self.path("encoded")
        self.assertEqual(status_of("encode", CAPTURE, encoded), 0)
        tunnel = self.path("tunnel.conf", b"[Tunnel]\nInterface = sl0\nUnderlay = trusted\n"
                           b"[Peer]\nAllowedIPs = 192.0.2.0/24\n")
        damaged = self.path("damaged", b"no encoded file")
        return [
            ("run", 0, ["-r", CAPTURE, "--rules", RULES]), ("run", 2, ["-r", cut]),
            ("run", 2, ["-r", CAPTURE, cut]), ("run", 2, ["-r", CAPTURE, "--alerts",
                                                          "eve:/dev/full", "--rules", RULES]),
            ("rules", 0, [RULES]), ("rules", 0, [bad]), ("rules", 1, ["--strict", bad]),
            ("rules", 0, ["--strict", RULES]), ("rules", 2, [self.path("none.rules")]),
            ("lookup", 0, ["--table", table, "example.org"]),
            ("lookup", 0, ["--table", table, "example.com"]),
            ("lookup", 0, ["--exit-status", "--table", table, "example.org"]),
            ("lookup", 1, ["--exit-status", "--table", table, "example.org", "example.com"]),
            ("lookup", 2, ["--exit-status", "--table", self.path("none.txt"), "example.org"]),
            ("scan", 0, ["-d", signature, clean]), ("scan", 1, ["-d", signature, clean, virus]),
            ("scan", 1, ["-d", signature, virus, self.path("none")]),
            ("scan", 2, ["-d", signature, clean, self.path("none")]),
            ("scan", 2, ["-d", self.path("none.ndb"), virus]),
            ("encode", 0, [CAPTURE, out]), ("encode", 2, [self.path("none"), out + "2"]),
            ("decode", 0, [encoded, out + "3"]), ("decode", 2, [damaged, out + "4"]),
            ("devices", 0, []), ("devices", 2, ["extra"]),
            ("tunnel", 0, ["check", tunnel]), ("tunnel", 2, ["check", CAPTURE]),
            ("bench", 0, ["--help"]), ("bench", 2, ["--runs", "0"]),
        ]

    def test_every_command_has_its_row(self):
        text = subprocess.run([SLUICE, "--help"], capture_output=True, check=True).stdout.decode()
        commands = set(re.findall(r"^  ([a-z]+)  +\S", text, re.MULTILINE))
        self.assertEqual(commands, set(rows_of_page()))
        self.assertIn("exit-status", text)
        for command in ("run", "rules", "lookup", "scan"):
            text = subprocess.run([SLUICE, command, "--help"], capture_output=True, check=True)
            self.assertIn(b"\nExit status: 0 ", text.stdout)

    def test_the_manual_page_has_every_command_and_status(self):
        with open(MANUAL, encoding="utf-8") as page:
            text = page.read()
        bold = re.findall(r"^\.TP\n\.B (\w+)$", text, re.MULTILINE)
        self.assertEqual(sorted(bold), sorted([*rows_of_page(), "0", "1", "2"]))
        statuses = text.split(".SH EXIT STATUS")[1].split(".SH")[0]
        self.assertEqual(set(re.findall(r"^\.B ([a-z]+)", statuses, re.MULTILINE)),
                         {command for command, has_one in rows_of_page().items() if has_one})

    def test_statuses(self):
        cases = self.cases()
        for command, status, arguments in cases:
            self.assertEqual(status_of(command, *arguments), status, [command, *arguments])
        for command, has_one in rows_of_page().items():
            self.assertEqual(has_one, any(entry[:2] == (command, 1) for entry in cases), command)
            self.assertTrue({0, 2} <= {entry[1] for entry in cases if entry[0] == command}, command)
            self.assertEqual(status_of(command, "--help"), 0)
            self.assertEqual(status_of(command, "--no-such-option"), 2)
        self.assertEqual(status_of(), 2)
        self.assertEqual(status_of("no-such-command"), 2)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([SLUICE, "run", "-r", "-", "--metrics", "0"],
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as process:
                said = process.stderr.readline().decode()
                with open(CAPTURE, "rb") as file:
                    process.stdin.write(file.read())
                process.stdin.flush()
                self.assertTrue(case.serves(said))
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    case.main()
