#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# series.sh QEMU_TREE OUTDIR: the device as patches for this QEMU tree, which
# stays as it is, and a file "series" that names them in order: what quilt, and
# so debian/patches, wants. The same tree gives the same bytes. The patches are
# from GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"

tree=${1:-}
out=${2:-}
[ -n "$tree" ] && [ -n "$out" ] || die "usage: series.sh QEMU_TREE OUTDIR"
[ -e "$tree/hw/misc/Kconfig" ] || die "$tree is no QEMU source tree; unpack one there first"
[ ! -e "$tree/hw/misc/tide.c" ] || die "$tree has the device already; name a tree that does not"
[ ! -e "$out/series" ] || die "$out has a series already; remove it or name another folder"
apt_need git

# Nothing of whoever runs this gets into the patches, or keeps them from being made.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=${GIT_AUTHOR_NAME:-Tide maintainers}
export GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL:-tide@localhost}
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_AUTHOR_DATE='2026-12-01T00:00:00Z' GIT_COMMITTER_DATE='2026-12-01T00:00:00Z'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# step SUBJECT WHY PATH...: one patch of what changed there.
step()
{
	local subject=$1 why=$2
	shift 2
	git -C "$work" add -- "$@"
	git -C "$work" commit --quiet -m "$subject" -m "$why"
}

# Of QEMU's own files just those that change: apply.sh says if one is missing.
for f in hw/misc/{Kconfig,meson.build,trace-events} hmp-commands-info.hx docs/specs/index.rst tests/qtest/meson.build; do
	[ ! -e "$tree/$f" ] || install -D -m 644 "$tree/$f" "$work/$f"
done
git -C "$work" init --quiet --initial-branch=series
printf '*.before-tide\n' >"$work/.git/info/exclude"
step 'QEMU' 'Its files that change.' .
"$here/apply.sh" "$work"

step 'hw/misc/tide: add the core' \
	'Registers, rings, validation, scheduling and actions of the Tide device, in plain
C without types of QEMU, and the header that it shares with its drivers.' \
	hw/misc/tide-core linux-headers
step 'hw/misc/tide: add a device for guest memory intents' \
	'A PCI function through which a guest tells what its memory contents mean: BARs, a
worker thread, interrupts, RAM map, migration, counters. And tide-testdev, a
stand-in for an assigned device, for the tests.' \
	hw include hmp-commands-info.hx
step 'docs/specs: document tide' \
	'How to use the device, its properties and its counters.' \
	docs
step 'tests/qtest: test tide' \
	'Every intent on every kind of RAM, malformed input, reset, migration.' \
	tests

mkdir -p "$out"
git -C "$work" format-patch --quiet --zero-commit --no-signature --no-stat \
	--no-renames --root HEAD~4..HEAD -o "$work/.git/patches"
[ -z "$(git -C "$work" status --porcelain)" ] || die "series.sh leaves files out: $(git -C "$work" status --porcelain)"
for f in "$work"/.git/patches/*.patch; do
	cp "$f" "$out/tide-$(basename "$f")"
	printf 'tide-%s\n' "$(basename "$f")"
done >"$work/names"
cp "$work/names" "$out/series"
say "wrote $(wc -l <"$out/series") patches to $out"
