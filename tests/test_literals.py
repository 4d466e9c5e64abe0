#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/literals on made-up rules and signatures.

usage: test_literals.py LITERALS
"""
import os
import subprocess
import sys
import tempfile
import unittest

LITERALS = sys.argv[1]


class Literals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_on(self, kind, name, text, *options):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="latin-1") as file:
            file.write(text)
        return subprocess.run([sys.executable, LITERALS, kind, path, *options], capture_output=True,
                              timeout=60, encoding="latin-1")

    def lines(self, kind, name, text, *options):
        result = self.run_on(kind, name, text, "--seed", "0", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines()

    def rules(self, *bodies, options=()):
        head = "alert tcp any any -> any any "
        return self.lines("rules", "a.rules", "".join(f"{head}({body})\n" for body in bodies),
                          *options)

    def test_the_longest_content_that_is_not_negated(self):
        self.assertEqual(
            self.rules('msg:"no; (content)"; content:"ab"; content:!"abcdef"; content:"abcd"; '
                       'content:"wxyz"; sid:1;'), ["abcd"])
        self.assertEqual(self.rules('pcre:"/a;b\\"/"; flow:established; sid:1;'), [])

    def test_the_marked_content(self):
        self.assertEqual(self.rules(
            'content:"ab"; nocase; fast_pattern; content:"abcd"; sid:1;',
            'content:"cd"; fast_pattern:only; content:"abcd"; sid:2;',
            'content:"abcdef"; fast_pattern:1,3; content:"abcdefgh"; sid:3;',
            'content:"xy",fast_pattern,nocase; content:"abcd"; sid:4;',
            'content:"uvwxyz",depth 9,fast_pattern_offset 2,fast_pattern_length 3; '
            'content:"abcdefgh"; sid:5;', 'content:!"gone"; fast_pattern; content:"it"; sid:6;'),
                         ["ab;nocase", "cd", "bcd", "xy;nocase", "wxy", "it"])

    def test_inactive_rules_give_nothing(self):
        self.assertEqual(self.lines("rules", "a.rules",
                                    '#alert tcp any any -> any any (content:"abcd"; sid:1;)\n'
                                    '\nnot a rule\n'), [])

    def test_each_literal_once(self):
        self.assertEqual(self.rules('content:"ABcd"; nocase; sid:1;',
                                    'content:"abCD"; nocase; sid:2;', 'content:"abcd"; sid:3;',
                                    'content:"|61 62|cd"; sid:4;'), ["ABcd;nocase", "abcd"])

    def test_all_contents(self):
        self.assertEqual(
            self.rules('content:"abc"; content:"abcd"; fast_pattern:0,2; content:!"bcde"; '
                       'content:"cdefg"; nocase; sid:1;', options=["--all-contents"]),
            ["abcd", "cdefg;nocase"])

    def test_notation(self):
        self.assertEqual(self.rules('content:"a|00 FF|b|22|c\\;d\\:e\\"f\\\\g|7C|"; sid:1;',
                                    'content:" two words "; sid:2;', 'content:"#1#"; sid:3;',
                                    'content:"|68 69|"; sid:4;', r'content:"c:\\|00|"; sid:5;'),
                         ["a|00 FF|b|22|c|3B|d|3A|e|22|f|5C|g|7C|", "|20|two words|20|", "|23|1#",
                          "hi", "c|3A 5C 00|"])

    def test_runs_of_signatures(self):
        self.assertEqual(self.lines("clamav", "a.ndb",
                                    "A:0:*:6162636465666768\n"           # just long enough
                                    "B:0:*:61626364656667\n"             # one byte too short
                                    "C:0:EOF-9:0061??626364656667686a4?6b\n"  # aligned around ??
                                    "D:0:*:4142434445464748(aa|bb)494a4b4c4d4e4f5051"
                                    "{2-4}52*53[1-2]54!(55)56\n"
                                    "E:0:*:6162636465666768:51:255\n"    # as A
                                    "# a comment\n"),
                         ["abcdefgh", "bcdefghj", "IJKLMNOPQ"])

    def test_subsignatures(self):
        self.assertEqual(
            self.lines("clamav", "a.ldb",
                       "A;Engine:51-255,Target:1;(0&1)|2;6162636465666768;EP+0:7071727374757677::i;"
                       "6162636465666769::wi;0/abcdefghij/i;0(>>4#ge#1);616263\n"),
            ["abcdefgh", "pqrstuvw;nocase", "a|00|b|00|c|00|d|00|e|00|f|00|g|00|i|00|;nocase"])

    def test_a_bad_line_costs_itself(self):
        result = self.run_on("clamav", "a.ndb", "A:0:*:616\nB:0:*:6162636465666768\n")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "abcdefgh\n")
        self.assertIn("a.ndb:1: ", result.stderr)
        missing = subprocess.run([sys.executable, LITERALS, "rules", "/no/such.rules"],
                                 capture_output=True, timeout=60, encoding="latin-1")
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("/no/such.rules", missing.stderr)

    def test_a_database_of_fixed_strings(self):
        text = f"A:0:*:6162636465666768??696a\nB:1:0:{'5a59' * 3000}\n"
        result = self.run_on("clamav", "a.ndb", text, "--ndb", "--seed", "0")
        self.assertEqual(result.stdout.splitlines(),
                         ["Literal-0:0:*:6162636465666768", "Literal-1:0:*:" + "5a59" * 1024])
        text = "A;Engine:51-255,Target:0;0&1;6162636465666768::i;7071727374757677\n"
        result = self.run_on("clamav", "a.ldb", text, "--ndb", "--seed", "0")
        self.assertEqual(result.stdout.splitlines(), ["Literal-0:0:*:7071727374757677"])

    def test_the_order_is_a_seed_s(self):
        text = "".join(f"S{i}:0:*:{i:016x}\n" for i in range(300))

        def order(*options):
            return self.run_on("clamav", "a.ndb", text, *options).stdout.splitlines()

        self.assertEqual(order(), order("--seed", "1"))
        self.assertNotEqual(order(), order("--seed", "2"))
        self.assertEqual(sorted(order()), sorted(order("--seed", "0")))
        self.assertEqual(order("--max", "100"), order()[:100])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
