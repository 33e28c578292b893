//go:build unix

package main

import (
	"os"
	"testing"
)

// In a terminal, clean and stop --all show what they are about to do, and do it only after a plain
// yes.
func TestStopAllAndCleanAsk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\necho words\nexec sleep 300\n")
	p.fine("start", "one", "--detach", "-p", "x", "-a", agent, "--protocol", "text")

	talk := p.terminal(p.command("stop", "--all", "--now"))
	talk.sees("one")
	talk.sees("(y/N): ")
	talk.types(enter)
	talk.leaves(0)
	if p.dead("one") {
		t.Fatal("the loop was stopped without a yes")
	}
	talk = p.terminal(p.command("stop", "--all", "--now"))
	talk.sees("(y/N): ")
	talk.types("y" + enter)
	talk.leaves(0)
	p.until("the loop to end", func() bool { return p.dead("one") })

	talk = p.terminal(p.command("clean"))
	talk.sees("one")
	talk.sees("Remove them? (y/N): ")
	talk.types("n" + enter)
	talk.leaves(0)
	if _, err := os.Stat(p.loop("one")); err != nil {
		t.Fatal("the loop was removed without a yes:", err)
	}
	talk = p.terminal(p.command("clean"))
	talk.sees("Remove them? (y/N): ")
	talk.types("yes" + enter)
	talk.leaves(0)
	if _, err := os.Stat(p.loop("one")); !os.IsNotExist(err) {
		t.Error("the loop is still there:", err)
	}
}
