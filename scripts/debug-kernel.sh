#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# debug-kernel.sh: builds the kernel of tests/kunit/debug.config from the
# distribution's newest 6.12 source and prints the folder of its build tree:
# arch/x86/boot/bzImage to boot, and what an external module needs to build.
# Cached by source version, configuration and compiler.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

config=$TIDE_TOP/tests/kunit/debug.config
need_debian
case $DEBIAN_CODENAME in
bookworm) suites=(bookworm bookworm-backports) ;;
trixie) suites=(trixie) ;;
esac
apt_need gcc make flex bison bc libelf-dev libssl-dev xz-utils rsync kmod cpio
apt_private "${suites[@]}"
# In a 'suite-backports' the series keeps its name; take it from there.
package=linux-source-6.12
version=$(apt_newest "$package" "${suites[-1]}")
key=$({ echo "$version"; gcc -dumpfullversion; cat "$config" "${BASH_SOURCE[0]}"; } | sha256sum | cut -c1-16)
dir=$TIDE_CACHE/debug-kernel/$key
log=$dir/build.log
mkdir -p "$dir"
cache_lock "$dir"
if [ ! -e "$dir/done" ]; then
	need_disk 6 "$TIDE_CACHE"
	say "debug kernel: unpacking $package $version"
	rm -rf "$dir/tree" "$dir/deb"
	mkdir -p "$dir/tree"
	apt_unpack "$dir/deb" "$package=$version"
	tar -xJf "$dir/deb/usr/src/$package.tar.xz" -C "$dir/tree" --strip-components=1
	rm -rf "$dir/deb"
	make -C "$dir/tree" KCONFIG_ALLCONFIG="$config" allnoconfig >"$log" 2>&1 ||
		die "debug kernel: configuring failed: see $log"
	# allnoconfig drops silently what has an unmet dependency.
	lost=$(grep '^CONFIG_' "$config" | grep -vxF -f "$dir/tree/.config" || true)
	[ -z "$lost" ] || die "debug kernel: not taken from debug.config: $lost"
	say "debug kernel: building (about 6 minutes on two cores)"
	run_logged "$log" 'debug kernel' make -C "$dir/tree" -j"$TIDE_JOBS" bzImage modules
	touch "$dir/done"
fi
printf '%s\n' "$dir/tree"
