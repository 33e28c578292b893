// Package keys names what a pool stores. No other package spells a key.
//
//	loops/ID/log/N            a chunk of the journal: package chunk
//	loops/ID/tree/N           files of the loop and of its repository, in parts
//	loops/ID/blob/SHA256      a text of the journal that is too long for a line, in parts
//	loops/ID/repair/N         the lines of chunk N, which is damaged: package log
//	parts/KEY/SHA256          a part of the value of KEY: package parts
//	loops/ID/inbox/ULID       a command for the loop
//	loops/ID/view             what the loop is doing: derived, written by its host
//	hosts/H/beat              when the host was last heard of
//	hosts/H/wake              written when a command waits for a loop of the host
//	hosts/H/worker            what the worker of the host runs, and what it cannot run
//	hosts/H/drain             whether the host may claim loops
//	held/H/ID                 that the host has, or had, the loop, which finds it by its host
//	schedules/NAME            what is submitted again and again, and its last runs
//	queue/PRIORITY/ULID       a specification; its loop has the same ID
//	cursor                    up to where the queue has only claimed specifications
//	fleets/NAME               the parts of a fleet: their IDs, and which of them need which
//	accounts/A                what an account has used, over all hosts
//	probe/DAY                 what hosts write to see whether the store keeps conditions
package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// The prefixes of lists.
const (
	Loops     = "loops/"
	Hosts     = "hosts/"
	Held      = "held/"
	Queue     = "queue/"
	Accounts  = "accounts/"
	Schedules = "schedules/"
	Fleets    = "fleets/"
	Parts     = "parts/"
)

// Cursor is the key of how much of the queue is claimed. Each submission writes it as well.
const Cursor = "cursor"

// Chunk is the key of chunk n of a loop's log, from 0.
func Chunk(loop string, n uint64) string { return fmt.Sprintf("%s%012d", Log(loop), n) }

// Log is the prefix of a loop's chunks.
func Log(loop string) string { return Loops + loop + "/log/" }

// ChunkNumber is the number in the key of a chunk.
func ChunkNumber(key string) (n uint64, ok bool) {
	_, number, found := strings.Cut(key, "/log/")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, found && err == nil
}

// Repair is the key of the lines that chunk n had.
func Repair(loop string, n uint64) string { return fmt.Sprintf("%s%s/repair/%012d", Loops, loop, n) }

// Trees is the prefix of a loop's trees.
func Trees(loop string) string { return Loops + loop + "/tree/" }

// Tree is the key of the files that belong to chunk n.
func Tree(loop string, n uint64) string { return fmt.Sprintf("%s%012d", Trees(loop), n) }

// TreeNumber is the number in the key of a tree.
func TreeNumber(key string) (n uint64, ok bool) {
	_, number, found := strings.Cut(key, "/tree/")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, found && err == nil
}

// Blob is the key of a text of the journal.
func Blob(loop, sha256 string) string { return Loops + loop + "/blob/" + sha256 }

// Part is the key of a part of another key's value.
func Part(key, sha256 string) string { return Parts + key + "/" + sha256 }

// Inbox is the prefix of a loop's commands.
func Inbox(loop string) string { return Loops + loop + "/inbox/" }

// View is the key of what a loop is doing.
func View(loop string) string { return Loops + loop + "/view" }

// Beat is the key of a host's last sign of life.
func Beat(host string) string { return Hosts + host + "/beat" }

// Wake is the key that is written when a command waits for a loop of the host.
func Wake(host string) string { return Hosts + host + "/wake" }

// Worker is the key of what the worker of a host does.
func Worker(host string) string { return Hosts + host + "/worker" }

// Drain is the key of whether a host may claim loops.
func Drain(host string) string { return Hosts + host + "/drain" }

// HeldBy is the prefix of the loops that a host has or had.
func HeldBy(host string) string { return Held + host + "/" }

// HeldLoop is the key of one of them.
func HeldLoop(host, loop string) string { return HeldBy(host) + loop }

// AfterLoop is greater than all keys of a loop, and less than those of the next one.
func AfterLoop(loop string) string { return Loops + loop + "/zzzz" }

// AfterHost is the same for a host.
func AfterHost(host string) string { return Hosts + host + "/zzzz" }

// Queued is the key of a specification. A higher priority, 0 to 9, sorts first.
func Queued(priority int, id string) string { return fmt.Sprintf("%s%d/%s", Queue, 9-priority, id) }

// QueuedPriority is the priority in the key of a specification.
func QueuedPriority(key string) (priority int, ok bool) {
	digit, _, found := strings.Cut(strings.TrimPrefix(key, Queue), "/")
	if !found || len(digit) != 1 || digit[0] < '0' || digit[0] > '9' {
		return 0, false
	}
	return 9 - int(digit[0]-'0'), true
}

// Schedule is the key of a schedule.
func Schedule(name string) string { return Schedules + name }

// Fleet is the key of a fleet.
func Fleet(name string) string { return Fleets + name }

// Probe is the key with which hosts try the store on a day.
func Probe(day string) string { return "probe/" + day }

// Account is the key of what an account has used.
func Account(name string) string { return Accounts + name }
