#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what `sluice scan` and clamscan find.

usage: clamscan_agrees.py SLUICE [SEED]

Three parts, each with all matches of a file compared as a set, clamscan's unpacking, normalisation
and heuristics off:
1. random signatures of every construct, planted at random places and across the borders of
   clamscan's buffers and of sluice's batches, exactly and with one byte changed;
2. the real database of $SLUICE_TEST_DATA/clamav on executables and data made from its signatures;
3. that database on files of this system.
Without clamscan, or for 2 and 3 without the data, it is skipped with the reason.
"""
import glob
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
CLAMSCAN = [
    "clamscan", "--allmatch", "--no-summary", "--infected", "--stdout", "--disable-cache",
    "--scan-archive=no", "--normalize=no", "--scan-pe=no", "--scan-elf=no", "--scan-ole2=no",
    "--scan-pdf=no", "--scan-swf=no", "--scan-html=no", "--scan-mail=no", "--scan-xmldocs=no",
    "--scan-hwp3=no", "--scan-onenote=no", "--scan-image=no", "--heuristic-alerts=no",
    "--phishing-sigs=no", "--phishing-scan-urls=no", "--bytecode=no", "--max-filesize=2000M",
    "--max-scansize=2000M", "--max-files=0", "--pcre-max-filesize=2000M",
]
BORDERS = [1 << 16, 1 << 17, 1 << 18, 4 << 20]


def names_of(command, folder):
    """The set of (file, name) that a scanner prints."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                          cwd=folder)
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    found = set()
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"(.*): (\S+) FOUND", line)
        if match:
            found.add((os.path.basename(match[1]), match[2]))
    return found


def compare(title, sluice, database, list_file, folder, at_least):
    ours = names_of([sluice, "scan", "-d", database, "-z", "-i", "--no-summary", "-f", list_file],
                    folder)
    theirs = names_of(CLAMSCAN + ["-d", database, "-f", list_file], folder)
    for file, name in sorted(theirs - ours)[:20]:
        print(f"{title}: only clamscan finds {name} in {file}")
    for file, name in sorted(ours - theirs)[:20]:
        print(f"{title}: only sluice finds {name} in {file}")
    print(f"{title}: {len(ours)} matches of sluice, {len(theirs)} of clamscan, "
          f"{len(ours ^ theirs)} differ")
    if len(theirs) < at_least:
        sys.exit(f"{title}: too few matches to prove anything")
    return ours == theirs


# ---- random signatures ---------------------------------------------------------------------------

def rare(rng, n):
    """Bytes that no border of words nor a wildcard's neighbour is mistaken for."""
    return bytes(rng.choice(b"QXZJKVWY\x81\x93\xa7\xc1\xd5\xe9\xfb") for _ in range(n))


def random_body(rng):
    """A body and bytes that it matches."""
    hex_text, sample = "", b""
    for part in range(rng.randint(1, 4)):
        if part:
            kind = rng.choice(["*", "{n}", "{-n}", "{n-}", "{n-m}", "??", "(|)", "!()", "n?", "?n",
                               "vary"])
            n, gap = rng.randint(1, 12), 0
            if kind == "*":
                hex_text, gap = hex_text + "*", rng.randint(0, 300)
            elif kind == "{n}":
                n = rng.choice([n, 130])
                hex_text, gap = hex_text + "{%d}" % n, n
            elif kind == "{-n}":
                hex_text, gap = hex_text + "{-%d}" % n, rng.randint(0, n)
            elif kind == "{n-}":
                hex_text, gap = hex_text + "{%d-}" % n, n + rng.randint(0, 300)
            elif kind == "{n-m}":
                hex_text, gap = hex_text + "{%d-%d}" % (n, n + 9), n + rng.randint(0, 9)
            elif kind == "??":
                hex_text, gap = hex_text + "????", 2
            elif kind == "(|)":
                a, b = rare(rng, 2), rare(rng, 2)
                hex_text += f"({a.hex()}|{b.hex()})"
                sample += rng.choice([a, b])
            elif kind == "!()":
                hex_text += "!(00|01)"
                sample += b"\x05"
            elif kind == "vary":
                a, b = rare(rng, 3), rare(rng, 2)
                hex_text += f"({a.hex()}|{b.hex()})"
                sample += rng.choice([a, b])
            else:
                byte = rare(rng, 1)
                hex_text += byte.hex()[0] + "?" if kind == "n?" else "?" + byte.hex()[1]
                sample += byte
            sample += bytes(rng.randrange(1, 250) for _ in range(gap))
        literal = rare(rng, rng.randint(3, 9))
        hex_text += literal.hex()
        sample += literal
    return hex_text, sample


