#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A bad path between two UDP sockets, with the same faults for the same seed.

usage: udp_relay.py NEAR_PORT FAR_PORT PEER_PORT SEED [KEY=VALUE...]

What comes to NEAR_PORT goes from FAR_PORT to PEER_PORT of this host, and back. Keys: loss, burst,
repeat (shares of datagrams, datagrams, share), delay and jitter (seconds), rate (bytes a second),
mtu (bytes of the longest datagram, from `shrink` datagrams on).
"""
import heapq
import random
import select
import socket
import sys
import time

QUEUE = 0.2  # seconds of the link's rate


class Way:
    """One direction."""

    def __init__(self, seed, keys):
        self.random = random.Random(seed)
        self.keys = keys
        self.left = self.seen = 0  # datagrams that a burst still takes
        self.free = 0.0  # time at which the link has sent all

    def fates(self, length, now):
        """The times at which a datagram arrives: none where it is lost."""
        keys, draw = self.keys, self.random.random
        self.seen += 1
        if self.left == 0 and draw() < keys["loss"]:
            self.left = int(keys["burst"])
        if self.left > 0:
            self.left -= 1
            return
        if keys["mtu"] and length > keys["mtu"] and self.seen > keys["shrink"]:
            return
        if keys["rate"]:
            if self.free - now > QUEUE:
                return
            self.free = max(self.free, now) + length / keys["rate"]
        for _ in range(2 if draw() < keys["repeat"] else 1):
            yield max(self.free, now) + keys["delay"] + draw() * keys["jitter"]


def main():
    near_port, far_port, peer_port, seed = map(int, sys.argv[1:5])
    keys = {"loss": 0, "burst": 1, "repeat": 0, "delay": 0, "jitter": 0, "rate": 0, "mtu": 0,
            "shrink": 0}
    keys.update((word.split("=")[0], float(word.split("=")[1])) for word in sys.argv[5:])
    sockets = []
    for port in (near_port, far_port):
        sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        sockets[-1].bind(("0.0.0.0", port))
        sockets[-1].setblocking(False)
    ends = [None, ("127.0.0.1", peer_port)]
    ways = [Way(seed, keys), Way(seed + 1, keys)]
    due = []
    number = 0
    while True:
        wait = max(0.0, due[0][0] - time.monotonic()) if due else None
        for readable in select.select(sockets, [], [], wait)[0]:
            side = sockets.index(readable)
            try:
                content, ends[side] = readable.recvfrom(65536)
            except OSError:
                continue
            for at in ways[side].fates(len(content), time.monotonic()):
                number += 1
                heapq.heappush(due, (at, number, 1 - side, content))
        while due and due[0][0] <= time.monotonic():
            _, _, side, content = heapq.heappop(due)
            if ends[side]:
                try:
                    sockets[side].sendto(content, ends[side])
                except OSError:
                    pass


main()
