#!/bin/bash
# Says what differs from a base commit, with the files of the work tree that are not committed yet.
#
#	tools/changed.sh files BASE          the changed files, one on a line
#	tools/changed.sh packages BASE       the packages to test: those that changed, those that import
#	                                     them, and those whose tests read a changed page
#	tools/changed.sh touches BASE PATH…  exit 0 if a file at or below one of the paths changed
#
# Without a base (an empty word, or no commit of this repository), and after a change of what all
# packages share, everything counts as changed: 'packages' prints "./...".
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1 base=$2
shift 2

# What every test depends on.
shared='^(go\.mod|go\.sum|Makefile|\.ci/.*|tools/changed\.sh)$'

known() { [ -n "$base" ] && git rev-parse --quiet --verify "$base^{commit}" >/dev/null; }

files() {
	git diff --name-only "$base"
	git ls-files --others --exclude-standard
}

# differs reports whether a changed file matches. It reads all names: a grep that ends at the first
# one ends 'files' by SIGPIPE, which pipefail takes for "none".
differs() { files | grep -E "$1" >/dev/null; }

all() { ! known || differs "$shared"; }

# folder prints the folder of the package that a file belongs to: the nearest one with Go files.
folder() {
	local dir=$1
	while dir=$(dirname "$dir") && [ "$dir" != . ]; do
		if compgen -G "$dir/*.go" >/dev/null; then
			echo "$dir"
			return
		fi
	done
}

# readers prints the folders of the packages whose tests name a file, such as a page of docs/.
readers() {
	git grep -lF -e "$(basename "$1")" -- '*_test.go' | xargs -r -n1 dirname
}

packages() {
	local file dir module changed
	module=$(go list -m)
	changed=$(files | while IFS= read -r file; do
		dir=$(folder "$file")
		if [ -n "$dir" ]; then
			echo "$module/$dir"
		else
			readers "$file" | sed "s|^|$module/|"
		fi
	done | sort -u)
	go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
		awk -v changed="$changed" 'BEGIN { split(changed, list, "\n"); for (i in list) is[list[i]] }
			{ for (i = 1; i <= NF; i++) if ($i in is) { print $1; next } }'
}

case $what in
files) if known; then files; else git ls-files; fi ;;
packages) if all; then echo ./...; else packages; fi ;;
touches)
	all && exit
	for path; do
		if differs "^$path(/|\$)"; then exit; fi
	done
	exit 1
	;;
*)
	echo "changed: error: no such question: $what" >&2
	exit 2
	;;
esac
