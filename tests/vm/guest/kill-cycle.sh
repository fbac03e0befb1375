#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill-cycle.sh MIB: an owner fills an arena and is killed; prints the guest's
# time then, and when no extent was owned or under way any more.
extents=/sys/class/misc/tide/device/tide_extents
mkfifo /tmp/in /tmp/out
arena <>/tmp/in 1<>/tmp/out &
pid=$!
for command in 'create 0' "alloc 0 $1M" "fill 0 $1M 1"; do
	echo "$command" >/tmp/in
	read -r answer </tmp/out
	case $answer in
	ok*) ;;
	*) echo "$command: $answer" && exit 1 ;;
	esac
done
cut -d' ' -f1 /proc/uptime
kill -9 $pid
while [ "$(cat $extents/owned $extents/reported $extents/draining | tr -d '\n')" != 000 ]; do
	usleep 1000
done
cut -d' ' -f1 /proc/uptime
wait $pid 2>/dev/null
rm /tmp/in /tmp/out
