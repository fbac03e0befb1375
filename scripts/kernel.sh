#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kernel.sh 6.1|6.12|7.3: unpacks the newest stock Debian kernel of the series
# and prints three lines for the shell to eval:
#   RELEASE=   as uname -r prints it
#   VMLINUZ=   the image to boot
#   MODULES=   folder of its modules
set -euo pipefail
. "$(dirname "$0")/lib.sh"

need_debian
kernel_suite "${1:-}"
apt_need debian-archive-keyring
apt_private "$KERNEL_BASE" "$KERNEL_BASE-backports"
release=$(kernel_release "$1")
version=$(apt_newest "linux-image-$release" "$KERNEL_SUITE")
dir=$TIDE_CACHE/kernel/${version//[^a-zA-Z0-9.+-]/_}
mkdir -p "$dir"
cache_lock "$dir"
if [ ! -e "$dir/done" ]; then
	need_disk 2 "$TIDE_CACHE"
	say "kernel $1: unpacking $release"
	rm -rf "$dir/image"
	# Newer releases keep image and modules in packages of their own.
	packages=()
	for part in image binary modules; do
		[ -z "$(apt-cache "${APT_PRIVATE[@]}" pkgnames "linux-$part-$release")" ] ||
			packages+=("linux-$part-$release=$version")
	done
	apt_unpack "$dir/image" "${packages[@]}"
	touch "$dir/done"
fi
modules=$dir/image/lib/modules/$release
[ -d "$modules" ] || modules=$dir/image/usr/lib/modules/$release
image=$dir/image/boot/vmlinuz-$release
[ -e "$image" ] || image=$modules/vmlinuz
[ -d "$modules" ] && [ -e "$image" ] || die "kernel $1: no image or modules in the packages of $release"
printf 'RELEASE=%q\nVMLINUZ=%q\nMODULES=%q\n' "$release" "$image" "$modules"
