# SPDX-License-Identifier: MIT
"""What tests of the command share: a folder of their own, and refusals."""
import fcntl
import http.client
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

# A shell in the background ignores it, and so would the processes of tests.
signal.signal(signal.SIGINT, signal.default_int_handler)


def run(*command, **options):
    """What a command did: its status and outputs. Standard input is empty where none is named."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, timeout=300, check=False, **options)


def is_sanitized(program):
    """Whether the address or the thread sanitizer is in a program: it is slow and has a malloc."""
    with open(program, "rb") as file:
        return re.search(rb"__[at]san_init", file.read()) is not None


def wait_until_read(pipe):
    """Until what was written to a process has been taken by it."""
    end = time.monotonic() + 120
    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] != 0:
        assert time.monotonic() < end, "nobody reads"
        time.sleep(0.01)


def serves(said):
    """Waits until a run that names the port of its metrics has opened its source.
    False: the run ended instead."""
    port = re.search(r":(\d+)/metrics", said)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=120)
        connection.request("GET", "/metrics")
        connection.getresponse().read()
        connection.close()
    except (ConnectionError, http.client.HTTPException):
        return False
    return True


def own_port(test):
    """A UDP port of this machine that nobody else sends to, no other test either."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    test.addCleanup(receiver.close)
    receiver.bind(("127.0.0.1", 0))
    return receiver.getsockname()[1]


def main():
    """Runs the tests of the script. The exit status is 77 where all of them were skipped."""
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print(f"skipped: {reason.strip()}", flush=True)
    if result.wasSuccessful():
        sys.exit(77 if 0 < result.testsRun == len(result.skipped) else 0)
    sys.exit(1)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = os.path.join(self.folder.name, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def assert_refused(self, result, *words):
        """Exit 2, exactly one line on stderr, which holds these words, and nothing on stdout."""
        text = result.stderr.decode()
        self.assertEqual(result.returncode, 2, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("sluice: "), text)
        self.assertEqual(result.stdout, b"")
        for word in words:
            self.assertIn(word, text)
