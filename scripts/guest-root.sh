#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-root.sh SUITE: makes a minimal root file system of bookworm or trixie
# with dkms, the compiler of that release and the headers of our guest kernels,
# and prints its folder. Enter it with in_root of lib.sh. Cached by the kernel
# versions that the archive offers.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

suite=${1:-}
case $suite in
bookworm) series=(6.1 6.12) ;;
trixie) series=(7.3) ;;
*) die "usage: guest-root.sh bookworm|trixie" ;;
esac

need_root "$0 $*"
need_debian
apt_need debootstrap debian-archive-keyring util-linux
apt_private "$suite" "$suite-backports"
releases=()
for s in "${series[@]}"; do
	releases+=("$(kernel_release "$s")")
done

key=$({ echo "${releases[*]}"; cat "${BASH_SOURCE[0]}"; } | sha256sum | cut -c1-16)
dir=$TIDE_CACHE/guest-root/$suite-$key
root=$dir/root
log=$dir/build.log
mkdir -p "$dir"
cache_lock "$dir"
if [ ! -e "$dir/done" ]; then
	need_disk 3 "$TIDE_CACHE"
	rm -rf "$root"
	uri=$(apt_uri)
	: >"$log"
	run_logged "$log" "debootstrap of $suite" \
		debootstrap --variant=minbase --include=gcc,make,dkms,kmod "$suite" "$root" "$uri"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	printf 'deb %s %s main\n' "$uri" "$suite" "$uri" "$suite-backports" >"$root/etc/apt/sources.list"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod +x "$root/usr/sbin/policy-rc.d"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	for f in /etc/apt/apt.conf /etc/apt/apt.conf.d/*proxy*; do
		[ ! -e "$f" ] || cp "$f" "$root/etc/apt/apt.conf.d/"
	done
	run_logged "$log" "package lists of $suite" in_root "$root" apt-get update
	run_logged "$log" "kernel headers of $suite" in_root "$root" \
		apt-get install -y --no-install-recommends "${releases[@]/#/linux-headers-}"
	in_root "$root" apt-get clean
	touch "$dir/done"
fi
printf '%s\n' "$root"
