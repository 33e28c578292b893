#!/bin/sh
# Makes a release twice and compares the files byte by byte: in two clones of this commit, in folders
# of different names, with another umask, time zone, language, home and an empty build cache the
# second time. What is not committed is not built.
#
#	TARGETS=linux/amd64 tools/release/reproducible.sh
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."
targets=${TARGETS:-linux/$(go env GOARCH)}
tag=$(git describe --tags --always)
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
say() { printf 'reproducible: %s\n' "$*"; }

openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$scratch/key.pem" 2>/dev/null
modules=$(go env GOMODCACHE)
first=$scratch/first second=$scratch/a-second-folder/of-another-name
git clone --quiet . "$first"
(umask 077 && mkdir -p "$second" && git clone --quiet . "$second/clone")
second=$second/clone
build() { # FOLDER
	(cd "$1" && go -C tools/release run . -dir ../.. -out "$1/dist" -tag "$tag" -targets "$targets" -key "$scratch/key.pem")
}
say "the first build of $tag: $targets"
(umask 022 && TZ=UTC LC_ALL=C build "$first")
say 'the second build, with an empty cache'
mkdir "$scratch/home" "$scratch/cache" "$scratch/tmp"
(umask 077 && TZ=Asia/Kolkata LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 HOME=$scratch/home GOMODCACHE=$modules GOCACHE=$scratch/cache TMPDIR=$scratch/tmp \
	GOFLAGS='' GOAMD64=v3 build "$second")

for folder in "$first" "$second"; do
	(cd "$folder/dist" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$scratch/sums"
	if [ "$folder" = "$first" ]; then mv "$scratch/sums" "$scratch/sums.first"; fi
done
if ! diff "$scratch/sums.first" "$scratch/sums"; then
	say 'error: these files differ'
	exit 1
fi
[ -s "$scratch/sums" ]
say "$(wc -l <"$scratch/sums") files are the same to the byte"
