#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One version, told the same by everything that tells one.
. "$(dirname "$0")/../lib.sh"

version=$(cat "$TOP/VERSION")

mkdir -p "$TOP/build"
flock "$TOP/build/lib.lock" make -s -C "$TOP/libtidectl" >&2
ok 'VERSION is three numbers' grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+' "$TOP/VERSION"
ok 'dkms.conf' grep -qx "PACKAGE_VERSION=\"$version\"" "$TOP/dkms.conf"
ok 'pkg-config' grep -qx "Version: $version" "$TOP/build/lib/libtidectl.pc"
ok 'tidectl --version' grep -qF "$version" <("$TOP/build/lib/tidectl" --version)
done_testing
