#!/bin/sh
# Shows a pool of two hosts. A loop is submitted on mill and runs on kiln, which dies at once. Mill
# takes the loop over, and answers the question that its agent asked on kiln. No model is needed.
#
#	tools/demo-pool.sh [BIN] [namespaces | homes]
#
# BIN has ralph and ralph-pool; bin if none is given. As root on Linux, where sshd is installed, each
# host has a network, a name, a home and processes of its own, and an sshd; all of that ends with
# this script, however it ends. Elsewhere a host is a home on this machine.
set -eu

bin=$(CDPATH='' cd -- "${1:-bin}" && pwd)
unset RALPH_HOME RALPH_LOOP RALPH_LOOP_DIR RALPH_ITERATION TASK_FOLDER

# missing prints what keeps this machine from having hosts of their own; nothing if it can have them.
missing() {
	if [ "$(uname)" != Linux ] || [ "$(id -u)" != 0 ]; then
		echo 'that needs root on Linux'
		return
	fi
	for program in ip unshare nsenter ssh ssh-keygen /usr/sbin/sshd; do
		command -v "$program" >/dev/null || { echo "there is no $program" && return; }
	done
	unshare --mount --net --uts --pid --fork ip link add name one type veth peer name two >/dev/null 2>&1 || echo 'the kernel has no namespaces, or no veth'
}

# What follows mounts and adds networks, so it is in namespaces of its own also for a person who asks
# for them.
kind=${2:-}
if [ "$kind" != homes ] && [ "${3:-}" != inside ]; then
	why=$(missing)
	if [ -z "$why" ]; then
		exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" "$bin" namespaces inside
	fi
	if [ "$kind" = namespaces ]; then
		echo "demo-pool: error: there can be no namespaces: $why" >&2
		exit 1
	fi
	echo "Two homes on this machine are the hosts, and not two networks with sshd: $why."
	kind=homes
fi
if [ "$kind" = namespaces ]; then
	echo 'Two network namespaces are the hosts, each with an sshd.'
	mount -t tmpfs tmpfs /run # seen from here only, and gone with this script
	scratch=/run/pool
	mkdir -p /run/sshd "$scratch"
	home=$(getent passwd root | cut -d : -f 6)
else
	scratch=$(mktemp -d)
fi
pids=

