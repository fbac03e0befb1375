#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 7.3
"""
Each intent, on anonymous memory. Dead contents are back on the host when their
report is answered, in whole huge pages: counted exactly, for the extents of the
arena, and as Rss of all of the guest's memory. Contents that are to survive do,
whatever is reported of them.
"""
from common import *
from tap import main

NAMES = {COLD: "COLD", PAGEOUT: "PAGEOUT", WILLNEED: "WILLNEED"}


def discard(tap, g):
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


def surviving(tap, g, a):
    """PAGEOUT last: a host with swap splits what it pages out."""
    for intent in (COLD, WILLNEED, PAGEOUT, WILLNEED):
        if intent == PAGEOUT:
            tap.equal(g.memory().huge, g.memory().rss, "no huge page was split")
        status, done, result = a.do(f"report 0 64M {intent}")
        tap.ok(status == 0 and done == mib(64) and not result & ZEROED,
               f"{NAMES[intent]} is answered", f"status {status} done {done} result {result}")
        tap.equal(a.do("verify 0 64M 1"), [0], f"{NAMES[intent]} changes no byte")


def lazy(tap, g, a):
    before = g.memory().lazy
    status, done, _ = a.do(f"report 64M 32M {DISCARD_LAZY}")
    tap.equal((status, done), (0, mib(32)), "DISCARD_LAZY is answered")
    now = g.memory()
    tap.at_least(now.lazy - before, mib(32), "the host may take it when it is pressed")
    a.do("fill 64M 32M 5")
    tap.equal(a.do("verify 64M 32M 5"), [0], "what is written afterwards stays")
    tap.equal(g.memory().huge, g.memory().rss, "and still no huge page is split")


def mixed(tap, g, a):
    """Reports of one range must not touch its neighbours."""
    a.do("fill 0 96M 9")
    for n, intent in enumerate((DISCARD, COLD, DISCARD_LAZY, PAGEOUT, DISCARD, WILLNEED) * 4):
        a.do(f"report {n * 4}M 2M {intent}")
    wrong = sum(a.do(f"verify {n * 4 + 2}M 2M 9")[0] for n in range(24))
    tap.equal(wrong, 0, "neighbours of 24 reports are unchanged")
    kept = sum(a.do(f"verify {n * 4}M 2M 9")[0] for n in range(24) if n % 6 in (1, 3, 5))
    tap.equal(kept, 0, "and so is what was reported to survive")


def nowait(tap, g, a):
    a.do("fill 0 96M 3")
    before = g.memory().rss
    tap.equal(a.do(f"report 0 96M {DISCARD} nowait")[0], 64, "NOWAIT says that it is pending")
    settle(g)
    tap.at_least(before - g.memory().rss, mib(92), "and is done in a moment")
    tap.equal(a.do("zero 0 96M"), [0], "its memory reads zero")


def test(tap):
    with guest(tap) as g:
        discard(tap, g)
        a = Owner(g, "a", "96M")
        a.do("alloc 0 96M")
        nowait(tap, g, a)
        a.do("fill 0 96M 1")
        lazy(tap, g, a)
        surviving(tap, g, a)
        mixed(tap, g, a)
        tap.equal(a.do("query")[5], 0, "no report failed")
        tap.equal(attribute(g, "tide_device/state"), "ok", "the device is well")


main(test)
