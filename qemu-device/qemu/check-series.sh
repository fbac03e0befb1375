#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-series.sh [RELEASE...]: the patch series on the source that build.sh has of
# each release; 7.2 and 10.0 unless told otherwise. TAP.
set -euo pipefail
. "$(dirname "$0")/../../tests/lib.sh"
qemu=$TOP/qemu-device/qemu
apt_need patch dpkg-dev git

# unpacked RELEASE: two trees of it.
unpacked()
{
	rm -rf "$TMP/patched" "$TMP/overlaid"
	"$qemu/build.sh" --qemu "$1" --unpack "$TMP/patched" </dev/null &&
		cp -a "$TMP/patched" "$TMP/overlaid"
}

# written: the series, twice, the same, and the tree as it was.
written()
{
	rm -rf "$TMP/series" "$TMP/again"
	"$qemu/series.sh" "$TMP/patched" "$TMP/series" &&
		"$qemu/series.sh" "$TMP/patched" "$TMP/again" &&
		diff -r "$TMP/series" "$TMP/again" &&
		diff -rq --no-dereference "$TMP/patched" "$TMP/overlaid"
}

# Without fuzz: context that does not match is a patch for another release.
applied()
{
	local name
	[ "$(wc -l <"$TMP/series/series")" = 4 ] || return 1
	while read -r name; do
		patch --directory="$TMP/patched" -p1 --fuzz=0 --force --no-backup-if-mismatch \
			<"$TMP/series/$name" || return 1
	done <"$TMP/series/series"
}

# same: as apply.sh makes it, which keeps QEMU's own files aside.
same()
{
	"$qemu/apply.sh" "$TMP/overlaid" &&
		[ -e "$TMP/patched/hw/misc/tide-core/core.c" ] &&
		diff -rq --no-dereference --exclude='*.before-tide' "$TMP/patched" "$TMP/overlaid"
}

[ $# -gt 0 ] || set -- 7.2 10.0
for release in "$@"; do
	ok "$release: its source can be had" unpacked "$release"
	ok "$release: the series is written, and the tree is left alone" written
	ok "$release: the series applies with patch -p1" applied
	ok "$release: it gives the files that apply.sh gives" same
done
ok 'a tree that has the device is refused' \
	eval '! "$qemu/series.sh" "$TMP/overlaid" "$TMP/none" && [ ! -e "$TMP/none" ]'
done_testing
