package shellguard

import (
	"slices"
	"strings"
)

// judgeKill judges the processes that kill ends: those that it names are the agent's to name, but
// not all at once, not the first one, and not those that pgrep finds.
func judgeKill(c *command) {
	args := c.args
	if len(args) == 0 || slices.Contains([]string{"-l", "-L", "--list", "-0"}, args[0]) {
		return
	}
	switch {
	case args[0] == "-s" || args[0] == "-n" || args[0] == "--signal":
		args = args[min(2, len(args)):]
	case len(args) > 1 && strings.HasPrefix(args[0], "-") && args[0] != "--":
		args = args[1:]
	}
	for _, pid := range args {
		switch pid {
		case "-1":
			c.deny(Processes, "it ends every process of the person. End those that you started, by their numbers.")
		case "1", "0":
			c.deny(Processes, "it ends the machine's first process or the group of the agent itself. End those that you started, by their numbers.")
		}
		if strings.Contains(pid, processesByName) {
			c.deny(Processes, "it ends processes by name, also those that you did not start. Keep the number of a process that you start ($!) and end that.")
		}
	}
}

// processesByName is what pgrep and pidof print.
const processesByName = unknown + "pgrep"

func printProcesses(c *command) string {
	if c.options("P", "g", "s", "u").has("P") {
		return unknown
	}
	return processesByName
}

func judgeKillByName(c *command) {
	o := c.options("u", "s", "g", "t", "P", "F", "signal", "U", "pidfile", "parent", "n", "k")
	switch {
	case o.has("l", "list", "help", "V", "version") && c.name != "pkill":
		return
	case c.name == "fuser":
		if o.has("k", "kill") && !slices.ContainsFunc(o.operands, func(w string) bool { return strings.Contains(w, "/tcp") || strings.Contains(w, "/udp") }) && len(o.of("n", "k")) == 0 {
			c.deny(Processes, "it ends every process that uses a file. End those that you started, by their numbers.")
		}
		return
	case len(o.of("P", "parent", "F", "pidfile")) > 0:
		return // its own children, or a number that was kept
	case o.has("0"):
		return
	}
	c.deny(Processes, "it ends processes by name, also those that you did not start. Keep the number of a process that you start ($!) and end that.")
}

