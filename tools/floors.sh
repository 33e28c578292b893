#!/bin/bash
# Compares benchmarks with their floors.
#
#	tools/floors.sh BENCH.TXT
#
# tools/bench/floors.txt has the floors. A benchmark that ran several times counts with its median.
# A floor whose benchmark is not in the file is an error: nothing would be checked.
set -euo pipefail

awk '
	FNR == NR { # the output of go test -bench: name, count, and pairs of value and unit
		if ($1 !~ /^Benchmark/ || NF < 4) next
		name = $1; sub(/-[0-9]+$/, "", name)
		for (i = 3; i < NF; i += 2) { key = name " " $(i + 1); values[key] = values[key] " " $i }
		next
	}
	/^#/ || NF == 0 { next }
	{
		n = split(values[$1 " " $2], all, " ")
		if (n == 0) { printf "floors: error: %s has no %s in this run\n", $1, $2; wrong = 1; next }
		for (i = 2; i <= n; i++) # sort
			for (j = i; j > 1 && all[j] + 0 < all[j - 1] + 0; j--) { t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
		got = all[int((n + 1) / 2)] + 0
		holds = $3 == ">=" ? got >= $4 : got <= $4
		printf "%-8s %-36s %-14s %8s %s %s\n", holds ? "holds" : "BELOW", $1, $2, got, $3, $4
		if (!holds) below++
	}
	END {
		if (below) printf "floors: error: %d below their floor\n", below
		exit (below || wrong) ? 1 : 0
	}
' "$1" "$(dirname "$0")/bench/floors.txt"
