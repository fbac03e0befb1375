#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh [--asan]: build the distribution's QEMU with the device in it.
#
# Prints one line on stdout: a folder with qemu-system-x86_64 and the qtest
# program tide-test. Everything lives under $TIDE_CACHE: the configured tree,
# keyed by QEMU's version and how it is configured, so that a change of the
# device is a short ninja run; and the results, keyed by the device's content,
# so that no change is no run at all.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"

variant=plain
sanitize=()
case "${1:-}" in
'') ;;
--asan) variant=asan sanitize=(--enable-asan --enable-ubsan) ;;
*) die "usage: build.sh [--asan]" ;;
esac

# Debian strips firmware it builds itself from the source, and does not have
# pycotap, which only QEMU's own functional tests use.
edit_tree()
{
	sed -i '/^pycotap/d' pythondeps.toml
	sed -i 's/^if unpack_edk2_blobs$/if false/' pc-bios/meson.build
}

configure_tree()
{
	../src/configure --target-list=x86_64-softmmu --without-default-features \
		--enable-tcg --enable-kvm --enable-fdt=system --enable-virtfs \
		--enable-attr --enable-cap-ng --disable-docs --disable-tools \
		--disable-download --disable-install-blobs --disable-werror \
		--firmwarepath=/usr/share/qemu:/usr/share/seabios:/usr/lib/ipxe/qemu \
		--python=/usr/bin/python3 "${sanitize[@]}"
}

# QEMU 10 wants meson 1.5; bookworm's own is older, its backports' is not.
# Unpacked beside the tree, so that the system's meson stays what it is.
private_meson()
{
	local dir=$TIDE_CACHE/meson
	if [ ! -e "$dir/usr/lib/python3/dist-packages/mesonbuild" ]; then
		say "fetching meson from bookworm-backports"
		rm -rf "$dir" && mkdir -p "$dir"
		(cd "$dir" && apt-get "${APT_PRIVATE[@]}" download meson >"$log" 2>&1 &&
			dpkg-deb -x meson_*.deb . >>"$log" 2>&1) ||
			die "could not fetch meson (no network?): see $log"
	fi
	export PYTHONPATH=$dir/usr/lib/python3/dist-packages
}

fetch_tree()
{
	say "fetching and unpacking QEMU $version source ($suite)"
	rm -rf "$tree/src" "$tree/fetch" && mkdir -p "$tree/src" "$tree/fetch"
	(cd "$tree/fetch" && apt-get "${APT_PRIVATE[@]}" --tar-only --download-only \
		source qemu >"$log" 2>&1) ||
		die "could not fetch QEMU's source (no network?): see $log"
	tar -xJf "$tree"/fetch/qemu_*.orig.tar.xz --strip-components=1 -C "$tree/src" ||
		die "QEMU's source archive is broken; remove $tree and run again"
	rm -rf "$tree/fetch"
	(cd "$tree/src" && edit_tree)
	touch "$tree/unpacked"
}

build_tree()
{
	if [ ! -e "$tree/configured" ]; then
		say "configuring QEMU (1 min)"
		rm -rf "$tree/build" && mkdir -p "$tree/build"
		(cd "$tree/build" && configure_tree >"$log" 2>&1) ||
			die "QEMU's configure failed: see $log"
		touch "$tree/configured"
	fi
	say "building QEMU with the device (3 min the first time)"
	(cd "$tree/build" && nice ninja -j "$TIDE_JOBS" qemu-system-x86_64 \
		tests/qtest/tide-test >"$log" 2>&1) ||
		die "the build failed: see the end of $log"
}

# Results of older contents are of no use to anybody for long.
publish()
{
	rm -rf "$out.new" && mkdir -p "$out.new"
	cp "$tree/build/qemu-system-x86_64" "$tree/build/tests/qtest/tide-test" "$out.new"
	mv "$out.new" "$out"
	find "$tree/out" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' | sort -rn |
		awk 'NR > 4 { print $2 }' | xargs -r rm -rf
}

need_debian
need_disk 6 "$TIDE_CACHE"
apt_need build-essential ninja-build python3-venv python3-setuptools python3-distlib \
	libglib2.0-dev libpixman-1-dev flex bison pkg-config libfdt-dev libattr1-dev \
	libcap-ng-dev seabios ipxe-qemu qemu-system-data xz-utils
log=$TIDE_CACHE/qemu-$variant.log
case $DEBIAN_CODENAME in
bookworm) suite=bookworm-backports ;;
*) suite=$DEBIAN_CODENAME; apt_need meson ;;
esac
apt_private "$suite"
[ "$DEBIAN_CODENAME" != bookworm ] || private_meson

version=$(apt-cache "${APT_PRIVATE[@]}" showsrc qemu | awk '$1 == "Version:" { print $2 }' |
	sort -V | tail -n 1 | sed 's/^[0-9]*://; s/-.*//')
[ -n "$version" ] || die "apt shows no qemu source in $suite; remove $TIDE_CACHE/apt and run again"
key=$( (declare -f edit_tree configure_tree; echo "${sanitize[@]}") | sha256sum | cut -c1-8)
tree=$TIDE_CACHE/qemu-$version-$variant-$key
mkdir -p "$tree/out"

# Two runs at once would build over each other.
exec 9>"$tree/lock"
flock 9
out=$tree/out/$(cd "$TIDE_TOP" && content_key qemu-device uapi/linux/tide_pci.h)
if [ ! -e "$out/tide-test" ]; then
	[ -e "$tree/unpacked" ] || fetch_tree
	"$here/apply.sh" "$tree/src"
	build_tree
	publish
	say "QEMU is ready"
fi
echo "$out"
