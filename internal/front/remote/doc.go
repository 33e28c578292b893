// Package remote reaches loops of other machines: by ssh, and through the pool that this host is
// in. A verb about HOST:NAME runs there by ssh, with the same words; a follower reads the lines of
// the journal there and prints them here, so that it can continue after a lost connection with the
// event after the last one. Of a pool, the program ralph-pool says what its loops do, and takes
// commands for them.
//
// What lists loops of other machines takes sources: hosts that ssh reaches, and [Pool]. A [Watch]
// has the loops of all of them as they were last; a [Loop] is one of them, and takes commands.
//
// There is no server and no port of ralph's own: ssh decides who may do what, as the person's
// settings of ssh say. docs/decisions/0057-loops-of-other-hosts.md and 0058 have the reasons.
package remote
