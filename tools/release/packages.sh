#!/bin/sh
# Installs the packages of a release in containers of Debian, as a person would, and runs a loop there:
# first the deb, then the rpm; and the apk in one that has nothing but busybox, neither git nor a C library.
# Debian has no package manager of Alpine: tools/release/apk installs the apk.
# Needs root, podman, runc, catatonit, debootstrap, busybox-static, openssl and Go.
#
#	tools/release/packages.sh
#
# BASE is a folder that keeps the system of Debian for the next run; without it, it is made again.
set -eu
umask 022

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."
image=localhost/ralph-packages:$$
say() { printf 'packages: %s\n' "$*"; }
for program in podman runc catatonit debootstrap busybox openssl go; do
	if ! command -v "$program" >/dev/null; then
		printf 'packages: error: %s is not on PATH\n' "$program" >&2
		exit 1
	fi
done

scratch=$(mktemp -d)
trap 'podman rmi --force "$image" "$image-apk" >/dev/null 2>&1 || :; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cat >"$scratch/containers.conf" <<'CONF'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "host"
[engine]
runtime = "runc"
CONF
export CONTAINERS_CONF="$scratch/containers.conf"

openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$scratch/key.pem" 2>/dev/null
mkdir "$scratch/in"
openssl pkey -in "$scratch/key.pem" -pubout -out "$scratch/in/public.pem"
go -C tools/release run . -dir ../.. -out "$scratch/in/dist" -tag v0.0.1 -targets "linux/$(go env GOARCH)" -key "$scratch/key.pem"
cp tools/demo.sh "$scratch/in"

base=${BASE:-$scratch/base}
if [ ! -e "$base/complete" ]; then
	say 'making a system of Debian'
	mkdir -p "$base"
	rm -rf "$base/root"
	(. /etc/os-release && debootstrap --variant=minbase --include=git,rpm "$VERSION_CODENAME" "$base/root" >"$scratch/log") || {
		tail -n 20 "$scratch/log" >&2
		exit 1
	}
	touch "$base/complete"
fi
tar -C "$base/root" -c . | podman import --quiet - "$image" >/dev/null

cat >"$scratch/in/try.sh" <<'TRY'
set -eu
try() {
	ralph version --verify --key /in/public.pem
	ralph-pool --help >/dev/null
	grep -q '^.TH' /usr/share/man/man1/ralph-start.1
	bash -c '. /usr/share/bash-completion/completions/ralph && complete -p ralph'
	runuser -u person -- env HOME=/home/person sh /in/demo.sh /usr/bin/ralph </dev/null
}
gone() {
	left=$(find / -xdev -name '*ralph*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/in/*' -not -path '/home/*' -not -path '/tmp/*' \
		-not -path '/var/lib/*' -not -path '/var/log/*')
	[ -z "$left" ] || { echo "left after the removal: $left"; exit 1; }
}
useradd --create-home person
export DEBIAN_FRONTEND=noninteractive
case $1 in
deb)
	dpkg -i /in/dist/ralph_*.deb
	[ "$(dpkg-query -W -f '${Version}' ralph)" = 0.0.1-1 ]
	dpkg --verify ralph
	try
	dpkg -r ralph
	;;
rpm)
	rpm -i /in/dist/ralph-*.rpm
	[ "$(rpm -q ralph --qf '%{VERSION}-%{RELEASE}')" = 0.0.1-1 ]
	rpm -V ralph
	try
	rpm -e ralph
	;;
esac
gone
TRY

cat >"$scratch/in/apk.sh" <<'TRY'
set -eu
[ "$(sed -n 's/^V://p' /lib/apk/db/installed)" = 0.0.1-r1 ]
ralph version --verify --key /in/public.pem
ralph-pool --help >/dev/null
grep -q '^.TH' /usr/share/man/man1/ralph-start.1
grep -q ralph /usr/share/bash-completion/completions/ralph /usr/share/zsh/site-functions/_ralph /usr/share/fish/vendor_completions.d/ralph.fish
mkdir /home/project
chown person /home/project
su person -s /bin/sh -c 'cd /home/project && ralph run --name demo --agent "ralph rehearse demo" --protocol rehearsal -p "Make a greeting script." && ralph journal verify demo'
# As 'apk del' does: the files of the database, then its folders that are empty.
sed -n 's/^F://p' /lib/apk/db/installed | sort -r >/root/folders
awk -F: '$1 == "F" { folder = $2 } $1 == "R" { print "/" folder "/" $2 }' /lib/apk/db/installed | xargs rm
while read -r folder; do rmdir "/$folder" 2>/dev/null || :; done </root/folders
left=$(find / -xdev -name '*ralph*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/in/*' -not -path '/home/*' -not -path '/tmp/*')
[ -z "$left" ] || { echo "left after the removal: $left"; exit 1; }
[ ! -e /usr ] || { find /usr; exit 1; }
TRY
alpine=$scratch/alpine
mkdir -p "$alpine/bin" "$alpine/root" "$alpine/home/person"
cp "$(command -v busybox)" "$alpine/bin/busybox"
busybox --list | while read -r applet; do [ -e "$alpine/bin/$applet" ] || ln -s busybox "$alpine/bin/$applet"; done
go -C tools/release run ./apk "$alpine" "$(echo "$scratch"/in/dist/*.apk)"
printf 'root:x:0:0::/root:/bin/sh\nperson:x:1000:1000::/home/person:/bin/sh\n' >"$alpine/etc/passwd"
chown 1000:1000 "$alpine/home/person"
chmod 1777 "$alpine/tmp"
tar -C "$alpine" -c . | podman import --quiet - "$image-apk" >/dev/null
say 'the apk, in a container'
podman run --rm --init --network none --volume "$scratch/in:/in:ro" "$image-apk" sh /in/apk.sh
say 'the apk is installed, verified, ran a loop, and is removed'

for format in deb rpm; do
	say "the $format, in a container"
	podman run --rm --init --network none --volume "$scratch/in:/in:ro" "$image" sh /in/try.sh "$format"
	say "the $format is installed, verified, ran a loop, and is removed"
done
