package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Which sockets an agent may make, where its network is limited. Landlock and namespaces know
// neither sockets that are files, nor, in Landlock, datagrams.
const (
	noSockets   = "none"
	tcpSockets  = "tcp"  // those of the helper that leads to the proxy
	unixSockets = "unix" // any that are files; with a comma after tcp
)

// sockets says which sockets the agent may make; "" for all. A socket that a person lets the agent
// read or change by name needs those that are files.
func (b *Box) sockets() (string, error) {
	if b.Network == Open {
		return "", nil
	}
	allowed := noSockets
	if b.Network == Listed {
		allowed = tcpSockets
	}
	named := slices.IndexFunc(slices.Concat(b.Show, b.Write), isSocket)
	switch {
	case named < 0:
		return allowed, nil
	case b.Mode == Landlock:
		return "", fmt.Errorf("sandbox landlock cannot open the socket %s alone while sandbox.network is %s: use bwrap, or leave it out",
			slices.Concat(b.Show, b.Write)[named], b.Network)
	}
	return allowed + "," + unixSockets, nil
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// may reports whether a kind of socket is in a list of sockets.
func may(list, kind string) bool { return slices.Contains(strings.Split(list, ","), kind) }
