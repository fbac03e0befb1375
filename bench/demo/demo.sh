#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh [--speed X] [--scale Y] [--trajectory FILE]: `make demo`. Installs
# and builds what is missing, then replays a recorded trajectory in a stock
# guest without and with Tide while the host watches. Results: build/demo/.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

need_root make demo
need_debian
need_disk 12 "$TIDE_CACHE"
need_disk 1 "$TIDE_TOP"
# Where the network is missing, this is what says so.
apt_private bookworm bookworm-backports
cd "$TIDE_TOP"
mkdir -p build/demo

say 'demo: installing what is missing'
apt_need gcc make python3 pkg-config libjson-c-dev gnuplot-nox busybox-static cpio util-linux

# The guest's root comes over the network while the compiler has the processors.
say 'demo: building QEMU, guest kernel, module and command (about 5 minutes the first time)'
scripts/guest-root.sh bookworm >/dev/null &
root=$!
trap 'kill "$root" 2>/dev/null || true' EXIT
TIDE_QEMU=$(qemu-device/qemu/build.sh | tail -n 1)
export TIDE_QEMU
wait "$root" || die 'demo: the guest could not be made, see above'
trap - EXIT
flock build/lib.lock make -s -C libtidectl tidectl-static >build/demo/lib.log 2>&1 ||
	die 'demo: the command does not build: see build/demo/lib.log'
module=$(scripts/module.sh 6.12)
eval "$(scripts/kernel.sh 6.12)"
export TIDE_KERNEL_6_12="$RELEASE $VMLINUZ $module"

/usr/bin/python3 bench/demo/demo.py "$@"
