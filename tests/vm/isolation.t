#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# slow
"""No process reads what another wrote: 10,000 rounds across two of them."""
from common import *
from tap import main

# In the debug kernel each round takes many times as long.
ROUNDS = 1000 if KERNEL == "debug" else 10000


def test(tap):
    with guest(tap) as g:
        tap.relay(*g.call(f"rounds {ROUNDS}", timeout=500))
        settle(g)
        tap.equal(attribute(g, "tide_extents/owned"), 0, "no extent is left owned")


main(test)
