#!/bin/sh
# Installs the servers that the tests start, and the compiler of what moves their clocks, from Debian's packages,
# and only those that are missing.
# Starts no service: the tests run each server by themselves, on a free port of the loopback interface.
set -eu

# One line per server: the Debian package, then the program or file that shows that it is there already.
SERVERS='
redis-server    redis-server
redis-tools     redis-cli
postgresql      /usr/lib/postgresql/*/bin/initdb
mariadb-server  mariadbd
zookeeper       /usr/share/zookeeper/bin/zkServer.sh
etcd-server     etcd
openssl         openssl
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

# A name is looked for on the path, a path, be it with a star, on the disk.
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

# A package of a server would start it, and its port could be taken: forbid that while we install.
forbid_services() {
	POLICY=/usr/sbin/policy-rc.d
	if [ ! -e "$POLICY" ]; then
		trap 'as_root rm -f "$POLICY"' EXIT
		trap 'exit 1' HUP INT TERM
		printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY" > /dev/null
		as_root chmod 755 "$POLICY"
	fi
}

# "apt-get update" and "apt-get install", each waiting for another apt that may be running.
apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

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
