#!/usr/bin/env bash
# Runs all tests several times, each time in a fresh clone and with the test classes in another order, and prints one
# line for each run.
#
#   build/soak.sh [-n runs] [-b busy] [-c command] [directory]
#
#   -n  number of runs; 10 by default
#   -b  number of final runs during which another load keeps all processors busy; 3 by default
#   -c  the command; "mvn -B verify -P slow -Dsurefire.runOrder=random" by default
#
# The directory contains the clones and logs. It is a new temporary directory by default. The clone of a failed run is
# kept. The exit code is 0 if all runs are green.
set -euo pipefail

runs=10 busy=3 command='mvn -B verify -P slow -Dsurefire.runOrder=random'
while getopts n:b:c: option; do
	case $option in
		n) runs=$OPTARG ;;
		b) busy=$OPTARG ;;
		c) command=$OPTARG ;;
		*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

repository=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
directory=${1:-$(mktemp -d -t holdfast-soak-XXXXXX)}
mkdir -p "$directory"

burners=()
burn() {
	for _ in $(seq "$(nproc)"); do
		(while :; do :; done) &
		burners+=($!)
	done
}
rest() {
	[ ${#burners[@]} -eq 0 ] || kill "${burners[@]}" 2> /dev/null || true
	burners=()
}
trap rest EXIT
trap 'exit 1' HUP INT TERM

# Prints the total of "Tests run" over all modules.
count() {
	awk '/Tests run:.*Skipped: [0-9]+$/ { for (i = 1; i < NF; i++) if ($i == "run:") sum += $(i + 1) } END { print sum + 0 }' "$1"
}

# Prints the names of the failed tests, from the line that Surefire logs for each of them.
failed() {
	sed -n 's/^\[ERROR\] *\([A-Za-z0-9.$]*\.[A-Za-z0-9]*\) -- Time elapsed: .*/\1/p' "$1" | sed 's/.*\.\([A-Za-z0-9$]*\.[A-Za-z0-9]*\)$/\1/' | sort -u | paste -sd' '
}

echo "$(git -C "$repository" log -1 --format='%h %s'), $(nproc) processors, $command"
red=0
for run in $(seq "$runs"); do
	clone=$directory/$run log=$directory/$run.log kind=idle
	git clone -q "$repository" "$clone"
	if [ "$run" -gt $((runs - busy)) ]; then
		kind=busy
		burn
	fi
	begin=$SECONDS result=green
	(cd "$clone" && $command) > "$log" 2>&1 < /dev/null || result=RED
	seconds=$((SECONDS - begin))
	rest
	printf 'run %2d  %s  %4d s  %s  %d tests  %s\n' "$run" "$kind" "$seconds" "$result" "$(count "$log")" "$(failed "$log")"
	if [ "$result" = green ]; then
		rm -rf "$clone"
	else
		red=$((red + 1))
	fi
done
echo "$((runs - red)) of $runs green; logs in $directory"
[ "$red" -eq 0 ]
