#!/usr/bin/env bash
# Runs the test command of the README several times, each in a fresh clone, and prints a line for each run.
#
#   build/soak.sh [-n runs] [-b busy] [-c command] [directory]
#
#   -n  how many runs; 10 by default
#   -b  in how many of the last runs something else keeps all processors busy; 3 by default
#   -c  the command; "mvn -B verify" by default
#
# Clones and logs are in the directory, by default a new one; the clone of a run that failed stays. Ends with 0 if all runs
# were green.
set -euo pipefail

runs=10 busy=3 command='mvn -B verify'
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

# "Tests run" of each module, added up
count() {
	awk '/Tests run:.*Skipped: [0-9]+$/ { for (i = 1; i < NF; i++) if ($i == "run:") sum += $(i + 1) } END { print sum + 0 }' "$1"
}

# The names of the tests that failed, as Surefire writes them under "Results:"
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
