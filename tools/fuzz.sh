#!/bin/sh
# Runs every fuzz target below the given folders for FUZZTIME, one after another, since Go fuzzes one
# target at a time. An input that reaches something new is made smaller in at most 100 runs: Go's
# default is a minute for each, in which nothing else is tried.
#
#	FUZZTIME=30s tools/fuzz.sh inbox internal journal
set -eu

targets=$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$@" | sort)
if [ -z "$targets" ]; then
	echo "fuzz: error: no target below $*" >&2
	exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# deadline reports whether the only failure in a log is the end of FUZZTIME, which Go 1.26 takes for
# a failure where it meets a worker in the middle of an input (golang/go#75804, fixed in Go 1.27).
# A failing input is written to testdata, and the log says so.
deadline() {
	grep -qx '    context deadline exceeded' "$1" && ! grep -qE 'Failing input written|panic:|^        ' "$1"
}

# A here-document, not a pipe, so that a failure ends this shell.
while IFS= read -r found; do
	package=./$(dirname "${found%%:*}")
	target=${found##*func }
	echo "fuzz: $package $target"
	if ! "${GO:-go}" test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 100x >"$log" 2>&1; then
		cat "$log"
		deadline "$log" || exit 1
		echo "fuzz: $target: the end of FUZZTIME was reported as a failure; no input failed"
		continue
	fi
	tail -n 3 "$log"
done <<EOT
$targets
EOT
