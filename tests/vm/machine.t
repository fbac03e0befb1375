#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
"""The device works on each machine type that a guest may have."""
from common import *
from tap import main


def test(tap):
    for machine in ("pc", "microvm"):
        with guest(tap, machine=machine) as g:
            a = Owner(g, "a", "64M")
            a.do("alloc 0 64M")
            a.do("fill 0 64M 1")
            before = g.memory().rss
            status, done, _ = a.do(f"report 0 32M {DISCARD}")
            tap.equal((status, done), (0, mib(32)), f"{machine}: a discard is answered")
            tap.at_least(before - g.memory().rss, mib(30), f"{machine}: the host has it back")
            tap.equal(a.do("verify 32M 32M 1"), [0], f"{machine}: the rest is unchanged")
            a.kill()
            settle(g)
            tap.equal(attribute(g, "tide_extents/owned"), 0, f"{machine}: nothing is left")


main(test)
