#!/bin/sh
# Runs every fuzz target below the given folders for FUZZTIME, one after another, since Go fuzzes one
# target at a time.
#
#	FUZZTIME=30s tools/fuzz.sh inbox internal journal
set -eu

targets=$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$@" | sort)
if [ -z "$targets" ]; then
	echo "fuzz: error: no target below $*" >&2
	exit 1
fi
# A here-document, not a pipe, so that a failure ends this shell.
while IFS= read -r found; do
	package=./$(dirname "${found%%:*}")
	target=${found##*func }
	echo "fuzz: $package $target"
	"${GO:-go}" test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}"
done <<EOT
$targets
EOT
