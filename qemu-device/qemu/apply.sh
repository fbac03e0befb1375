#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# apply.sh QEMU_TREE: overlay the device onto an unpacked QEMU source tree.
#
# Can be run again at any time: only files whose content differs are written,
# so that the next ninja run builds only what changed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
device=$(dirname "$here")
. "$device/../scripts/lib.sh"

tree=${1:-}
[ -n "$tree" ] || die "usage: apply.sh QEMU_TREE"
[ -e "$tree/hw/misc/Kconfig" ] || die "$tree is no QEMU source tree; unpack one there first"

# update SOURCE TARGET: copy unless they are the same already.
update()
{
	mkdir -p "$(dirname "$2")"
	cmp -s "$1" "$2" || cp "$1" "$2"
}

# extend FILE SNIPPET [ANCHOR]: put the snippet before the line ANCHOR, or at
# the end. Always starts from QEMU's own file, kept aside the first time.
extend()
{
	local file=$tree/$1 snippet=$here/patches/$2 anchor=${3:-} new
	[ -e "$file" ] || die "this QEMU has no $1; apply.sh knows QEMU 7.2 to 11"
	[ -e "$file.before-tide" ] || cp "$file" "$file.before-tide"
	[ -z "$anchor" ] || grep -qxF "$anchor" "$file.before-tide" ||
		die "this QEMU's $1 has no line '$anchor'; apply.sh knows QEMU 7.2 to 11"
	new=$(mktemp)
	awk -v anchor="$anchor" -v snippet="$snippet" -v system_ss="$system_ss" '
		function insert(  line) {
			while ((getline line < snippet) > 0) {
				sub(/^system_ss/, system_ss, line)
				print line
			}
		}
		anchor != "" && $0 == anchor { insert() }
		{ print }
		END { if (anchor == "") insert() }
	' "$file.before-tide" >"$new"
	update "$new" "$file"
	rm -f "$new"
}

for f in "$here"/hw/misc/*.c; do
	update "$f" "$tree/hw/misc/$(basename "$f")"
done
for f in "$here"/include/hw/misc/*.h; do
	update "$f" "$tree/include/hw/misc/$(basename "$f")"
done
for f in "$device"/core/*.[ch]; do
	update "$f" "$tree/hw/misc/tide-core/$(basename "$f")"
done
update "$here/docs/specs/tide.rst" "$tree/docs/specs/tide.rst"
for f in "$here"/tests/qtest/*.[ch]; do
	update "$f" "$tree/tests/qtest/$(basename "$f")"
done
update "$TIDE_TOP/uapi/linux/tide_pci.h" "$tree/linux-headers/linux/tide_pci.h"

# Before 8.1 meson's set of what all system emulators share had another name.
system_ss=system_ss
grep -q '^system_ss' "$tree/hw/misc/meson.build" || system_ss=softmmu_ss

extend hw/misc/Kconfig Kconfig.add
extend hw/misc/meson.build meson.build.add
extend hw/misc/trace-events trace-events.add
extend hmp-commands-info.hx hmp-commands-info.add
extend docs/specs/index.rst specs-index.add
extend tests/qtest/meson.build qtest-meson.build.add 'qtest_executables = {}'
