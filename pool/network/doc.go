// Package network tests a pool whose network fails. It contains tests only:
//
//	make test-network              # ROUNDS=10 take-overs from a host that is cut off
//	make test-network SEED=7       # the same with other faults; a failure names its seed
//
// The store, and each host, is a machine of its own: a network, PID, mount and UTS namespace, in
// which the real ralph and ralph-pool run. Packets between them pass through the test, which
// delays, reorders and loses them, or all in one direction, as tc netem does: TCP sees what it
// would see on a bad line. No device, namespace or process outlives the test, also where that is
// killed: the first process of a machine ends with the test, and all of the machine with it.
//
// In each round a loop's host is cut off from the store, entirely, in one direction or nearly;
// another host takes the loop over, and may be cut off itself meanwhile; a person sends a command;
// and the network heals. These hold:
//
//   - No fork: after the host has heard of it, only the new host's agent works, and the log is one
//     chain of chunks, each by the host that had the loop under its epoch.
//   - No chunk that was ever read from the store is gone or another one at the end. The journal of
//     each host has what it has sealed, line by line, and that of the loop's host all of the log.
//   - Each command is received once, and one that a host has acknowledged is in the log.
//   - The agent of the host that was cut off ends; how many seconds after the network healed is
//     printed.
//
// It needs /dev/net/tun and the right to make namespaces: root, or a kernel that lets users make
// them.
package network
