#!/bin/sh
# Installs the servers that the tests start, from Debian packages, a browser with its driver, and a compiler for the
# library that moves the wall clocks of servers. Installs missing packages only.
# Starts no service: the tests start each server themselves, on a free port of the loopback interface.
# The build runs this twice: beside the compilation, and before the tests, which waits for the first run.
set -eu

# One line per Debian package: its name, and the program or file whose presence shows that it is installed.
SERVERS='
redis-server    redis-server
prometheus      prometheus
postgresql      /usr/lib/postgresql/*/bin/initdb
mariadb-server  mariadbd
zookeeper       /usr/share/zookeeper/bin/zkServer.sh
etcd-server     etcd
openssl         openssl
chromium        chromium
chromium-driver chromedriver
gcc             gcc
libc6-dev       /usr/include/unistd.h
'

say() {
	echo "install-servers: $*"
}

fail() {
	say "$*" >&2
	exit 1
}

# Checks for a program on the PATH, or for a file if the argument is an absolute path, which may contain wildcards.
present() {
	case $1 in
		/*) for found in $1; do [ -r "$found" ] && return 0; done; return 1 ;;
		*) PATH="$PATH:/usr/sbin:/sbin" command -v "$1" > /dev/null 2>&1 ;;
	esac
}

missing() {
	echo "$SERVERS" | while read -r package program; do
		[ -z "$package" ] || present "$program" || printf '%s ' "$package"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

# Prevents packages from starting their servers during installation, because a port may be in use already.
forbid_services() {
	POLICY=/usr/sbin/policy-rc.d
	if [ ! -e "$POLICY" ]; then
		trap 'as_root rm -f "$POLICY"' EXIT
		trap 'exit 1' HUP INT TERM
		printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY" > /dev/null
		as_root chmod 755 "$POLICY"
	fi
}

# Runs "apt-get update" or "apt-get install", and waits for other apt processes, up to 300 seconds.
apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" 9<&-
}

# Waits for another run: a program may be present before its package is configured.
wait_for_other_run() {
	exec 9< "$0"
	! command -v flock > /dev/null || flock 9
}

wait_for_other_run
PACKAGES=$(missing) && PACKAGES=${PACKAGES% }
[ -n "$PACKAGES" ] || exit 0

BY_HAND="Install by hand and try again: apt-get install --no-install-recommends $PACKAGES"
command -v apt-get > /dev/null || fail "the tests need $PACKAGES, and there is no apt-get here. Install these servers by hand."
[ "$(id -u)" -eq 0 ] || sudo -n true 2> /dev/null || fail "the tests need $PACKAGES, and only root may install. $BY_HAND"

forbid_services
say "fetching the lists of packages (apt-get update), because these are missing: $PACKAGES"
apt update || say "the lists could not be fetched; trying with those that are here"
say "installing $PACKAGES (a minute or two)"
# shellcheck disable=SC2086
apt install --no-install-recommends -y $PACKAGES > /dev/null || fail "apt-get could not install $PACKAGES. $BY_HAND"

PACKAGES=$(missing) && PACKAGES=${PACKAGES% }
[ -z "$PACKAGES" ] || fail "still missing after the installation: $PACKAGES"
say "all servers are there"
