#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# debug-module.sh: builds tide.ko and tide_kunit.ko for the debug kernel and
# prints three lines for the shell to eval, RELEASE= and VMLINUZ= as kernel.sh
# does, and BUILT=, the folder of the modules. Cached by content.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

tree=$("$TIDE_TOP/scripts/debug-kernel.sh")
cd "$TIDE_TOP"
key=$({ echo "$tree"; cat scripts/debug-module.sh; content_key "${DKMS_SOURCES[@]}" kunit; } | sha256sum | cut -c1-16)
dir=$TIDE_CACHE/module/debug-$key
mkdir -p "$dir"
cache_lock "$dir"
if [ ! -e "$dir/done" ]; then
	say "module: building for the debug kernel"
	rm -rf "$dir/src"
	mkdir "$dir/src"
	cp -a "${DKMS_SOURCES[@]}" kunit "$dir/src/"
	for part in module kunit; do
		run_logged "$dir/build.log" "build of $part for the debug kernel" \
			make -C "$tree" M="$dir/src/$part" -j"$TIDE_JOBS" modules
	done
	cp "$dir/src/module/tide.ko" "$dir/src/kunit/tide_kunit.ko" "$dir/"
	rm -rf "$dir/src"
	touch "$dir/done"
fi
printf 'RELEASE=%q\nVMLINUZ=%q\nBUILT=%q\n' "$(cat "$tree/include/config/kernel.release")" \
	"$tree/arch/x86/boot/bzImage" "$dir"
