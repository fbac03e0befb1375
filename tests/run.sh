#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [RING...]: runs the tests, ring by ring from small to whole, through
# prove. Rings: abi scripts unit-core fuzz unit-lib cli qtest dkms kunit vm; no argument
# means all. KERNELS limits the guests of vm ("6.1 6.12 7.3 debug"). The ring
# qemu-versions runs only when it is named: the device's qtests and patch series
# with the QEMU releases in QEMUS ("7.2 11.1"). Everything a test said stays in
# build/check/RING/. The last line counts single results.
set -euo pipefail
. "$(dirname "$0")/../scripts/lib.sh"

ALL_RINGS=(abi scripts unit-core fuzz unit-lib cli qtest dkms kunit vm)
MORE_RINGS=(qemu-versions)
KERNELS=${KERNELS:-6.1 6.12 7.3 debug}
QEMUS=${QEMUS:-7.2 11.1}
out=$TIDE_TOP/build/check
status=0

# run_prove RING JOBS SECONDS TEST... [:: ARGUMENT...]
run_prove()
{
	local ring=$1 jobs=$2 limit=$3
	shift 3
	say "ring $ring"
	mkdir -p "$out/$ring"
	prove --timer --jobs "$jobs" --exec "$TIDE_TOP/tests/one.sh $out/$ring $limit" "$@" </dev/null || status=1
}

# prepare RING COMMAND...: a build that tests of the ring need. When it fails the
# ring fails, and the others still run.
prepare()
{
	local ring=$1
	shift
	mkdir -p "$out/$ring"
	"$@" >"$out/$ring/prepare.out" </dev/null || {
		printf 'not ok 1 - %s\n1..1\n' "$*" >"$out/$ring/prepare.tap"
		echo 1 >"$out/$ring/prepare.status"
		say "ring $ring: $* failed"
		status=1
		return 1
	}
}

# run_programs RING DIR: the test programs that were built there.
run_programs()
{
	local programs
	mapfile -t programs < <(find "$2" -maxdepth 1 -name 'test_*' -perm -u+x -type f | sort)
	run_prove "$1" 2 300 "${programs[@]}"
}

ring_abi()
{
	apt_need gcc g++ libc6-dev dwarves pkg-config libjson-c-dev scdoc
	run_prove abi 2 300 tests/abi/*.t
}

ring_scripts()
{
	run_prove scripts 1 300 tests/scripts/*.t
}

ring_unit-core()
{
	apt_need gcc make libcmocka-dev
	prepare unit-core make -s -j"$TIDE_JOBS" -C tests/unit/core all O="$TIDE_TOP/build/unit-core" || return 0
	run_programs unit-core build/unit-core
}

ring_fuzz()
{
	apt_need clang make libclang-rt-dev
	prepare fuzz make -s -C qemu-device/fuzz "$TIDE_TOP/build/fuzz/fuzz_core" O="$TIDE_TOP/build/fuzz" || return 0
	run_prove fuzz 1 120 qemu-device/fuzz/check.sh :: "$TIDE_TOP/build/fuzz/fuzz_core" 10
}

ring_unit-lib()
{
	apt_need gcc make pkg-config libcmocka-dev libjson-c-dev
	prepare unit-lib make -s -j"$TIDE_JOBS" -C tests/unit/lib all O="$TIDE_TOP/build/unit-lib" || return 0
	export TIDE_TRAJECTORIES=$TIDE_TOP/bench/trajectories
	run_programs unit-lib build/unit-lib
}

ring_cli()
{
	run_prove cli 2 300 tests/cli/*.t
}

ring_qtest()
{
	prepare qtest qemu-device/qemu/build.sh || return 0
	run_prove qtest 1 600 qemu-device/qemu/check.sh qemu-device/qemu/check-swap.sh
}

ring_qemu-versions()
{
	local release releases
	read -ra releases <<<"$QEMUS"
	for release in "${releases[@]}"; do
		prepare "qemu-$release" qemu-device/qemu/build.sh --qemu "$release" || continue
		run_prove "qemu-$release" 1 600 qemu-device/qemu/check.sh :: --qemu "$release"
	done
	run_prove qemu-versions 1 600 qemu-device/qemu/check-series.sh :: 10.0 "${releases[@]}"
}

ring_kunit()
{
	prepare kunit scripts/debug-module.sh || return 0
	run_prove kunit 1 900 tests/kunit/*.t
}

ring_dkms()
{
	run_prove dkms 1 600 tests/dkms/*.t
}

# The tests that name no kernel in a "# kernels:" line run on all of them. The
# slow ones go first, so that no processor is idle at the end.
tests_for()
{
	local file only files
	mapfile -t files < <(grep -lx '# slow' tests/vm/*.t; grep -Lx '# slow' tests/vm/*.t)
	for file in "${files[@]}"; do
		only=$(sed -n 's/^# kernels: *//p' "$file")
		[[ -n $only && " $only " != *" $1 "* ]] || echo "$file"
	done
}

ring_vm()
{
	local kernel values
	prepare vm qemu-device/qemu/build.sh || return 0
	TIDE_QEMU=$(tail -n 1 "$out/vm/prepare.out")
	export TIDE_QEMU
	for kernel in $KERNELS; do
		prepare "vm-$kernel" /usr/bin/python3 -c \
			'import sys; sys.path.insert(0, "tests/vm"); import vm; print(*vm.kernel_files(sys.argv[1]))' \
			"$kernel" || continue
		values=$(tail -n 1 "$out/vm-$kernel/prepare.out")
		export "TIDE_KERNEL_${kernel//./_}=$values"
		mapfile -t files < <(tests_for "$kernel")
		run_prove "vm-$kernel" "$TIDE_JOBS" 600 "${files[@]}" :: "$kernel"
	done
}

# All of it is read before it runs, whatever happens to this file meanwhile.
main()
{
	local ring results
	[ $# -gt 0 ] || set -- "${ALL_RINGS[@]}"
	for ring in "$@"; do
		[[ " ${ALL_RINGS[*]} ${MORE_RINGS[*]} " == *" $ring "* ]] ||
			die "no ring '$ring'; there are: ${ALL_RINGS[*]} ${MORE_RINGS[*]}"
	done
	need_root "make check"
	need_debian
	need_disk 15 "$TIDE_CACHE"
	apt_private bookworm bookworm-backports
	cd "$TIDE_TOP"
	rm -rf "$out"
	mkdir -p "$out"
	apt_need perl make gcc python3
	for ring in "$@"; do
		# One program each: two processors can have both.
		[ "$ring" != dkms ] || { ring_dkms & continue; }
		[ "$ring" != vm ] || wait
		"ring_$ring"
	done
	wait
	mapfile -t results < <(find "$out" -name '*.tap' | sort)
	/usr/bin/perl tests/count.pl "${results[@]}" || status=1
	exit "$status"
}

main "$@"
