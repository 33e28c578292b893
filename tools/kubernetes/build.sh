#!/bin/sh
# Builds what a Kubernetes cluster without machines needs, from Go modules at the versions of go.mod
# beside this file: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, and kwok,
# which plays the nodes. Needs Go, 4 GB of disk for the build cache, and some 20 minutes of two cores.
#
#	tools/kubernetes/build.sh            builds them
#	tools/kubernetes/build.sh -folder    only prints it
#
# They are in $RALPH_TEST_KUBERNETES or, without it, in a folder of the person's cache. A second call
# sees that nothing changed and ends at once; one that was interrupted continues where it was.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
dest=${RALPH_TEST_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/ralph-test-kubernetes}
if [ "${1:-}" = -folder ]; then
	echo "$dest"
	exit
fi
started=$(date +%s)
say() { printf 'kubernetes: %s\n' "$*"; }

mkdir -p "$dest"
dest=$(CDPATH='' cd -- "$dest" && pwd)
cd "$here"
export GOWORK=off CGO_ENABLED=0
stamp() {
	go version
	cat build.sh go.mod
}
if stamp | cmp -s - "$dest/built"; then
	say "the programs are in $dest already"
	exit 0
fi
rm -f "$dest/built"

# version MODULE is that of go.mod.
version() { go list -m -f '{{.Version}}' "$1"; }
kubernetes=$(version k8s.io/kubernetes)
minor=${kubernetes#v1.}
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}"

# The compiler says nothing for many minutes, which looks like a hang.
(while sleep 30 >/dev/null 2>&1; do say "  $(($(date +%s) - started)) s"; done) &
ticker=$!
trap 'kill $ticker 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM

say "building Kubernetes $kubernetes and kwok $(version sigs.k8s.io/kwok) into $dest; the first time takes some 20 minutes"
for program in etcd=go.etcd.io/etcd/server/v3 kwok=sigs.k8s.io/kwok/cmd/kwok kube-apiserver=k8s.io/kubernetes/cmd/kube-apiserver \
	kube-controller-manager=k8s.io/kubernetes/cmd/kube-controller-manager kube-scheduler=k8s.io/kubernetes/cmd/kube-scheduler \
	kubectl=k8s.io/kubernetes/cmd/kubectl; do
	say "${program%%=*}"
	nice -n 10 go build -trimpath -ldflags "$flags" -o "$dest/${program%%=*}" "${program#*=}"
done
stamp >"$dest/built"
say "done in $(($(date +%s) - started)) s; $(du -sm "$dest" | cut -f1) MB"
