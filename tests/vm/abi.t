#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every ioctl with short, exact, long and garbage structs and bad arguments."""
from common import *
from tap import main


def test(tap):
    with guest(tap) as g:
        tap.relay(*g.call("abi", timeout=300))
        settle(g)
        tap.equal(attribute(g, "tide_extents/owned"), 0, "no extent is left owned")
        tap.equal(attribute(g, "tide_extents/quarantined"), 0, "none is lost")


main(test)
