#!/bin/bash
# Compares benchmarks with their bounds.
#
#	tools/bounds.sh BENCH.TXT
#
# tools/bench/bounds.txt has the bounds. A benchmark that ran several times counts with its median.
# A bound whose benchmark is not in the file is an error: nothing would be checked.
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
		if (n == 0) { printf "bounds: error: %s has no %s in this run\n", $1, $2; wrong = 1; next }
		for (i = 2; i <= n; i++) # sort
			for (j = i; j > 1 && all[j] + 0 < all[j - 1] + 0; j--) { t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
		got = all[int((n + 1) / 2)] + 0
		holds = $3 == ">=" ? got >= $4 : got <= $4
		printf "%-8s %-36s %-14s %8s %s %s\n", holds ? "holds" : "MISSED", $1, $2, got, $3, $4
		if (!holds) missed++
	}
	END {
		if (missed) printf "bounds: error: %d miss their bound\n", missed
		exit (missed || wrong) ? 1 : 0
	}
' "$1" "$(dirname "$0")/bench/bounds.txt"