cleanup() {
	status=$?
	trap - EXIT INT TERM
	if [ "$kind" = homes ]; then
		for pid in $pids; do kill "$pid" 2>/dev/null || :; done
		for host in mill kiln; do
			for project in "$scratch/$host/colour" "$scratch/$host"/.ralph/pool/loops/*/work; do
				[ ! -d "$project/.ralph/colour" ] || (cd "$project" && HOME="$scratch/$host" "$bin/ralph" kill colour) >/dev/null 2>&1 || :
			done
		done
		rm -rf "$scratch"
	fi
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# host NAME ADDRESS begins a host: its first process is sshd, with which all others end.
host() {
	mkdir -p "$scratch/$1/.ssh"
	printf '[user]\n\tname = %s\n\temail = %s@localhost\n[init]\n\tdefaultBranch = main\n' "$1" "$1" >"$scratch/$1/.gitconfig"
	[ "$kind" = namespaces ] || return 0
	ssh-keygen -q -t ed25519 -N '' -f "$scratch/$1.key"
	ssh-keygen -q -t ed25519 -N '' -f "$scratch/$1/.ssh/id_ed25519"
	cat "$scratch/$1/.ssh/id_ed25519.pub" >>"$scratch/authorized_keys"
	echo "$1,$2 $(cut -d ' ' -f 1,2 "$scratch/$1.key.pub")" >>"$scratch/known_hosts"
	printf 'Host %s\n\tHostName %s\n\tUserKnownHostsFile %s/known_hosts\n' "$1" "$2" "$scratch" >>"$scratch/ssh_config"
	cat >"$scratch/$1.sshd" <<-SSHD
		ListenAddress $2
		HostKey $scratch/$1.key
		AuthorizedKeysFile $scratch/authorized_keys
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		PermitRootLogin yes
		PidFile none
		SetEnv PATH=$scratch/bin:$PATH
	SSHD
	ip netns add "$1"
	# shellcheck disable=SC2016 # expanded there
	ip netns exec "$1" unshare --mount --uts --pid --fork --kill-child sh -eu -c '
		read -r pid rest </proc/self/stat # as it is called out here
		mount -t proc proc /proc
		mount --bind "$2/$1" "$3"
		echo "$1" >/proc/sys/kernel/hostname
		cd "$3"
		echo "$pid" >"$2/$1.pid"
		exec /usr/sbin/sshd -D -e -f "$2/$1.sshd"' sh "$1" "$scratch" "$home" >"$scratch/$1.log" 2>&1 &
	eval "$1=$!"
}

# there HOST FOLDER COMMAND… becomes a command on a host, in a folder of its home.
there() {
	host=$1 folder=$2
	shift 2
	if [ "$kind" = namespaces ]; then
		# shellcheck disable=SC2016 # expanded there
		exec nsenter --target "$(cat "$scratch/$host.pid")" --mount --uts --net --pid env -i HOME="$home" PATH="$scratch/bin:$PATH" \
			sh -c 'cd "$HOME/$0" && exec "$@"' "$folder" "$@"
	fi
	export HOME="$scratch/$host" PATH="$scratch/bin:$PATH"
	cd "$HOME/$folder" && exec "$@"
}
on() { (there "$@"); }
show() {
	printf '\n%s$ %s\n' "$1" "$(shift 2 && echo "$@")"
	on "$@"
}
# begin HOST COMMAND… leaves a command running, and sets pid.
begin() {
	host=$1
	shift
	printf '\n%s$ %s &\n' "$host" "$*"
	there "$host" . "$@" >"$scratch/$host.$3" 2>&1 &
	pid=$!
	pids="$pids $pid"
}
# until_shown TEXT COMMAND… waits until a command on mill prints a text.
until_shown() {
	text=$1 tries=0
	shift
	until on mill . "$@" 2>&1 | grep -q -- "$text"; do
		tries=$((tries + 1))
		if [ "$tries" -gt 240 ]; then
			echo "demo-pool: error: '$*' did not show '$text' within two minutes:" >&2
			on mill . "$@" >&2 || :
			tail -n 20 "$scratch"/*.* >&2 || :
			exit 1
		fi
		sleep 0.5
	done
}

mkdir "$scratch/bin"
cp "$bin/ralph" "$bin/ralph-pool" "$scratch/bin"
host mill 10.29.0.1
host kiln 10.29.0.2
listen=127.0.0.1:0 origin=$scratch/mill/app.git
if [ "$kind" = namespaces ]; then
	listen=10.29.0.1:4222 origin=root@mill:app.git
	ip link add name eth0 netns mill type veth peer name eth0 netns kiln
	for host in mill kiln; do
		address=$(sed -n 's/ListenAddress //p' "$scratch/$host.sshd")
		ip -n "$host" address add "$address/24" dev eth0
		ip -n "$host" link set lo up
		ip -n "$host" link set eth0 up
		cp "$scratch/ssh_config" "$scratch/$host/.ssh/config"
	done
	tries=0
	until on mill . ssh -n kiln true 2>/dev/null && on kiln . ssh -n mill true 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 60 ] || { on mill . ssh -v -n kiln true || cat "$scratch"/*.log >&2; exit 1; }
		sleep 0.5
	done
fi

# The agent asks, works a little in each iteration, and is done once it has the answer.
on mill . git init -q --bare app.git
on mill . git init -q app
cat >"$scratch/mill/app/agent.sh" <<'AGENT'
#!/bin/sh
echo "iteration $RALPH_ITERATION" >>work.txt
case $(cat) in
*'Answer to question 1'*blue*) echo blue >colour.txt && echo '<promise>COMPLETE</promise>' ;;
*)
	[ "$RALPH_ITERATION" -gt 1 ] || ralph ask 'Which colour?' --choice red --choice blue --blocks
	sleep 2
	;;
esac
AGENT
chmod +x "$scratch/mill/app/agent.sh"
on mill app git add -A
on mill app git commit -q -m 'Begin'
on mill app git remote add origin "$origin"
on mill app git push -q -u origin main

begin mill ralph pool serve --listen "$listen"
until_shown '^ralph+nats' cat "$scratch/mill.serve"
line=$(grep '^ralph+nats' "$scratch/mill.serve")
echo "$line" | show mill . ralph pool join - --host mill
echo "$line" | show kiln . ralph pool join - --host kiln
begin mill ralph pool mirror
begin kiln ralph pool mirror
dying=$pid
begin kiln ralph pool worker -n 1
dying="$dying $pid"
show mill app ralph pool submit --name colour -p 'Paint it.' -a ./agent.sh -m 200
until_shown 'pool trust' ralph pool list
show mill . ralph pool list
show kiln . ralph pool trust "$(on mill . ralph pool key | grep -oE '[0-9a-f]{64}' | head -n 1)"
until_shown 'running.*kiln .*\([2-9]\|[0-9][0-9]\)/200' ralph pool list
show mill . ralph pool list
[ "$kind" = homes ] || show mill . ralph list --host kiln

# SIGKILL lets no process of kiln end in order.
if [ "$kind" = namespaces ]; then
	printf '\nkiln dies: kill -9 of its first process, and so of all others\n'
	# shellcheck disable=SC2154 # host sets it
	kill -9 "$kiln"
else
	work=$(echo "$scratch"/kiln/.ralph/pool/loops/*/work)
	runner=$(cd "$work" && HOME="$scratch/kiln" "$bin/ralph" status colour --json | grep -oE '"pid": *[0-9]+' | head -n 1 | grep -oE '[0-9]+')
	printf '\nkiln dies: kill -9 %s\n' "$dying $runner"
	# shellcheck disable=SC2086 # several pids
	kill -9 $dying "$runner"
fi

show mill . ralph pool take colour --trust --now
until_shown 'mill  *2 ' ralph pool list
show mill . ralph pool list
show mill . ralph pool answer colour -q 1 blue
until_shown 'completed' ralph pool list
show mill . ralph pool list
show mill . ralph pool check
show mill colour ralph status colour
painted=$(cat "$scratch/mill/colour/colour.txt")
printf '\nwhat it painted: %s, after %s iterations on two hosts\n' "$painted" "$(wc -l <"$scratch/mill/colour/work.txt")"
[ "$painted" = blue ]
