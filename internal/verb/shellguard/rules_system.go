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

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func judgeAt(c *command) {
	if c.options("f", "q", "t").has("l", "V", "c") {
		return
	}
	if c.in.given {
		c.nested(c.orders(), nil, input{})
	}
	c.deny(Persistence, "it makes a command run later, when no one looks. Run it now, in the foreground.")
}
