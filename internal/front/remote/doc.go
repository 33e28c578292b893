// Package remote reaches loops of other hosts by ssh. A verb about HOST:NAME runs there, with the
// same words; a follower reads the lines of the journal there and prints them here, so that it can
// continue after a lost connection with the event after the last one.
//
// There is no server and no port of ralph's own: ssh decides who may do what, as the person's
// settings of ssh say. docs/decisions/0057-loops-of-other-hosts.md has the reasons.
package remote
