#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh [--asan] [--qemu RELEASE]: build a distribution's QEMU with the device
# in it. RELEASE is 7.2 (bookworm), 10.0 (the default: bookworm-backports, or
# trixie), 10.2 (sid) or 11.1 (trixie-backports).
# build.sh [--qemu RELEASE] --unpack DIR: only put there the source that it is
# built from.
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
release=10.0
unpack=
while [ $# -gt 0 ]; do
	case $1 in
	--asan) variant=asan sanitize=(--enable-asan --enable-ubsan) ;;
	--qemu) release=${2:-}; shift ;;
	--unpack) unpack=${2:-}; shift ;;
	*) die "usage: build.sh [--asan] [--qemu RELEASE] | build.sh [--qemu RELEASE] --unpack DIR" ;;
	esac
	shift || die "build.sh: the last option wants a value"
done

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

edit_tree_7()
{
	sed -i 's/^if unpack_edk2_blobs$/if false/' pc-bios/meson.build
}

# 7.2 has other switches, and takes a meson that is not its own only when it may
# look for python3 itself: PATH makes that the system's.
configure_tree_7()
{
	PATH=/usr/sbin:/usr/bin:/sbin:/bin ../src/configure --target-list=x86_64-softmmu \
		--without-default-features --enable-tcg --enable-kvm --enable-fdt=system \
		--enable-virtfs --enable-attr --enable-cap-ng --disable-docs \
		--disable-tools --with-git-submodules=ignore --disable-install-blobs \
		--disable-werror \
		--firmwarepath=/usr/share/qemu:/usr/share/seabios:/usr/lib/ipxe/qemu \
		--meson="$meson" "${sanitize[@]}"
}

# QEMU 10 wants meson 1.5; bookworm's own is older, its backports' is not.
# Unpacked beside the tree, so that the system's meson stays what it is.
private_meson()
{
	local dir=$TIDE_CACHE/meson APT_PRIVATE
	apt_private bookworm-backports
	if [ ! -e "$dir/usr/lib/python3/dist-packages/mesonbuild" ]; then
		say "fetching meson from bookworm-backports"
		rm -rf "$dir" && mkdir -p "$dir"
		(cd "$dir" && apt-get "${APT_PRIVATE[@]}" download meson >"$log" 2>&1 &&
			dpkg-deb -x meson_*.deb . >>"$log" 2>&1) ||
			die "could not fetch meson (no network?): see $log"
	fi
	export PYTHONPATH=$dir/usr/lib/python3/dist-packages
	meson=$dir/usr/bin/meson
}

# fetch_source DIR. We build later releases from the archive alone, but that of 7.2
# is 7.2.0: it is the distribution's patches that make it what users run.
fetch_source()
{
	local dir=$1 what=(--tar-only)
	[ "$release" != 7.2 ] || what=()
	say "fetching and unpacking QEMU $version source ($suite)"
	rm -rf "$dir.fetch" && mkdir -p "$dir.fetch"
	(cd "$dir.fetch" && apt-get "${APT_PRIVATE[@]}" "${what[@]}" --download-only \
		source "qemu=$package" >"$log" 2>&1) ||
		die "could not fetch QEMU $version's source (no network, or $suite lists it and the archive does not have it): see $log"
	if [ "$release" = 7.2 ]; then
		dpkg-source --no-check --extract "$dir.fetch"/qemu_*.dsc "$dir" >>"$log" 2>&1
	else
		mkdir -p "$dir"
		tar -xJf "$dir.fetch"/qemu_*.orig.tar.xz --strip-components=1 -C "$dir"
	fi || die "QEMU's source archive is broken; remove $dir and run again"
	rm -rf "$dir.fetch"
}

fetch_tree()
{
	rm -rf "$tree/src"
	fetch_source "$tree/src"
	(cd "$tree/src" && "$edit")
	touch "$tree/unpacked"
}

build_tree()
{
	if [ ! -e "$tree/configured" ]; then
		say "configuring QEMU (1 min)"
		rm -rf "$tree/build" && mkdir -p "$tree/build"
		(cd "$tree/build" && "$configure" >"$log" 2>&1) ||
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
log=$TIDE_CACHE/qemu-$release-$variant.log
edit=edit_tree configure=configure_tree meson=/usr/bin/meson
case $release:$DEBIAN_CODENAME in
7.2:*)
	suite=bookworm edit=edit_tree_7 configure=configure_tree_7
	[ "$variant" != asan ] || sanitize=(--enable-sanitizers)
	;;
10.0:bookworm) suite=bookworm-backports ;;
10.0:*) suite=$DEBIAN_CODENAME ;;
10.2:*) suite=sid ;;
11.1:*) suite=trixie-backports ;;
*) die "QEMU '$release': the device is for 7.2, 10.0, 10.2 and 11.1" ;;
esac
apt_private "$suite"

package=$(apt-cache "${APT_PRIVATE[@]}" showsrc qemu |
	awk -v r="$release" '$1 == "Version:" && $2 ~ "^([0-9]+:)?" r "[^0-9]" { print $2 }' |
	sort -V | tail -n 1)
[ -n "$package" ] || die "apt shows no qemu $release source in $suite; remove $TIDE_CACHE/apt and run again"
version=${package#*:}
[ "$release" = 7.2 ] || version=${version%%-*}
if [ -n "$unpack" ]; then
	[ ! -e "$unpack" ] || die "$unpack exists; name a folder that does not"
	fetch_source "$unpack"
	exit
fi

# Their archives lack the device trees that older ones bring compiled.
case $release in
10.2|11.1) apt_need device-tree-compiler ;;
esac
if [ "$DEBIAN_CODENAME" = bookworm ]; then
	private_meson
else
	apt_need meson
fi
key=$( (declare -f "$edit" "$configure"; echo "${sanitize[@]}") | sha256sum | cut -c1-8)
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
