package sandbox

import (
	"net"
	"path/filepath"
	"testing"
)

// TestNamedSocket shows that a socket which a person names can be reached while the network is
// closed, and that Landlock refuses what it cannot keep.
func TestNamedSocket(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			var socket string
			b := box(t, mode, func(p *Policy) {
				socket = filepath.Join(p.Dir, "s")
				listener, err := net.Listen("unix", socket)
				if err != nil {
					t.Skip(err) // its path is too long for a socket
				}
				t.Cleanup(func() { _ = listener.Close() }) // it may be closed
				p.Network, p.Show = Closed, []string{socket}
			})
			list, err := b.sockets()
			if mode == Landlock {
				if err == nil {
					t.Error("Landlock does not refuse it")
				}
				return
			}
			if err != nil || !may(list, unixSockets) || may(list, tcpSockets) {
				t.Errorf("%q, %v", list, err)
			}
			if out, err := b.runs(t, b.Self+" dial "+socket); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
