#!/bin/sh
# Builds an image for the hosts of a pool: ralph, ralph-pool, git with https and ssh, bash, Debian's
# certificates, and busybox for all else. Needs podman, Go, git and apt-get with lists of Debian's packages
# ('apt-get update'). No registry of images is asked, and no script of a package is run.
#
#	IMAGE=ralph:1 AGENTS=… PROGRAMS=… tools/image/build.sh
#
# PROGRAMS is the unpacked archive of a release, whose programs and proof are taken instead of built.
# AGENTS is what goes into /opt/agents: a folder, whose bin is first on PATH in the image, or npm
# packages with versions, such as '@openai/codex@0.1.0', for which npm also brings node. By default
# there is no agent.
#
# The same commit, packages and agents give the same image, to the byte.
set -eu
umask 022

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."
image=${IMAGE:-ralph:latest} agents=${AGENTS:-} release=${PROGRAMS:-}
version=${VERSION:-$(git describe --tags --always --dirty)}
epoch=$(git log -1 --format=%ct)
say() { printf 'image: %s\n' "$*"; }
fail() {
	printf 'image: error: %s\n' "$*" >&2
	exit 1
}
for program in podman go git apt-get dpkg-deb; do
	command -v "$program" >/dev/null || fail "$program is not on PATH"
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
root=$scratch/root
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/local/bin" "$root/opt/agents" "$root/etc/ssl/certs" \
	"$root/dev" "$root/proc" "$root/sys" "$root/run" "$root/root" "$root/tmp" "$root/work" "$scratch/debs"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done

if [ -n "$release" ]; then
	say "taking the programs of $release"
	install -D -m 755 -t "$root/usr/local/bin" "$release/ralph" "$release/ralph-pool"
	install -D -m 644 -t "$root/usr/local/share/ralph" "$release"/programs.txt*
else
	say 'building ralph and ralph-pool'
	ldflags="-s -w -X main.version=$version"
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$ldflags" -o "$root/usr/local/bin/ralph" ./cmd/ralph
	(cd pool && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$ldflags" -o "$root/usr/local/bin/ralph-pool" ./cmd/ralph-pool)
fi

# Of what the programs depend on, the libraries are taken, and not what would set a system up. Node
# is a program of C++.
say 'fetching packages of Debian'
programs='bash busybox-static ca-certificates git openssh-client libstdc++6'
: >"$scratch/status"
packages=$programs
for name in $(apt-get -qq -o Dir::State::status="$scratch/status" -o APT::Install-Recommends=false --simulate install $programs | sed -n 's/^Inst \([^ ]*\) .*/\1/p'); do
	case $name in
	*perl* | libpam* | libsem* | libsepol* | libaudit* | libcap-ng* | libdb5* | libc-bin | libstdc++6) ;;
	lib* | zlib*) packages="$packages $name" ;;
	esac
done
(cd "$scratch/debs" && apt-get -qq -o APT::Sandbox::User=root download $packages)
listed=
for deb in "$scratch"/debs/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -C "$root" -x --keep-directory-symlink --no-same-owner
	listed="$listed $(dpkg-deb -f "$deb" Package)=$(dpkg-deb -f "$deb" Version)"
done

# The licences stay. Nothing gets another user's rights.
find "$root/usr/share/doc" -type f ! -name copyright -delete
find "$root/usr/share/doc" ! -type d ! -name copyright -delete
find "$root/usr/share/doc" -type d -empty -delete
cat "$root"/usr/share/ca-certificates/*/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
for folder in apport bash-completion bug ca-certificates debianutils gcc gdb gitweb info initramfs-tools lintian locale man perl5 pkgconfig; do
	rm -rf "$root/usr/share/$folder"
done
# Nor is it a server of git, and no text in it has another encoding than UTF-8.
rm -rf "$root"/usr/lib/*/gconv "$root/usr/lib/systemd" "$root/usr/bin/scalar" "$root/usr/bin/git-shell"
for name in daemon http-backend http-push imap-send shell; do rm -f "$root/usr/lib/git-core/git-$name"; done
ln -sf ../../bin/git "$root/usr/lib/git-core/git"
rm -f "$root/usr/lib/git-core/scalar"
find "$root" -type f -perm /6000 -exec chmod ug-s {} +
for applet in $("$root/usr/bin/busybox" --list); do
	[ -e "$root/usr/bin/$applet" ] || [ -e "$root/usr/sbin/$applet" ] || ln -s busybox "$root/usr/bin/$applet"
done
chmod 1777 "$root/tmp" "$root/work"
printf 'root:x:0:0:root:/root:/bin/sh\nralph:x:1000:1000:ralph:/work/home:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nralph:x:1000:\n' >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
printf '[user]\n\tname = ralph\n\temail = ralph@localhost\n[init]\n\tdefaultBranch = main\n' >"$root/etc/gitconfig"

if [ -n "$agents" ] && [ -d "$agents" ]; then
	say "laying in the agents of $agents"
	cp -R "$agents/." "$root/opt/agents"
elif [ -n "$agents" ]; then
	command -v npm >/dev/null || fail 'npm is not on PATH'
	say "installing $agents"
	# shellcheck disable=SC2086 # several packages
	npm install --prefix "$root/opt/agents" --no-package-lock --no-audit --no-fund --engine-strict=false --loglevel=error node@24 $agents
fi

say 'building the image'
tar -C "$root" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -cf "$scratch/root.tar" .
podman build --quiet --no-cache --timestamp "$epoch" --tag "$image" --file "$here/Containerfile" --build-arg VERSION="$version" \
	--build-arg REVISION="$(git rev-parse HEAD)" --build-arg PACKAGES="${listed# }" "$scratch" >/dev/null
say "$image: $(podman image inspect --format '{{.Size}}' "$image" | awk '{ printf "%.0f MB", $1 / 1e6 }'), $(podman image inspect --format '{{.Digest}}' "$image")"
