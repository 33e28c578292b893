#!/bin/sh
# Writes go.mod and go.sum anew. The module that this one needs may not be published yet, so it is
# read from the folder above.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp go.mod "$work/tidy.mod"
[ ! -f go.sum ] || cp go.sum "$work/tidy.sum"
go mod edit -replace "github.com/ralph-loop/ralph=$(cd .. && pwd)" "$work/tidy.mod"
GOWORK=off go mod tidy -modfile="$work/tidy.mod"
go mod edit -dropreplace github.com/ralph-loop/ralph "$work/tidy.mod"
cp "$work/tidy.mod" go.mod
cp "$work/tidy.sum" go.sum
