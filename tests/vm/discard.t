#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 7.3
"""
Dead memory is back on the host when its report is answered, in whole huge
pages. What the host holds is counted twice: exactly, for the extents of the
arena, and as Rss of all of the guest's memory.
"""
from common import *
from tap import main


def test(tap):
    with guest(tap) as g:
        a = Owner(g, "a", "256M")
        with owned_addresses(g) as owned:
            tap.equal(a.do("alloc 0 128M"), [mib(128)], "128 MiB are committed")
        extents = [owned[index] for index in range(64)]
        tap.equal(a.do("zero 0 128M"), [0], "fresh memory reads zero")
        a.do("fill 0 128M 1")
        tap.equal(len(set(extents)), 64, "made of 64 different extents")
        tap.equal(g.resident(extents), mib(128), "written memory is resident on the host")
        full = g.memory()
        tap.equal(full.huge, full.rss, "as huge pages")

        status, done, result = a.do(f"report 64M 64M {DISCARD}")
        resident, now = g.resident(extents), g.memory()
        tap.equal((status, done, result & ZEROED), (0, mib(64), ZEROED), "a discard says what it did")
        tap.equal(resident, mib(64), "just the live bytes of the arena are resident")
        tap.at_most(abs(full.rss - now.rss - mib(64)), mib(4), "Rss fell by what was discarded")
        tap.equal(now.huge, now.rss, "no huge page was split")
        tap.equal(a.do("verify 0 64M 1"), [0], "what was not reported is unchanged")
        tap.equal(a.do("zero 64M 64M"), [0], "what was reported reads zero")

        a.do("fill 64M 64M 2")
        for offset in range(64, 128, 4):
            a.do(f"report {offset}M 2M {DISCARD}")
        now = g.memory()
        tap.equal(g.resident(extents), mib(96), "every other extent can be discarded")
        tap.equal(now.huge, now.rss, "and still no huge page is split")
        wrong = [a.do(f"verify {o + 2}M 2M 2")[0] for o in range(64, 128, 4)]
        tap.equal(sum(wrong), 0, "their neighbours are unchanged")

        tap.equal(a.do("free 64M 64M"), [mib(64)], "FREE takes them away")
        settle(g)
        tap.equal(g.resident(extents), mib(64), "and the host gets the rest of them")
        tap.equal(a.do("query")[0], mib(64), "64 MiB stay committed")
        tap.equal(a.do("verify 0 64M 1"), [0], "and unchanged to the end")
        a.kill()
        settle(g)
        tap.at_most(g.resident(extents), mib(4), "a dead owner leaves nothing behind")


main(test)