// judgeSystem judges what stops or reconfigures the machine.
func judgeSystem(c *command) {
	verbs := c.subcommand()
	verb := ""
	if len(verbs) > 0 {
		verb = verbs[0]
	}
	stop := func(what string) { c.deny(System, c.name+" "+what+". Leave the machine as it is, or ask the person.") }
	switch c.name {
	case "shutdown", "reboot", "halt", "poweroff", "telinit", "kexec":
		if !c.hasWord("--help", "-c") {
			stop("stops or restarts the machine")
		}
	case "init":
		if len(verb) == 1 && strings.Contains("0123456sS", verb) {
			stop("stops or restarts the machine")
		}
	case "systemctl":
		switch {
		case words2set("poweroff reboot halt kexec suspend hibernate rescue emergency isolate stop disable mask kill daemon-reexec set-default restart reload-or-restart revert")[verb]:
			stop(verb + " changes the machine's services")
		case words2set("enable link edit preset")[verb]:
			c.deny(Persistence, "it makes a service start by itself from now on. Start it in the foreground for the task only.")
		}
	case "service", "rc-service":
		if len(verbs) > 1 && words2set("stop restart reload")[verbs[1]] {
			stop(verbs[1] + " changes the machine's services")
		}
	case "launchctl":
		switch {
		case words2set("load bootstrap enable submit")[verb]:
			c.deny(Persistence, "it makes a program start by itself from now on. Start it in the foreground for the task only.")
		case words2set("unload bootout disable remove kill reboot")[verb]:
			stop(verb + " changes the machine's services")
		}
	case "sysctl":
		if c.options().has("w", "p", "system", "load") || slices.ContainsFunc(c.args, func(w string) bool { return strings.Contains(w, "=") }) {
			stop("changes the kernel's settings")
		}
	case "modprobe", "insmod", "rmmod", "swapoff", "umount", "setenforce", "update-grub", "grub-install", "bless", "depmod", "bcdedit", "tccutil":
		stop("changes what the kernel runs and mounts")
	case "mount":
		if len(verbs) > 1 || c.hasWord("-a") || strings.Contains(strings.Join(c.args, " "), "remount") {
			stop("changes what the kernel runs and mounts")
		}
	case "hostnamectl", "timedatectl":
		if strings.HasPrefix(verb, "set") {
			stop("changes the machine's name or time")
		}
	case "date":
		if c.options("d", "r", "f", "date").has("s", "set") {
			stop("changes the machine's time")
		}
	case "hwclock":
		if c.options().has("w", "s", "systohc", "hctosys", "set") {
			stop("changes the machine's time")
		}
	case "loginctl":
		if strings.HasPrefix(verb, "terminate") || strings.HasPrefix(verb, "kill") || verb == "enable-linger" {
			stop("ends the person's sessions or lets programs outlive them")
		}
	case "csrutil", "spctl", "nvram", "efibootmgr":
		if c.hasWord("disable", "--master-disable", "--global-disable", "-c", "-d", "-B", "-o") {
			stop("switches protections of the machine off")
		}
	case "defaults":
		if verb == "delete" && len(verbs) < 3 {
			stop("delete removes settings of programs")
		}
	case "apt", "apt-get", "yum", "dnf", "zypper", "apk", "pacman", "dpkg", "rpm":
		o := c.options("o", "t", "c")
		if words2set("remove purge autoremove autopurge erase del dist-upgrade full-upgrade do-release-upgrade")[verb] || c.name == "pacman" && strings.HasPrefix(firstOf(c.args), "-R") ||
			c.name == "dpkg" && o.has("r", "P", "remove", "purge") || c.name == "rpm" && o.has("e", "erase") {
			stop("removes or replaces packages of the system")
		}
	case "update-alternatives":
		if c.hasWord("--set", "--install", "--remove", "--remove-all") {
			stop("changes which programs the machine uses")
		}
	}
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func judgeAccounts(c *command) {
	switch c.name {
	case "net":
		if first := firstOf(c.args); first != "user" && first != "localgroup" || !c.hasWord("/add", "/delete") {
			return
		}
	case "dscl":
		if !c.hasWord("-create", "-delete", "-append", "-passwd") {
			return
		}
	case "passwd":
		if c.hasWord("-S", "--status", "--help") {
			return
		}
	}
	c.deny(Privilege, c.name+" changes the users of the machine and what they may do. Leave that to the person.")
}

func judgeSchedule(c *command) {
	switch c.name {
	case "crontab":
		o := c.options("u")
		switch {
		case o.has("l", "h", "V"):
		case o.has("r"):
			c.deny(Files, "it removes all scheduled commands of the person. Leave them.")
		default:
			c.deny(Persistence, "it makes commands run by themselves from now on. Run them once, in the foreground.")
		}
	case "at", "batch":
		if c.options("f", "q", "t").has("l", "V", "c") {
			return
		}
		if c.in.given {
			c.nested(c.orders(), nil, input{})
		}
		c.deny(Persistence, "it makes a command run later, when no one looks. Run it now, in the foreground.")
	case "update-rc.d", "chkconfig":
		if len(c.args) > 1 {
			c.deny(Persistence, "it changes which services start by themselves. Leave that to the person.")
		}
	}
}

func judgeFirewall(c *command) {
	all := " " + strings.Join(c.args, " ") + " "
	changes := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, " "+w+" ") })
	}
	harmful := false
	switch c.name {
	case "iptables", "ip6tables", "ebtables", "arptables":
		harmful = changes("-F", "-X", "-P", "-A", "-I", "-D", "-R", "-N", "-Z", "--flush", "--policy", "--append", "--insert", "--delete")
	case "iptables-restore", "ip6tables-restore":
		harmful = true
	case "nft":
		harmful = changes("flush", "add", "delete", "insert", "replace", "-f")
	case "ufw":
		harmful = changes("disable", "enable", "reset", "allow", "deny", "delete", "default", "reject", "limit", "route", "insert")
	case "firewall-cmd":
		harmful = strings.Contains(all, "--add") || strings.Contains(all, "--remove") || strings.Contains(all, "--set") || changes("--reload", "--panic-on", "--complete-reload", "--panic-off")
	case "ipset":
		harmful = changes("destroy", "flush", "add", "del", "create", "restore")
	case "pfctl":
		harmful = changes("-d", "-F", "-f", "-e", "-x")
	case "route":
		harmful = changes("add", "del", "delete", "flush", "change")
	case "ip":
		harmful = changes("del", "delete", "flush", "add", "set", "replace", "change")
	case "ifconfig":
		harmful = changes("down", "up", "netmask", "delete", "-alias")
	case "nmcli":
		harmful = changes("off", "down", "delete", "modify", "add", "disconnect")
	case "netsh", "networksetup":
		harmful = strings.Contains(strings.ToLower(all), "set") || changes("delete", "add", "reset") || strings.Contains(all, "-remove")
	case "iwconfig", "tc":
		harmful = changes("add", "del", "replace", "off", "change")
	case "socketfilterfw":
		harmful = strings.Contains(all, "--set") || strings.Contains(all, "--add") || strings.Contains(all, "--remove")
	}
	if harmful {
		c.deny(Firewall, c.name+" changes the machine's firewall or network. Leave it, and test on localhost.")
	}
}

func judgeTracks(c *command) {
	all := strings.Join(c.args, " ")
	o := c.options("d", "r", "t", "a", "w")
	harmful := false
	switch c.name {
	case "history":
		harmful = o.has("c", "w") || len(o.of("d")) > 0 || o.has("d")
	case "fc":
		harmful = o.has("p")
	case "auditctl":
		harmful = o.has("D", "e") || c.hasWord("-e")
	case "journalctl":
		harmful = strings.Contains(all, "--vacuum") || o.has("rotate", "flush")
	case "logrotate":
		harmful = o.has("f", "force")
	case "wevtutil":
		harmful = c.hasWord("cl", "clear-log")
	case "dmesg":
		harmful = o.has("c", "C", "clear", "read-clear")
	case "log":
		harmful = firstOf(c.args) == "erase"
	case "touch":
		for _, word := range o.operands {
			c.write(word)
		}
	}
	if harmful {
		c.deny(Tracks, "it removes a record of what was done. Leave logs and histories as they are.")
	}
}
