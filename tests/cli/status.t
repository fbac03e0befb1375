#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tidectl status on a made-up sysfs.
. "$(dirname "$0")/lib.sh"

root=$TMP/root
device=$root/sys/class/misc/tide/device

# put FILE VALUE: one attribute.
put()
{
	mkdir -p "$(dirname "$device/$1")"
	echo "$2" >"$device/$1"
}

put tide_device/state ok
put tide_device/features 0x1
put tide_device/queue_size 256
put tide_pool/backend contig
put tide_pool/size_bytes 536870912
put tide_pool/carved_bytes 134217728
put tide_pool/cached_bytes 2097152
put tide_pool/floor_bytes 67108864
put tide_extents/carved 1
put tide_extents/owned 60
put tide_extents/reported 2
put tide_extents/draining 3
put tide_extents/quarantined 0
put tide_reports/count 7
put tide_reports/reported_bytes 18446744073709551615
put tide_reports/acted_bytes 4194304
put tide_reports/failed 0
put tide_reports/discarded_bytes 2097152
put tide_reports/zeroed_by_guest_bytes 0
put tide_reports/device_resets 1

run --root "$root" status
ok 'text' [ "$code" = 0 ]
ok 'sizes for people' has "$out" '512.0 MiB'
ok 'unknown is not 0' has "$(echo "$out" | grep 'owned by arenas')" 'unknown'

run --root "$root" status --json
ok 'JSON' [ "$code" = 0 ]
ok 'schema' json '.schema == "tidectl-status/1"'
ok 'device' json '.device == {state: "ok", features: "0x1", queue_size: 256}'
ok 'pool' json '.pool == {backend: "contig", size_bytes: 536870912,
	carved_bytes: 134217728, cached_bytes: 2097152, floor_bytes: 67108864,
	owned_bytes: null}'
ok 'extents' json '.extents == {carved: 1, owned: 60, reported: 2, draining: 3, quarantined: 0}'
ok 'reports' json '.reports | .count == 7 and .acted_bytes == 4194304 and
	.failed == 0 and .discarded_bytes == 2097152 and
	.zeroed_by_guest_bytes == 0 and .device_resets == 1'
ok 'all 64 bits' grep -q '"reported_bytes": 18446744073709551615' "$TMP/out"

for state in inhibited degraded; do
	put tide_device/state $state
	run --root "$root" status --json
	ok "exit 4 when $state" [ "$code" = 4 ]
	ok "$state is shown" json ".device.state == \"$state\""
done

rm -r "$device/tide_reports" "$device/tide_extents/owned"
put tide_device/state ok
put tide_pool/floor_bytes garbage
run --root "$root" status --json
ok 'what is missing is null' json '.reports.count == null and .extents.owned == null'
ok 'what is no number is null' json '.pool.floor_bytes == null'
ok 'and no failure' [ "$code" = 0 ]

done_testing
