# SPDX-License-Identifier: MIT
"""tshark as a judge of real captures: what tests share that compare a program with it."""
import os
import re
import subprocess
import sys

SKIPPED = 77
BETWEEN = "\x1f"


def run(command, errors="replace", env=None):
    return subprocess.run(command, capture_output=True, text=True, errors=errors, env=env,
                          check=False)


def captures_folder():
    """$SLUICE_TEST_DATA/pcap. Without it, or without tshark, the test ends as skipped."""
    data = os.environ.get("SLUICE_TEST_DATA")
    try:
        subprocess.run(["tshark", "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("skipped: tshark is not installed")
        sys.exit(SKIPPED)
    if not data:
        print("skipped: SLUICE_TEST_DATA is not set")
        sys.exit(SKIPPED)
    return os.path.join(data, "pcap")


def how_many(argument, n):
    """The script's argument of that number; without it n, and SLUICE_TEST_TIMES n in a soak."""
    if len(sys.argv) > argument:
        return int(sys.argv[argument])
    return n * int(os.environ.get("SLUICE_TEST_TIMES", "1"))


def percent_of(paths, percent):
    """So many of them, evenly spread."""
    return [path for i, path in enumerate(paths)
            if i * percent // 100 != (i + 1) * percent // 100]


def captures(folder, max_bytes):
    """The paths of all captures of at most max_bytes, sorted."""
    paths = (os.path.join(folder, name) for name in sorted(os.listdir(folder))
             if re.search(r"\.(pcap|pcapng|cap)(\.gz)?$", name))
    return [path for path in paths if os.path.getsize(path) <= max_bytes]


def spread(having, others, n):
    """n paths, evenly spread over both lists, five of the first to one of the second. 0: all."""
    chosen = []
    for some, share in ((having, n * 5 // 6), (others, n - n * 5 // 6)):
        share = min(share, len(some)) if n else len(some)
        chosen += [some[i * len(some) // share] for i in range(share)]
    return chosen


def command(path, options):
    """tshark on one capture, without names and with these preferences."""
    return ["tshark", "-n", "-r", path] + [word for option in options for word in ("-o", option)]


def fields(path, options, names, *more):
    """The command that prints a line a packet, with all occurrences of these fields."""
    return (command(path, options) + ["-T", "fields", "-E", "occurrence=a", *more] +
            [word for name in names for word in ("-e", name)])


def packets(path, options, names, *more, errors="replace"):
    """The fields of each packet by its number: lists of values, and `layers`. The names include
    frame.number and frame.protocols."""
    found = {}
    more = ("-E", "aggregator=" + BETWEEN, *more)
    for line in run(fields(path, options, names, *more), errors).stdout.split("\n")[:-1]:
        values = line.split("\t")
        values += [""] * (len(names) - len(values))
        row = {name: value.split(BETWEEN) if value else [] for name, value in zip(names, values)}
        row["layers"] = row["frame.protocols"][0].split(":") if row["frame.protocols"] else []
        found[int(row["frame.number"][0])] = row
    return found
