#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 7.3
# slow
"""
However an owner dies, the host has its memory back within a second of guest
time; a hundred deaths leave nothing behind.
"""
from common import *
from tap import main

CYCLES = 100
SIZE = 16


def test(tap):
    with guest(tap) as g:
        rss, waits = [], []
        for _ in range(CYCLES):
            start, end = g.run(f"sh /bin/kill-cycle {SIZE}").split()
            waits.append(float(end) - float(start))
            rss.append(g.memory())
        tap.at_most(max(waits), 1.0, f"{CYCLES} killed owners: all is back on the host within 1 s")
        tap.at_most(max(m.rss for m in rss[50:]) - max(m.rss for m in rss[10:50]), mib(4),
                    "Rss does not creep up")
        tap.at_most(rss[-1].rss - rss[0].rss, mib(8), "from the first to the last")
        tap.ok(all(m.huge == m.rss for m in rss), "no huge page was split")
        tap.equal(attribute(g, "tide_extents/quarantined"), 0, "no extent is lost")
        carved, cached = attribute(g, "tide_pool/carved_bytes"), attribute(g, "tide_pool/cached_bytes")
        tap.equal(carved, cached, "all that is carved is idle")

        # Killed while a report is under way, and while it allocates.
        for command in (f"report 0 64M {DISCARD}", "alloc 64M 64M"):
            a = Owner(g, "a", "128M")
            a.do("alloc 0 64M")
            a.do("fill 0 64M 1")
            g.run(f"echo '{command}' >/run/a.in")
            a.kill()
            settle(g)
            tap.equal(attribute(g, "tide_extents/owned"), 0, f"killed within '{command.split()[0]}': nothing is owned")
        tap.equal(attribute(g, "tide_extents/quarantined"), 0, "and nothing is lost")


main(test)
