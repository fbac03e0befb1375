# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What every script of the tree needs: messages, the cache, packages.
# Source it; it sets no options and runs nothing but these definitions.

TIDE_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TIDE_CACHE=${TIDE_CACHE:-$HOME/.cache/tide}
TIDE_JOBS=${TIDE_JOBS:-$(nproc)}
export TIDE_TOP TIDE_CACHE TIDE_JOBS

# say TEXT...: one progress line, on stderr, so that stdout can carry a result.
say()
{
	printf '[%4ds] %s\n' "$SECONDS" "$*" >&2
}

# die TEXT...: one line that names what is wrong and the fix; exit 1.
die()
{
	printf 'tide: %s\n' "$*" >&2
	exit 1
}

need_root()
{
	[ "$(id -u)" = 0 ] || die "must run as root (it installs packages and builds guest images); run: sudo $*"
}

# need_debian: sets DEBIAN_CODENAME; Debian 12 and 13 are what we build on.
need_debian()
{
	local id='' codename=''
	[ ! -r /etc/os-release ] || {
		id=$(. /etc/os-release && echo "${ID:-}")
		codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	}
	case "$id:$codename" in
	debian:bookworm|debian:trixie) DEBIAN_CODENAME=$codename ;;
	*) die "this is '${id:-unknown} ${codename:-}'; the set-up knows Debian 12 (bookworm) and 13 (trixie): use one of them, or a container or VM of it" ;;
	esac
	export DEBIAN_CODENAME
}

# need_disk GIB DIR: free space on the file system of DIR.
need_disk()
{
	local have
	mkdir -p "$2" || die "cannot create $2; set TIDE_CACHE to a writable folder"
	have=$(df -Pk "$2" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$have" -ge "$1" ] || die "$2 has ${have} GiB free, $1 GiB are needed; free some or set TIDE_CACHE to a larger disk"
}

# apt_need PACKAGE...: installs those that are missing, from the machine's own
# archive configuration.
apt_need()
{
	local p log lock missing=()
	mkdir -p "$TIDE_CACHE"
	# Two scripts may want packages at a time.
	exec {lock}>"$TIDE_CACHE/apt-install.lock"
	flock "$lock"
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		exec {lock}>&-
		return
	fi
	need_root "$0"
	log=$TIDE_CACHE/apt-install.log
	say "installing ${#missing[@]} packages: ${missing[*]}"
	apt-get update >"$log" 2>&1 || true
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 ||
		die "apt-get could not install ${missing[*]} (no network, or no such package): see $log"
	exec {lock}>&-
}

# apt_uri: the archive the machine itself uses; never written into a file of ours.
apt_uri()
{
	local codename uri
	# On a machine that never ran apt-get update apt knows no target yet.
	[ -n "$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages')" ] ||
		apt-get update >/dev/null 2>&1 || true
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	uri=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
		awk -v c="$codename" '$1 == c && !n++ { print $2 }')
	[ -n "$uri" ] || uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
		grep -v -- -security | sed -n 1p)
	[ -n "$uri" ] || die "apt knows no archive (no network, or apt-get update never ran): run apt-get update"
	printf '%s\n' "$uri"
}

# apt_private SUITE...: an apt that sees just these suites (binary and source)
# and leaves the system's lists alone. Sets APT_PRIVATE, options for apt-get.
apt_private()
{
	local dir suite uri lock
	dir=$TIDE_CACHE/apt/$(printf '%s_' "$@")
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	uri=$(apt_uri) || exit 1
	exec {lock}>"$dir/lock"
	flock "$lock"
	for suite in "$@"; do
		printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
			deb "$uri" "$suite" deb-src "$uri" "$suite"
	done >"$dir/sources.list"
	APT_PRIVATE=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache"
		-o APT::Sandbox::User=root)
	# One refresh a day is enough for a cache that is keyed by content.
	if [ -z "$(find "$dir/stamp" -mmin -1440 2>/dev/null)" ]; then
		apt-get "${APT_PRIVATE[@]}" -o APT::Update::Error-Mode=any update >"$dir/update.log" 2>&1 &&
			touch "$dir/stamp"
		[ -e "$dir/stamp" ] || die "apt-get update for $* failed (no network?): see $dir/update.log"
	fi
	exec {lock}>&-
}

