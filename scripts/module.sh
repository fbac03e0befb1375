#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# module.sh 6.1|6.12|7.3: builds tide.ko with DKMS for that guest kernel, inside
# a root file system of its release, and prints the path of tide.ko. Cached by
# the content of the sources and the kernel's release.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

series=${1:-}
need_root "$0 $*"
need_debian
kernel_suite "$series"
root=$("$TIDE_TOP/scripts/guest-root.sh" "$KERNEL_BASE")
apt_private "$KERNEL_BASE" "$KERNEL_BASE-backports"
release=$(kernel_release "$series")

cd "$TIDE_TOP"
key=$({ echo "$release"; cat scripts/module.sh; content_key "${DKMS_SOURCES[@]}"; } | sha256sum | cut -c1-16)
work=/var/tmp/tide-$key
dir=$TIDE_CACHE/module/$release-$key
mkdir -p "$dir"
cache_lock "$dir"
if [ ! -e "$dir/done" ]; then
	version=$(cat VERSION)
	say "module: DKMS build for $release"
	rm -rf "${root:?}$work"
	mkdir -p "$root$work/dkms" "$root$work/src/tide-$version"
	cp -a "${DKMS_SOURCES[@]}" "$root$work/src/tide-$version/"
	dkms=(in_root "$root" dkms -m tide -v "$version" -k "$release" -a x86_64
		--dkmstree "$work/dkms" --sourcetree "$work/src")
	{ "${dkms[@]}" add && "${dkms[@]}" build; } >"$dir/dkms.log" 2>&1 || {
		find "$root$work/dkms" -name make.log -exec cp {} "$dir/make.log" \;
		rm -rf "${root:?}$work"
		tail -n 40 "$dir/make.log" >&2 || cat "$dir/dkms.log" >&2
		die "module: DKMS build for $release failed: see $dir"
	}
	built=$(find "$root$work/dkms/tide/$version/$release" -name 'tide.ko*' | sed -n 1p)
	case $built in
	*.xz) xz -dc "$built" >"$dir/tide.ko" ;;
	*.zst) zstd -qdc "$built" >"$dir/tide.ko" ;;
	*) cp "$built" "$dir/tide.ko" ;;
	esac
	rm -rf "${root:?}$work"
	touch "$dir/done"
fi
printf '%s\n' "$dir/tide.ko"
