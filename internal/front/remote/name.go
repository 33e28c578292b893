package remote

import (
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
)

// Split splits HOST:NAME. ok is false for a word that names nothing on a host: no loop's name has a
// colon, but a path and a drive letter of Windows may.
func Split(word string) (host, loop string, ok bool) {
	host, loop, ok = strings.Cut(word, ":")
	drive := len(host) == 1 && loop != "" && strings.ContainsRune(`/\`, rune(loop[0]))
	if !ok || host == "" || drive || client.IsPath(word) || strings.ContainsAny(host, `/\`) {
		return "", "", false
	}
	return host, loop, true
}

// InText reports whether the first word of a text is HOST:NAME, and neither a time such as 12:30,
// an address nor a place in a file such as main.go:12.
func InText(word string) bool {
	host, loop, ok := Split(word)
	_, number := strconv.Atoi(loop)
	return ok && number != nil && !client.IsPath(loop) && checkHost(host) == nil && checkLoop(host, loop) == nil
}

var hostPattern = units.Pattern(`^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*@)?[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// checkHost refuses what ssh would read as an option, and what a ProxyCommand of the person's
// settings would give to a shell.
func checkHost(host string) error {
	if len(host) > 255 || !hostPattern().MatchString(host) {
		return cli.Refuse("name it with letters, digits, '.', '_' and '-', as in 'ssh HOST' or 'ssh USER@HOST'; a Host of ~/.ssh/config may have any address",
			"%q cannot be the name of a host", host)
	}
	return nil
}

// checkLoop refuses a name that would be a flag there, and one that no loop can have.
func checkLoop(host, loop string) error {
	switch {
	case loop == "":
		return cli.Refuse("'ralph list --host "+host+"' shows the loops there", "%s: has no name of a loop after it", host)
	case client.IsPath(loop), client.IsQualified(loop) && loop[0] != '-':
		return nil
	}
	return registry.CheckName(loop)
}

// Check returns an error unless ssh may be given the host, and ralph there the loop's name.
func Check(host, loop string) error {
	if err := checkHost(host); err != nil {
		return err
	}
	return checkLoop(host, loop)
}

// quote writes a word for the shell there. Single quotes keep everything in each of them but quotes
// and, in fish, backslashes.
func quote(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.NewReplacer(`'`, `'\''`, `\`, `'\\'`).Replace(word) + "'"
}

var plainWord = units.Pattern(`^[A-Za-z0-9_./:,@%+-]+$`)