def bracket_body(rng):
    a, b = rare(rng, 1), rare(rng, 5)
    n = rng.randint(0, 20)
    if rng.random() < 0.5:
        return f"{a.hex()}[{n}-{n + 8}]{b.hex()}", a + bytes([7]) * rng.randint(n, n + 8) + b
    return f"{b.hex()}[{n}-{n + 8}]{a.hex()}", b + bytes([7]) * rng.randint(n, n + 8) + a


def border_body(rng):
    kind = rng.choice("BLW")
    text = rare(rng, 6)
    side = {"B": b" ", "L": b"\n", "W": b"."}[kind]
    return f"({kind}){text.hex()}({kind})", text, side


def plant(rng, sample, size, border):
    data = bytearray(rng.randrange(1, 250) for _ in range(1000)) * (size // 1000 + 1)
    del data[size:]
    data[0:4] = b"\x01\x02\x03\x04"
    at = border - rng.randint(0, len(sample)) if border else rng.randrange(64, size - len(sample))
    at = max(64, min(at, size - len(sample)))
    data[at:at + len(sample)] = sample
    return data, at


def part_random(rng, sluice, folder):
    lines = {"ndb": [], "ldb": []}
    files = []
    for i in range(120):
        kind, side = rng.randrange(10), b""
        if kind == 0:
            hex_text, sample = bracket_body(rng)
        elif kind == 1:
            hex_text, sample, side = border_body(rng)
        else:
            hex_text, sample = random_body(rng)
        border = rng.choice([0] + BORDERS[:3]) if i % 10 else BORDERS[3]
        size = rng.randint(3000, 60000) if not border else border + 5000
        data, at = plant(rng, side + sample + side, size, border)
        offset = rng.choice(["*", "*", "*", str(at), f"{at - 20},40",
                             f"EOF-{size - at}", f"EOF-{size - at + 9},20"])
        if side or kind == 0:  # libclamav counts the offset of aa[x-y]HEX from HEX
            offset = "*"
        if kind in (2, 3):
            modifier = rng.choice(["i", "w", "f", "wa", "iw", "fi"])
            sub, text = hex_text, sample
            if "w" in modifier or "f" in modifier or "(" in hex_text:
                literal = bytes(rng.choice(b"QXZJKVWYqxzjk") for _ in range(7))
                sub, text = literal.hex(), literal
                if "w" in modifier and modifier != "wa":
                    text = b"".join(bytes([c, 0]) for c in literal)
                if "f" in modifier:
                    text = b"." + text + b"."
            if "i" in modifier:
                text = text.swapcase() if "{" not in sub and "*" not in sub else text
            data, at = plant(rng, text, size, border)
            lines["ldb"].append(f"L{i};Engine:81-255,Target:0;0;{sub}::{modifier}")
        elif kind == 4:
            second = rare(rng, 6)
            times = rng.randint(1, 4)
            count = rng.randint(1, 4)
            for _ in range(times):
                spot = rng.randrange(64, size - 6)
                if spot + 6 < at or spot > at + len(sample):
                    data[spot:spot + 6] = second
            lines["ldb"].append(f"C{i};Engine:51-255,Target:0;"
                                f"0&(1{rng.choice('=<>')}{count});{hex_text};{second.hex()}")
        else:
            lines["ndb"].append(f"N{i}:0:{offset}:{hex_text}")
        for change in (False, True):
            if change:
                data[at + rng.randrange(len(sample))] ^= 0x55
            name = f"f{i}{'x' if change else ''}"
            files.append(name)
            with open(os.path.join(folder, name), "wb") as out:
                out.write(data)
    os.mkdir(os.path.join(folder, "db"))
    for ending, text in lines.items():
        with open(os.path.join(folder, "db", "r." + ending), "w", encoding="ascii") as out:
            out.write("\n".join(text) + "\n")
    with open(os.path.join(folder, "list"), "w", encoding="ascii") as out:
        out.write("\n".join(files) + "\n")
    return compare("random signatures", sluice, os.path.join(folder, "db"), "list", folder, 60)


# ---- the real database ---------------------------------------------------------------------------

def instance(rng, hex_text, nocase=False, wide=False):
    """Bytes that a body matches, or None where that is not tried."""
    out, at = b"", 0
    while at < len(hex_text):
        c = hex_text[at]
        if c == "*":
            out, at = out + b"\x07" * rng.randint(0, 9), at + 1
        elif c in "{[":
            end = hex_text.index("}" if c == "{" else "]", at)
            low, _, high = hex_text[at + 1:end].partition("-")
            low = int(low or 0)
            top = int(high) if high else low
            out, at = out + b"\x07" * rng.randint(low, max(low, min(top, low + 40))), end + 1
        elif c == "!":
            return None
        elif c == "(":
            end = hex_text.index(")", at)
            choice = rng.choice(hex_text[at + 1:end].split("|"))
            if choice in "BLW":
                return None
            part = instance(rng, choice, nocase, wide)
            if part is None:
                return None
            out, at = out + part, end + 1
        else:
            byte = bytes([int(hex_text[at:at + 2].replace("?", "4"), 16)])
            out += (byte.swapcase() if nocase and rng.random() < 0.3 else byte)
            out += b"\0" if wide else b""
            at += 2
    return out


def make_pe(body):
    """A PE of one section that holds everything behind its headers."""
    head = bytearray(0x400)
    size = (len(body) + 0x1FF) // 0x200 * 0x200
    head[0:2] = b"MZ"
    struct.pack_into("<I", head, 60, 0x80)
    head[0x80:0x84] = b"PE\0\0"
    struct.pack_into("<HH", head, 0x84, 0x14C, 1)
    struct.pack_into("<HHH", head, 0x94, 224, 0x102, 0x10B)
    struct.pack_into("<I", head, 0x98 + 16, 0x1000)
    struct.pack_into("<IIII", head, 0x98 + 28, 0x400000, 0x1000, 0x200, 4)
    struct.pack_into("<II", head, 0x98 + 56, 0x2000 + size, 0x400)
    struct.pack_into("<I", head, 0x98 + 92, 16)
    struct.pack_into("<8sIIII", head, 0x98 + 224, b".text", size, 0x1000, size, 0x400)
    return bytes(head) + body + bytes(size - len(body))


def make_elf(body):
    head = bytearray(0x1000)
    head[0:7] = b"\x7fELF\2\1\1"
    struct.pack_into("<HHIQQQ", head, 16, 2, 62, 1, 0x400400, 64, 0)
    struct.pack_into("<HHHHHH", head, 52, 64, 56, 1, 64, 0, 0)
    struct.pack_into("<IIQQQQQQ", head, 64, 1, 5, 0, 0x400000, 0x400000, 0x10000, 0x10000, 0x1000)
    return bytes(head) + body


def samples_of(rng, lines, n):
    """Files made from the bodies of n signatures each."""
    for _ in range(n):
        line = rng.choice(lines).strip()
        ldb = ";" in line
        fields = line.split(";") if ldb else line.split(":")
        if ldb:
            target = re.search(r"Target:(\d+)", fields[1])
            target = int(target[1]) if target else -1
            subs = fields[3:]
        else:
            target, subs = int(fields[1]), [":".join(fields[2:4])]
        if target not in (0, 1, 6):
            continue
        body = bytearray(rng.randrange(1, 250) for _ in range(200))
        for sub in subs:
            if "/" in sub or "$" in sub or "#" in sub:
                continue
            sub, _, options = sub.partition("::")
            sub = sub.rpartition(":")[2]
            made = instance(rng, sub, "i" in options, "w" in options and "a" not in options)
            if made is not None:
                body += made + bytes(rng.randrange(1, 250) for _ in range(rng.randint(0, 60)))
        if rng.random() < 0.2:
            body[rng.randrange(len(body))] ^= 0xFF
        body = bytes(body)
        yield make_pe(body) if target == 1 else make_elf(body) if target == 6 else \
            b"\x01\x02\x03" + body


def part_real(rng, sluice, folder, data):
    lines = []
    for path in sorted(glob.glob(data + "/*.[ln]db")):
        with open(path, encoding="latin-1") as text:
            lines += [line for line in text if line.strip() and line[0] != "#"]
    files = []
    for i, made in enumerate(samples_of(rng, lines, 600)):
        name = f"s{i}"
        files.append(name)
        with open(os.path.join(folder, name), "wb") as out:
            out.write(made)
    with open(os.path.join(folder, "list2"), "w", encoding="ascii") as out:
        out.write("\n".join(files) + "\n")
    return compare("real signatures", sluice, data, "list2", folder, 50)


def part_system(rng, sluice, folder, data):
    paths = [os.path.join(folder_path, name) for top in ("/usr/bin", "/usr/lib")
             for folder_path, _, names in os.walk(top) for name in names]
    files = [path for path in sorted(paths) if os.path.isfile(path) and not os.path.islink(path)
             and "\n" not in path and 0 < os.path.getsize(path) < 1 << 20]
    rng.shuffle(files)
    with open(os.path.join(folder, "list3"), "w", encoding="utf-8") as out:
        out.write("\n".join(sorted(files[:1000])) + "\n")
    return compare("system files", sluice, data, "list3", folder, 0)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sluice = os.path.abspath(sys.argv[1])
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    if shutil.which("clamscan") is None:
        print("skipped: clamscan is not installed")
        sys.exit(SKIPPED)
    data = os.path.join(os.environ.get("SLUICE_TEST_DATA", ""), "clamav")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        good &= part_random(rng, sluice, folder)
        if os.path.isdir(data):
            good &= part_real(rng, sluice, folder, data)
            good &= part_system(rng, sluice, folder, data)
        else:
            print("skipped: SLUICE_TEST_DATA has no folder clamav")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
