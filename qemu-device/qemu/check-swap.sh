#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-swap.sh: the qtest of PAGEOUT on a host with block swap, a zram device
# of its own that is gone afterwards. TAP on stdout, for prove. Needs root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

remove_swap()
{
	swapoff "/dev/zram$number" || true
	echo 1 >"/sys/block/zram$number/reset"
	echo "$number" >/sys/class/zram-control/hot_remove
}

if ! grep -q ' partition ' /proc/swaps; then
	[ -e /sys/class/zram-control ] || modprobe zram 2>/dev/null || true
	[ -e /sys/class/zram-control ] || skip "this host has no block swap, and its kernel no zram"
	number=$(cat /sys/class/zram-control/hot_add)
	trap remove_swap EXIT
	echo 256M >"/sys/block/zram$number/disksize"
	udevadm settle 2>/dev/null || true
	[ -e "/dev/zram$number" ] ||
		mknod "/dev/zram$number" b $(tr : ' ' <"/sys/block/zram$number/dev")
	mkswap "/dev/zram$number" >/dev/null
	swapon "/dev/zram$number"
fi
"$here/check.sh" -p /x86_64/tide/intent/pageout
