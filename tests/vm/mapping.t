#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mappings: rules, edges, fork, lifetime."""
from common import *
from tap import main


def test(tap):
    with guest(tap) as g:
        tap.relay(*g.call("mapping", timeout=120))
        a = Owner(g, "a", "8M")
        a.do("alloc 0 4M")
        a.do("fill 0 4M 1")
        tap.equal(a.do("fork 0 4M 1"), [0], "a child finds every byte, and writes all anew")
        tap.equal(a.do("verify 0 4M 2"), [0], "its parent finds every one of those")
        fdinfo = g.run(f"cat /proc/{a.pid}/fdinfo/*")
        tap.has(fdinfo, "tide-committed-bytes:\t4194304", "fdinfo tells what is committed")
        tap.has(fdinfo, "tide-name:\ttest", "and whose it is")


main(test)