# apt_newest PACKAGE SUITE: the newest version of it there. After apt_private.
apt_newest()
{
	local version
	version=$(apt-cache "${APT_PRIVATE[@]}" madison "$1" |
		awk -F' *[|] *' -v s="$2/main" '$3 ~ " " s && !n++ { print $2 }')
	[ -n "$version" ] || die "no package $1 in $2"
	printf '%s\n' "$version"
}

# apt_unpack DIR PACKAGE[=VERSION]...: unpacks packages under DIR without
# installing them. After apt_private.
apt_unpack()
{
	local dir=$1 deb
	shift
	mkdir -p "$dir/.debs"
	(cd "$dir/.debs" && apt-get "${APT_PRIVATE[@]}" download "$@") >"$dir/.download.log" 2>&1 ||
		die "apt-get could not download $* (no network?): see $dir/.download.log"
	for deb in "$dir"/.debs/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -r "$dir/.debs" "$dir/.download.log"
}

# cache_lock DIR: one builder of a cached folder at a time, until we exit.
cache_lock()
{
	local lock
	exec {lock}>"$1/.lock"
	flock -n "$lock" || {
		say "waiting for another build of $1"
		flock "$lock"
	}
}

# run_logged LOG WHAT COMMAND...: appends its output to LOG and shows that it
# lives; when it fails, shows the end of LOG and dies.
run_logged()
{
	local log=$1 what=$2 pid
	shift 2
	"$@" >>"$log" 2>&1 </dev/null &
	pid=$!
	while sleep 1 && kill -0 "$pid" 2>/dev/null; do
		[ $((SECONDS % 15)) -ne 0 ] || say "$what: $(wc -l <"$log") lines logged"
	done
	wait "$pid" || {
		tail -n 25 "$log" >&2
		die "$what failed: see $log"
	}
}

# content_key FILE_OR_DIR...: one short hash over names and contents.
content_key()
{
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}

# in_root DIR COMMAND...: runs it in the root file system DIR, with /proc, which
# bash's process substitution needs; the mount goes with the command.
in_root()
{
	local root=$1
	shift
	unshare --mount sh -c 'root=$1; shift; mount -t proc proc "$root/proc" && exec chroot "$root" "$@"' \
		in_root "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# kernel_suite SERIES: the Debian suite, and base suite, we take a kernel from.
# Sets KERNEL_SUITE and KERNEL_BASE.
kernel_suite()
{
	case $1 in
	6.1) KERNEL_BASE=bookworm KERNEL_SUITE=bookworm ;;
	6.12) KERNEL_BASE=bookworm KERNEL_SUITE=bookworm-backports ;;
	7.3) KERNEL_BASE=trixie KERNEL_SUITE=trixie-backports ;;
	*) die "kernel '$1': the guests are 6.1, 6.12 and 7.3" ;;
	esac
}

# kernel_release SERIES: the newest stock kernel of the series, as uname -r
# prints it. Call apt_private with its suites first.
kernel_release()
{
	local release
	release=$(apt-cache "${APT_PRIVATE[@]}" pkgnames "linux-image-$1." |
		sed -nE 's/^linux-image-([0-9.]+([-+][a-z0-9.]+)*-amd64)$/\1/p' | grep -vE -- '-(rt|cloud)-' |
		sort -V | tail -n 1)
	[ -n "$release" ] || die "no linux-image-$1.*-amd64 in ${KERNEL_SUITE:-the archive}"
	printf '%s\n' "$release"
}

# What DKMS needs of the tree, relative to TIDE_TOP.
DKMS_SOURCES=(dkms.conf Kbuild VERSION module uapi)
