#!/usr/bin/env bash
# Compiles the tests of each package once, and runs them four times at once on one core, TIMES=5
# times over. Copies that disturb each other are red: they share a mark of processes, a port or a
# file, or they fail because the machine is busy. A copy that leaves processes is red, too, where
# /proc shows them.
#
#	tools/neighbours.sh                          # all packages of all modules of the repository
#	TIMES=1 PKG=./internal/ground/process tools/neighbours.sh
#	PKG=./internal/agent/... tools/neighbours.sh
set -eu

go=${GO:-go}
times=${TIMES:-5}
pin=
if taskset -c 0 true 2>/dev/null; then
	pin='taskset -c 0'
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/neighbours.XXXXXX")
chmod 755 "$scratch" # tests act as another user, too
copies=

# left lists the processes that a copy started: they inherit its TMPDIR.
left() {
	grep -lsz "^TMPDIR=$scratch/" /proc/[0-9]*/environ | cut -d / -f 3 || true
}

clean() {
	for pid in $copies $(left); do
		kill -KILL "$pid" 2>/dev/null || true
	done
	wait 2>/dev/null || true
	chmod -R u+rwX "$scratch" 2>/dev/null || true
	rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 130' INT TERM

# packages prints the package and the folder of everything that has tests.
packages() {
	local list='{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}'
	case ${PKG:-} in
	'')
		for module in go.mod tools/go.mod tools/*/go.mod; do
			(cd "$(dirname "$module")" && $go list -f "$list" ./...)
		done
		;;
	*/...) (cd "${PKG%/...}" && $go list -f "$list" ./...) ;;
	*) (cd "$PKG" && $go list -f "$list" .) ;;
	esac
}

# together runs four copies, and shows the end of the log of each that is red.
together() {
	local n pid red=0
	copies=
	for n in 1 2 3 4; do
		mkdir -p "$scratch/$n"
		(cd "$2" && TMPDIR=$scratch/$n exec $pin "$scratch/neighbours.test" -test.short -test.count=1 -test.timeout=30m) </dev/null >"$scratch/$n.log" 2>&1 &
		copies="$copies $!"
	done
	n=0
	for pid in $copies; do
		n=$((n + 1))
		wait "$pid" && continue
		red=1
		echo "neighbours: $1: copy $n of 4 is red:"
		grep -E -A 12 '^ *--- FAIL' "$scratch/$n.log" | head -n 80 || true
		tail -n 40 "$scratch/$n.log"
	done
	copies=
	# What was sent a signal at the end may take a moment to be gone.
	for n in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$(left)" ] || return $red
		sleep 1
	done
	for pid in $(left); do
		echo "neighbours: $1: left process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		kill -KILL "$pid"
	done
	return 1
}

# Job control: without it, bash has background commands ignore SIGINT, and tests send that.
set -m
found=$(packages)
total=$(grep -c . <<<"$found" || true)
if [ "$total" = 0 ]; then
	echo "neighbours: no tests in ${PKG:-any package}"
	exit 0
fi
at=0
red=
while read -r package folder; do
	at=$((at + 1))
	began=$SECONDS
	(cd "$folder" && $go test -c -ldflags='-s -w' -o "$scratch/neighbours.test" .)
	time=1
	while [ "$time" -le "$times" ]; do
		if ! together "$package" "$folder"; then
			red="$red $package"
			break
		fi
		time=$((time + 1))
	done
	echo "neighbours: $at of $total: $package: $((time - 1)) of $times green, $((SECONDS - began)) s"
done <<<"$found"
if [ -n "$red" ]; then
	echo "neighbours: error: red:$red"
	exit 1
fi
echo "neighbours: 4 copies at once of the tests of $total packages, $times times over: all green"
