#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Each intent, on anonymous memory: contents that are to survive do, whatever is
reported of them; dead ones go when they are to go.
"""
from common import *
from tap import main

NAMES = {COLD: "COLD", PAGEOUT: "PAGEOUT", WILLNEED: "WILLNEED"}


def surviving(tap, g, a):
    for intent in (COLD, WILLNEED, PAGEOUT, WILLNEED):
        status, done, result = a.do(f"report 0 64M {intent}")
        tap.ok(status == 0 and done == mib(64) and not result & ZEROED,
               f"{NAMES[intent]} is answered", f"status {status} done {done} result {result}")
        tap.equal(a.do("verify 0 64M 1"), [0], f"{NAMES[intent]} changes no byte")
    tap.equal(g.memory().huge, g.memory().rss, "no huge page was split")


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
        a = Owner(g, "a", "96M")
        a.do("alloc 0 96M")
        a.do("fill 0 96M 1")
        surviving(tap, g, a)
        lazy(tap, g, a)
        mixed(tap, g, a)
        nowait(tap, g, a)
        tap.equal(a.do("query")[5], 0, "no report failed")
        tap.equal(attribute(g, "tide_device/state"), "ok", "the device is well")


main(test)
