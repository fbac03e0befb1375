#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# initramfs.sh OUT [-m RELEASE MODULE.ko]... [FILE:DEST]...: makes a guest's
# initramfs: busybox, the init of tests/vm, modules where modprobe looks for
# them, and files, programs with the shared libraries they need. Not
# compressed: the guest would take longer to unpack it than we save.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# add_libs PROGRAM: the shared libraries of a program, where it expects them.
add_libs()
{
	local lib
	{ ldd "$1" 2>/dev/null || true; } | { grep -oE '/[^ ]+' || true; } | while read -r lib; do
		[ -e "$stage$lib" ] || install -D -m 755 "$lib" "$stage$lib"
	done
}

# add_module RELEASE MODULE.ko
add_module()
{
	local dir=$stage/lib/modules/$1 name
	name=$(basename "$2")
	install -D -m 644 "$2" "$dir/$name"
	printf '%s:\n' "$name" >>"$dir/modules.dep"
}

[ $# -ge 1 ] || die "usage: initramfs.sh OUT [-m RELEASE MODULE.ko]... [FILE:DEST]..."
apt_need busybox-static cpio
out=$1
shift
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

mkdir -p "$stage"/{bin,dev,proc,sys,tmp,run,etc,root}
cp "$(command -v busybox)" "$stage/bin/busybox"
for applet in $("$stage/bin/busybox" --list); do
	[ -e "$stage/bin/$applet" ] || ln -s busybox "$stage/bin/$applet"
done
ln -s bin "$stage/sbin"
install -m 755 "$TIDE_TOP/tests/vm/guest/init" "$stage/init"
printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$stage/etc/passwd"
printf 'root:x:0:\ntide:x:990:\nnogroup:x:65534:\n' >"$stage/etc/group"

while [ $# -gt 0 ]; do
	case $1 in
	-m)
		add_module "$2" "$3"
		shift 3
		;;
	*)
		install -D "${1%%:*}" "$stage${1#*:}"
		add_libs "${1%%:*}"
		shift
		;;
	esac
done
(cd "$stage" && find . -print0 | cpio --null --quiet -o -H newc -R 0:0) >"$out"
