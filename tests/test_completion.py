#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion of bash offers all commands, and each option that a command takes and lists.

usage: test_completion.py SLUICE COMPLETION ROOT
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

import case

SLUICE, COMPLETION, ROOT = sys.argv[1:4]
TABLES = {"run": "cli/run/run_options.c", "rules": "cli/rules.c",
          "scan": "cli/scan/scan_options.c", "lookup": "cli/lookup/lookup_options.c",
          "encode": "cli/encode.c", "decode": "cli/decode.c", "devices": "cli/devices.c",
          "tunnel": "cli/tunnel/tunnel_command.c",
          "bench": "bench/bench_options.c"}
ASK = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; ' \
      'printf "%s\\n" "${COMPREPLY[@]}"'


def completions(*words):
    """What is offered for the last of the words."""
    result = subprocess.run(["bash", "-c", ASK, "bash", COMPLETION, SLUICE, *words],
                            capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr == "", result.stderr
    return result.stdout.split()


def taken(command):
    """The long options of the table that the command reads its line by."""
    with open(os.path.join(ROOT, TABLES[command]), encoding="utf-8") as file:
        return {"--" + name for name in
                re.findall(r'\{"([a-z0-9-]+)", *(?:no|required|optional)_argument', file.read())}


def without_effect(command):
    """Options that the help names in its text and not in its list: clamscan's that do nothing."""
    text = case.run(SLUICE, command, "--help").stdout.decode()
    lines = [line for line in text.splitlines() if not line.startswith(" ")]
    return set(re.findall(r"--[a-z0-9-]+\*?", "\n".join(lines)))


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Completion(case.Case):
    def test_commands(self):
        self.assertEqual(set(completions("")), {*TABLES, "--help", "--version"})
        self.assertEqual(completions("de"), ["decode", "devices"])

    def test_options_are_those_that_the_command_takes(self):
        for command in TABLES:
            offered = {word for word in completions(command, "-") if word.startswith("--")}
            self.assertEqual(offered - taken(command), set(), command)
            missing = {option for option in taken(command) - offered - without_effect(command)
                       if not option.startswith("--structured-")}
            self.assertEqual(missing, set(), command)

    def test_words_that_begin_an_option(self):
        self.assertEqual(completions("run", "-r", "a.pcap", "--sc"), ["--scan"])
        self.assertEqual(completions("run", "--header"), ["--header-checks"])

    def test_files_are_left_to_bash(self):
        self.assertEqual(completions("run", "-r", ""), [])
        self.assertEqual(completions("unknown", "-"), ["--help"])


if __name__ == "__main__":
    case.main()
