#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of every command: what is misspelled, incomplete or without effect is refused.

usage: test_options.py SLUICE SAMPLES
"""
import json
import os
import sys

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


class Options(case.Case):
    def test_a_misspelled_option_is_unknown_and_the_nearest_is_named(self):
        for command, option, nearest in (
                ("run", "--scna", "--scan"), ("run", "--hedaer-checks=all", "--header-checks"),
                ("run", "--rule", None), ("rules", "--complie", "--compile"),
                ("lookup", "--tabel", "--table"), ("scan", "--databse", "--database"),
                ("encode", "--samplr", "--sampler"), ("decode", "--quite", "--quiet"),
                ("devices", "--jsno", "--json"), ("tunnel", "--flwos", "--flows"),
                ("bench", "--rusn", "--runs")):
            result = sluice(command, option)
            if nearest is None:  # the begin of one option names it, as in other commands
                self.assert_refused(result, "'--rules' needs a value")
                continue
            self.assert_refused(result, f"'{option.split('=')[0]}' is unknown",
                                f"did you mean '{nearest}'?")
        for command in ("run", "rules", "lookup", "scan", "encode", "decode", "devices", "bench",
                        "tunnel"):
            result = sluice(command, "--xylophone-concerto")
            self.assert_refused(result, "'--xylophone-concerto' is unknown",
                                f"sluice {command} --help")
            self.assertNotIn(b"did you mean", result.stderr)
            self.assert_refused(sluice(command, "-Z"), "'-Z' is unknown")

    def test_an_option_without_its_value_needs_it(self):
        for command, option in (("run", "--scan"), ("run", "-r"), ("rules", "--set"),
                                ("lookup", "--table"), ("scan", "--exclude"),
                                ("encode", "--level"), ("bench", "--device")):
            result = sluice(command, option)
            self.assert_refused(result, f"'{option}' needs a value")
            self.assertNotIn(b"unknown", result.stderr)

    def test_a_value_that_is_not_taken(self):
        self.assert_refused(sluice("run", "--json=yes"), "'--json' takes no value")
        self.assert_refused(sluice("devices", "--js=yes"), "'--json' takes no value")

    def test_a_value_that_may_be_left_out_stands_behind_its_option(self):
        for option, value, behind in (("--header-checks", "all", ("-r", CAPTURE)),
                                      ("--header-checks", "all,-checksums", ("-r", CAPTURE))):
            self.assert_refused(sluice("run", "-r", CAPTURE, option, value, *behind),
                                f"(expected {option}={value})")
        self.assert_refused(sluice("scan", "-d", RULES, "--recursive", "no", CAPTURE),
                            "(expected --recursive=no)")
        result = sluice("run", "--header-checks", "-r", CAPTURE, "--stats", "1")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_begin_of_several_options(self):
        self.assert_refused(sluice("run", "--s=1"), "'--s'", "--set, --scan, --stats")

    def test_a_letter_behind_a_long_option(self):
        self.assert_refused(sluice("devices", "--json", "-Zh"), "'-Z' is unknown")
        self.assert_refused(sluice("run", "--device=cpu", "-Zh"), "'-Z' is unknown")

    def test_an_option_that_would_have_no_effect_is_refused(self):
        self.assert_refused(sluice("run", "-i", "nope", "-i", "lo"), "'-i' is given twice",
                            "'nope'", "'lo'", "one value")
        for option in ("--device", "--metrics", "--compiled", "--max-latency"):
            self.assert_refused(sluice("run", "-r", CAPTURE, option, "1", option, "2"),
                                f"'{option}' is given twice")
        self.assert_refused(sluice("scan", "-d", RULES, "--max-filesize", "1", "--max-filesize=2"),
                            "'--max-filesize' is given twice")
        run, lookup = ["run", "-r", CAPTURE], ["lookup", "--table", RULES]
        scan = ["scan", "-d", RULES, "--compile", "/dev/null"]
        for command, reason in (
                ([*run, "--home", "192.0.2.0/24"], "--home '192.0.2.0/24' needs --rules"),
                ([*run, "--home", "192.0.2.0/24", "--header-checks=checksums"],
                 "--home '192.0.2.0/24' has no effect"),
                ([*run, "--home", "192.0.2.0/24", "--header-checks=land,ttl-zero"],
                 "of --header-checks only private-source, private-destination and tcp-broadcast"),
                ([*run, "-q", "--stats"], "-q and --stats exclude one another"),
                ([*run, "--data-dir", "x"], "--data-dir 'x' needs --rules"),
                ([*run, "--sensor-id", "5"], "--sensor-id 5 needs --alerts eve:FILE"),
                ([*run, "--sensor-id=5", "--json"], "--sensor-id 5 needs --alerts eve:FILE"),
                ([*run, "--max-latency", "100"], "--max-latency needs an interface or a pipe"),
                ([*run, "--events", "dns,http", "--stream-memory", "0"],
                 "--events http needs --stream-memory above 0"),
                ([*run, "--events", "tls", "--stream-memory=0"], "--events tls needs"),
                ([*run, "--events", "quic", "--stream-memory=0"], "--events quic needs"),
                ([*run, "--events", "ndn"], "--events ndn needs --names"),
                ([*run, "--events", "alert"], "--events alert needs --rules or --scan"),
                ([*run, "--rules", RULES, "--events", "alert,anomaly"],
                 "--events anomaly needs --header-checks"),
                (["scan", "-d", RULES, "--json", "--quiet"], "--quiet and --json exclude"),
                ([*run, "--redundancy", "every,p=32"], "no effect on the sampler every"),
                ([*lookup, "--explain"], "--explain needs names"),
                ([*lookup, "--syntax", "url"], "--syntax needs names"),
                ([*lookup, "--device", "cpu"], "--device needs names"),
                ([*scan, CAPTURE], f"'{CAPTURE}' was not expected"),
                ([*scan, "-r"], "--recursive and --compile exclude"),
                ([*scan, "--max-filesize", "1K"], "--max-filesize and --compile exclude"),
                ([*scan, "--log", "x"], "--log and --compile exclude"),
                ([*scan, "--device", "cuda"], "--device and --compile exclude"),
                (["encode", "--level", "0", CAPTURE, "/dev/null"], "'0' (expected 1 to 22)"),
                (["encode", "--level", "1", "--no-zstd", CAPTURE, "/dev/null"],
                 "--level and --no-zstd exclude"),
                (["encode", "--sampler", "every", "--period", "32", CAPTURE, "/dev/null"],
                 "--period has no effect")):
            self.assert_refused(sluice(*command), reason)
        twice = sluice("run", "-r", CAPTURE, "--device", "cpu", "--device", "cpu", "--json")
        self.assertEqual((twice.returncode, twice.stderr), (0, b""))

    def test_types_of_events(self):
        def types(*arguments):
            result = sluice("run", "-r", CAPTURE, "-q", "--rules", RULES, "--header-checks",
                            "--alerts", "eve:-", *arguments)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            return {json.loads(line)["event_type"] for line in result.stdout.splitlines()}

        for arguments, expected in (((), {"alert", "anomaly"}),
                                    (("--events", "alert"), {"alert"}),
                                    (("--events", "dns,anomaly,anomaly"), {"anomaly", "dns"}),
                                    (("--events=flow", "--sensor-id=0"), {"flow"}),
                                    (("--events", "stats", "--stats=9"), {"stats"})):
            self.assertEqual(types(*arguments), expected, arguments)
        self.assertEqual(types("--events", "all") & {"alert", "anomaly", "stats"},
                         {"alert", "anomaly"})
        run = ("run", "-r", CAPTURE, "--events")
        self.assert_refused(sluice(*run, "alert,flows"), "'flows' is no type of event",
                            "did you mean 'flow'?",
                            "alert, anomaly, dns, http, tls, ndn, flow, quic, fileinfo, packet, "
                            "smtp, ssh, ftp, stats, all")
        self.assert_refused(sluice(*run, "alert,"), "'' is no type of event")
        self.assert_refused(sluice(*run, "stats"), "--events stats needs --stats=SECONDS")
        self.assert_refused(sluice(*run, "alert", "--stats=1"), "--stats=1", "--events leaves out")
        self.assert_refused(sluice(*run, "alert", "--json"), "--events needs --alerts")

    def test_checksums_are_checked_as_k_says(self):
        """-k prevails over the list. Without header checks it promises nothing in silence."""
        def checks(*options):
            result = sluice("run", "-r", CAPTURE, "--json", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            found = json.loads(result.stdout).get("anomalies", {})
            return "checksum" in json.dumps(found), result.stderr.decode()
        self.assertEqual(checks("--header-checks=all"), (True, ""))
        self.assertEqual(checks("--header-checks=all", "-k", "none"), (False, ""))
        self.assertEqual(checks("--header-checks=all,-checksums"), (False, ""))
        self.assertEqual(checks("--header-checks=all,-checksums", "-k", "all"), (True, ""))
        self.assertEqual(checks("-k", "none"), (False, ""))
        checked, said = checks("-k", "all")
        self.assertFalse(checked)
        self.assertIn("-k all has no effect without --header-checks", said)

    def test_the_flow_table(self):
        run = ("run", "-r", CAPTURE)
        for memory in ("", "0", "-1", "1T", "1,5G", "20000000000G"):
            self.assert_refused(sluice(*run, "--flow-memory", memory), f"--flow-memory '{memory}'")
        self.assert_refused(sluice(*run, "--flow-memory", "100"), "100 bytes")
        for seed in ("", "x", "-1", "0x1", "18446744073709551616"):
            self.assert_refused(sluice(*run, "--seed", seed), f"--seed '{seed}'")

    def test_a_misspelled_command_names_the_nearest(self):
        self.assert_refused(sluice("rnu"), "'rnu'", "did you mean 'run'?")
        self.assert_refused(sluice("xylophone"), "'xylophone'")


if __name__ == "__main__":
    case.main()
