#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user does: make dkms-install puts the source in place, DKMS builds and
# installs it for each kernel, refuses one that is too old, and removes it.
. "$(dirname "$0")/../lib.sh"
need_root "$0"

version=$(cat "$TOP/VERSION")

# in_copy ROOT NAME: a throw-away view of a cached root, so that nothing of the
# test stays in it. Sets view.
in_copy()
{
	view=$TMP/$2
	mkdir -p "$view" "$TMP/$2.upper"
	mount -t tmpfs tmpfs "$TMP/$2.upper" && mkdir "$TMP/$2.upper/up" "$TMP/$2.upper/work" &&
		mount -t overlay overlay -o "lowerdir=$1,upperdir=$TMP/$2.upper/up,workdir=$TMP/$2.upper/work" "$view" &&
		trap 'umount "$TMP"/*/ 2>/dev/null; rm -rf "$TMP"' EXIT
}

# installed RELEASE: where dkms.conf wants it, whatever compression.
installed()
{
	compgen -G "$view/lib/modules/$1/updates/dkms/tide.ko*" || compgen -G "$view/lib/modules/$1/updates/tide.ko*"
}

# refused RELEASE: DKMS says that this kernel is none of ours, and builds nothing.
refused()
{
	local said
	said=$(in_root "$view" dkms build "tide/$version" -k "$1" --kernelsourcedir /usr/src 2>&1) && return 1
	echo "$said"
	grep -q BUILD_EXCLUSIVE <<<"$said" && ! compgen -G "$view/var/lib/dkms/tide/$version/$1"
}

for suite in bookworm trixie; do
	root=$("$TOP/scripts/guest-root.sh" "$suite") || exit 1
	in_copy "$root" "$suite" || exit 1
	ok "$suite: the source is put in place" make -s -C "$TOP" dkms-install DESTDIR="$view"
	ok "$suite: dkms add" in_root "$view" dkms add "tide/$version"
	for release in $(ls "$root/lib/modules"); do
		ok "$release: dkms install" in_root "$view" dkms install "tide/$version" -k "$release" --force
		ok "$release: the module is there" installed "$release"
		ok "$release: status says so" grep -q "tide.*$version.*$release.*installed" <(in_root "$view" dkms status)
		ok "$release: modinfo has the version" grep -qx "$version" <(modinfo -F version "$(installed "$release")")
	done
	ok "$suite: a kernel before 6.1 is refused" refused 5.10.0-1-amd64
	ok "$suite: dkms remove" in_root "$view" dkms remove "tide/$version" --all
	ok "$suite: nothing is left of it" [ -z "$(find "$view/lib/modules" -name 'tide.ko*')" ]
done
done_testing
