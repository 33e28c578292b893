#!/bin/bash
# Prints a table of what benchmarks reached, and fails if one is below its floor.
#
#	tools/floors.sh BENCH.TXT
#	tools/floors.sh -names        the benchmarks, as a pattern for go test -bench
#
# tools/bench/floors.txt has the floors. A benchmark that ran several times counts with its median. A
# floor whose benchmark is not in the file is an error: nothing would be checked.
set -euo pipefail

floors="$(dirname "$0")/bench/floors.txt"
if [ "$1" = -names ]; then
	awk '/^Benchmark/ { sub(/\/.*/, "", $1); if (!seen[$1]++) names = names (names ? "|" : "") $1 } END { print names }' "$floors"
	exit
fi

awk '
	FNR == NR { # the output of go test -bench: name, count, and pairs of value and unit
		if ($1 !~ /^Benchmark/ || NF < 4) next
		name = $1; sub(/-[0-9]+$/, "", name)
		for (i = 3; i < NF; i += 2) { key = name " " $(i + 1); values[key] = values[key] " " $i }
		next
	}
	/^#/ || NF == 0 { next }
	!headed++ { print "| what | floor | goal | measured | |\n|---|---|---|---|---|" }
	{
		n = split(values[$1 " " $2], all, " ")
		if (n == 0) { errors = errors "floors: error: " $1 " has no " $2 " in this run\n"; next }
		for (i = 2; i <= n; i++) # sort
			for (j = i; j > 1 && all[j] + 0 < all[j - 1] + 0; j--) { t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
		got = all[int((n + 1) / 2)] + 0
		holds = $3 == ">=" ? got >= $4 : got <= $4
		what = $6; for (i = 7; i <= NF; i++) what = what " " $i
		printf "| %s | %s %s | %s | %s | %s |\n", what, $3, $4, $5, got, holds ? "holds" : "**below**"
		if (!holds) below++
	}
	END {
		if (below) errors = errors "floors: error: " below " are below their floor\n"
		printf "%s", errors > "/dev/stderr"
		exit errors != "" ? 1 : 0
	}
' "$1" "$floors"
