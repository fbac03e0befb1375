#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What stops `make demo` and `make check` is told in one line, that says what to
# do, before anything is built.
. "$(dirname "$0")/../lib.sh"
apt_need util-linux make

# told TEXT COMMAND...: it fails, with one line that begins with "tide:" and
# holds TEXT; progress lines and what make itself adds do not count.
told()
{
	local text=$1 lines
	shift
	if "$@" >"$TMP/said" 2>&1 </dev/null; then
		echo 'it went on'
		return 1
	fi
	cat "$TMP/said"
	lines=$(grep -vE '^(make|\[ *[0-9]+s\])' "$TMP/said")
	[[ $lines == tide:*"$text"* && $(wc -l <<<"$lines") = 1 ]]
}

# elsewhere PREPARATION COMMAND...: with mounts and network of its own.
elsewhere()
{
	local preparation=$1
	shift
	unshare --mount --net sh -c "$preparation"' && exec "$@"' elsewhere "$@"
}

as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$TMP/nobody" TIDE_CACHE="$TMP/nobody/cache")
mkdir -m 777 "$TMP/nobody" "$TMP/small"
chmod 755 "$TMP"
printf 'ID=fedora\nVERSION_CODENAME=\n' >"$TMP/fedora"
printf 'ID=debian\nVERSION_CODENAME=buster\n' >"$TMP/buster"

for script in bench/demo/demo.sh tests/run.sh; do
	ok "$script: not root" told 'must run as root' "${as_nobody[@]}" "$TOP/$script"
	ok "$script: another distribution" told "this is 'fedora" \
		elsewhere "mount --bind $TMP/fedora /etc/os-release" "$TOP/$script"
	ok "$script: an old Debian" told 'Debian 12 (bookworm) and 13 (trixie)' \
		elsewhere "mount --bind $TMP/buster /etc/os-release" "$TOP/$script"
	ok "$script: no disk" told 'GiB are needed' \
		elsewhere "mount -t tmpfs -o size=64M tmpfs $TMP/small" env TIDE_CACHE="$TMP/small/cache" "$TOP/$script"
done
for script in bench/demo/demo.sh tests/run.sh; do
	ok "$script: no network" told 'no network' \
		elsewhere true env TIDE_CACHE="$TMP/fresh" "$TOP/$script"
done
ok 'tests/run.sh: no such ring' told "no ring 'rign'" "$TOP/tests/run.sh" rign
ok 'kernel.sh: no such kernel' told "kernel '5.10'" "$TOP/scripts/kernel.sh" 5.10
ok 'module.sh: no such kernel' told "kernel ''" "$TOP/scripts/module.sh"
done_testing
