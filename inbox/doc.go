// Package inbox is the only input of a loop: each command is a file in the inbox of its folder.
//
// A person, an MCP tool, a hook or another ralph writes a command:
//
//	id, err := inbox.Drop(loopDir, inbox.Command{Kind: inbox.Steer, From: "cli:ada@mill", Text: "leave the schema alone"})
//
// and can withdraw it until the runner has claimed it:
//
//	withdrawn, err := inbox.Withdraw(loopDir, id)
//
// The one runner, which holds the loop's lock, waits, claims, journals, and then removes:
//
//	box, err := inbox.Open(loopDir)
//	for range box.Watch(ctx) {
//		items, err := box.Pending()
//		for _, item := range items {
//			if item.Reject != nil {
//				err = box.Reject(item.Reject.Name, item.Reject.Reason)
//				continue
//			}
//			// journal command.received and sync it, unless the journal has this id already; then
//			err = box.Done(item.Command.ID)
//		}
//	}
//
// # Two parts
//
// The folder inbox is the part of people, and takes every command. The folder from-agent beside it
// is the part of the loop's agent: it takes ask, wait and blocked, and any other command there is
// rejected. A sandbox lets an agent write into its part alone. Drop chooses the part by the kind.
//
// # Wire format
//
// A command is the file inbox/<id>.json or from-agent/<id>.json in the loop's folder. The id is a
// ULID in upper case, so that names sort in the order of dropping. The content is one JSON object
// in UTF-8, of at most 1 MiB:
//
//	{"v":1,"id":"01JD…","kind":"steer","from":"cli:ada@mill","at":"2026-11-21T01:52:28.123Z","text":"…","key":"…","value":"…"}
//
// The key process names the process that dropped the command, then those that it descends from, by
// pid and start time: [{"pid":4711,"start":815}, …]. Without it, or if that process has ended, the
// runner cannot know who gave the command.
//
// A question of the agent, and the answer to it, have keys of their own:
//
//	{"v":1,"id":"01JD…","kind":"ask","from":"agent","text":"Postgres or SQLite?","choices":["postgres","sqlite"],"blocks":true}
//	{"v":1,"id":"01JD…","kind":"answer","from":"cli:ada@mill","question":3,"text":"postgres"}
//
// A command that comes through a pool may name the epoch that its sender saw: after a take-over the
// loop refuses it. A fence names the host that has the loop, and its epoch:
//
//	{"v":1,"id":"01JD…","kind":"fence","from":"pool:mill","host":"kiln","epoch":2}
//
// v, id and kind are required, and what the kind needs; see Kind. Readers ignore keys they do not
// know; a changed meaning gets a new v. A writer without this package writes under a name that
// begins with a dot, then renames: only a complete file may have the name of an id.
//
// The name carries the command's state, in both parts:
//
//	.drop-<random>        being written; ignored
//	<id>.json             dropped; can be withdrawn
//	<id>.claimed          the runner has read it; removed once its receipt is in the journal
//	<kind>.json           dropped by a shell script, as <kind>.<anything>.json: without id; v and kind may be left out
//	<id>.<kind>.claimed   the same, claimed under a new id
//	rejected/<name>       rejected, with the reason in rejected/<name>.reason
//
// # Guarantees
//
//   - Drop is durable on return, and a reader never sees half a file. Nothing is ever overwritten.
//   - A command is either withdrawn or claimed, never both. Pending returns a claimed command until
//     Done or Reject, also in a later process: delivery is at least once, and the id identifies
//     repetitions. A file that can be neither removed nor moved is returned once by each Box, and
//     delays no other.
//   - Pending returns commands in the order of their ids, at most PassLimit at a time, first those
//     of people. Commands of one process are in the order of its calls; those of several, in that of their file system's
//     clock, in milliseconds. Within one millisecond there is no order.
//   - A file that is named by its kind has its id when Pending returns it, and keeps it after a
//     crash and a loss of power. One that is empty or cut short is left until it is complete, or has
//     not changed for two seconds; it is never misread.
//   - A hostile file costs little: links, folders, devices and FIFOs are never opened, files over
//     1 MiB never read, and memory is bounded by one pass, however many files there are.
//   - Wake-ups are coalesced and never lost. One comes at or after each drop that the file system
//     announces; otherwise a poll finds the file within 30 s, and from then on within 250 ms.
//   - Drop and Withdraw may be called by any number of processes and goroutines. The methods of Box
//     may be called by any goroutine of the one runner.
//
// # Not here
//
// What a command does and who may give it (policies decide that), its receipt and its outcome (the
// journal: command.received, command.delivered, command.refused). The folders are their owner's,
// and a program that can write into the part of people, and says of itself what is not true, can
// steer.
package inbox
