package decide

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/store"
)

// a log is the store of a test: the chunk of each number.
type log [][]byte

func (l *log) put(n uint64, stored []byte) error {
	if n != uint64(len(*l)) {
		return store.ErrExists
	}
	*l = append(*l, stored)
	return nil
}

// lines are what a host has in its journal.
func lines(host string, first, last event.Seq) (text []byte) {
	for seq := first; seq <= last; seq++ {
		text = fmt.Appendf(text, "%s %d\n", host, seq)
	}
	return text
}

// run drives a mirror until it waits, and returns what it did.
func run(t *testing.T, l *log, m *Mirror, host string, last event.Seq) (did []string) {
	t.Helper()
	due := true
	for range 100 {
		step := m.Next(Journal{Last: last, Due: due})
		did = append(did, string(step.Do))
		switch step.Do {
		case Wait, Stop:
			return did
		case Fence:
			did[len(did)-1] += fmt.Sprintf(" %s %d", step.Host, step.Epoch)
			m.Fenced()
		case Read:
			if step.Number == uint64(len(*l)) {
				m.Missing()
				due = last > m.Tail().Last
				continue
			}
			err := m.Found((*l)[step.Number], func(first, last event.Seq) ([]byte, error) { return lines(host, first, last), nil })
			if err != nil {
				t.Fatal(err)
			}
		case Seal:
			if err := m.Seal(Lines{Text: lines(host, step.First, last), Last: last, Nonce: fmt.Sprint(host, len(*l))}); err != nil {
				t.Fatal(err)
			}
		case Put:
			m.Answered(l.put(step.Number, step.Stored))
			due = false
		}
	}
	t.Fatalf("it goes on without an end: %v", did)
	return nil
}

func wantSteps(t *testing.T, got []string, want string) {
	t.Helper()
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("it did\n%s\nand not\n%s", got, want)
	}
}

// claimed drives a claim to its end.
func claimed(t *testing.T, l *log, c *Claim) Step {
	t.Helper()
	for range 100 {
		switch step := c.Next(); step.Do {
		case Read:
			if step.Number == uint64(len(*l)) {
				c.Missing()
			} else {
				c.Found((*l)[step.Number])
			}
		case Put:
			c.Answered(l.put(step.Number, step.Stored))
		default:
			return step
		}
	}
	t.Fatal("the claim has no end")
	return Step{}
}

func TestMirrorSealsReadsAndWaits(t *testing.T) {
	var l log
	m := NewMirror("L", "a", 1, Tail{})
	wantSteps(t, run(t, &l, m, "a", 3), "read, seal, put, wait")
	wantSteps(t, run(t, &l, m, "a", 3), "read, wait")
	wantSteps(t, run(t, &l, m, "a", 5), "seal, put, wait")
	if tail := m.Tail(); tail.Next != 2 || tail.Last != 5 || !m.Owns() {
		t.Errorf("the log ends with %+v, owned %t", tail, m.Owns())
	}
}

func TestMirrorFindsItsLostAnswer(t *testing.T) {
	var l log
	m := NewMirror("L", "a", 1, Tail{})
	m.Missing()
	if err := m.Seal(Lines{Text: lines("a", 1, 2), Last: 2, Nonce: "x"}); err != nil {
		t.Fatal(err)
	}
	step := m.Next(Journal{Last: 2})
	m.Answered(errors.New("timeout"))
	m.Missing() // the request is still on its way
	again := m.Next(Journal{Last: 9, Due: true})
	if again.Do != Put || string(again.Stored) != string(step.Stored) {
		t.Fatalf("after a put without an answer it does %s, with other bytes: %t", again.Do, string(again.Stored) != string(step.Stored))
	}
	_ = l.put(step.Number, step.Stored)
	m.Answered(l.put(again.Number, again.Stored))
	wantSteps(t, run(t, &l, m, "a", 2), "read, read, wait")
	if m.Tail().Next != 1 || m.Tail().Last != 2 {
		t.Errorf("the log ends with %+v", m.Tail())
	}
}

func TestMirrorAdoptsItsOwnLines(t *testing.T) {
	var l log
	run(t, &l, NewMirror("L", "a", 1, Tail{}), "a", 2)
	m := NewMirror("L", "a", 1, Tail{}) // a later process
	wantSteps(t, run(t, &l, m, "a", 4), "read, read, seal, put, wait")
	other := NewMirror("L", "a", 1, Tail{})
	wantSteps(t, run(t, &l, other, "other", 4), "read, stop")
}

func TestMirrorIsFencedByClaim(t *testing.T) {
	var l log
	m := NewMirror("L", "a", 1, Tail{})
	run(t, &l, m, "a", 2)
	if step := claimed(t, &l, NewClaim("L", "b", "n", time.Time{})); step.Do != Won || step.Epoch != 2 {
		t.Fatalf("the claim is %+v", step)
	}
	wantSteps(t, run(t, &l, m, "a", 3), "seal, put, read, fence b 2, wait")
	if m.Owns() {
		t.Error("it owns the loop after its fence")
	}
	wantSteps(t, run(t, &l, m, "a", 9), "wait")
	wantSteps(t, run(t, &l, NewMirror("L", "a", 1, Tail{}), "a", 9), "read, read, fence b 2, wait")
	wantSteps(t, run(t, &l, NewMirror("L", "b", 2, Tail{}), "b", 3), "read, read, read, seal, put, wait")
}

func TestClaimFollowsAndLoses(t *testing.T) {
	var l log
	m := NewMirror("L", "a", 1, Tail{})
	run(t, &l, m, "a", 2)
	b, c := NewClaim("L", "b", "b", time.Time{}), NewClaim("L", "c", "c", time.Time{})
	for _, claim := range []*Claim{b, c} {
		claim.Found(l[0])
		claim.Missing()
	}
	run(t, &l, m, "a", 4) // the host is alive
	if step := claimed(t, &l, b); step.Do != Won || step.Epoch != 2 || len(l) != 3 {
		t.Errorf("the first claim is %+v, of %d chunks", step, len(l))
	}
	if step := claimed(t, &l, c); step.Do != Lost || step.Host != "b" || step.Epoch != 2 {
		t.Errorf("the second claim is %+v", step)
	}
}

// Between its look at the log and its claim, a host watches the other one for half a minute.
func TestLaterClaimLoses(t *testing.T) {
	var l log
	m := NewMirror("L", "a", 1, Tail{})
	run(t, &l, m, "a", 2)
	b, c := NewClaimAfter(m.Tail(), "b", "b", time.Time{}), NewClaimAfter(m.Tail(), "c", "c", time.Time{})
	run(t, &l, m, "a", 4) // what the host still stores does not matter
	if step := claimed(t, &l, b); step.Do != Won || step.Epoch != 2 {
		t.Errorf("the first claim is %+v", step)
	}
	if step := claimed(t, &l, c); step.Do != Lost || step.Host != "b" || step.Epoch != 2 {
		t.Errorf("the second claim is %+v", step)
	}
}

func TestClaimFindsItsLostAnswer(t *testing.T) {
	var l log
	run(t, &l, NewMirror("L", "a", 1, Tail{}), "a", 2)
	c := NewClaim("L", "b", "n", time.Time{})
	c.Found(l[0])
	c.Missing()
	step := c.Next()
	_ = l.put(step.Number, step.Stored)
	c.Answered(errors.New("timeout"))
	if step := claimed(t, &l, c); step.Do != Won || len(l) != 2 {
		t.Errorf("the claim is %+v, of %d chunks", step, len(l))
	}
}

func TestBeginningIsChunkZero(t *testing.T) {
	var l log
	at := time.Time{}
	if step := claimed(t, &l, NewClaim("L", "b", "n", at)); step.Do != Stop {
		t.Errorf("a claim to a loop without a log is %+v", step)
	}
	a, b := NewBeginning("L", "a", "1", at, []byte(`{"v":1}`)), NewBeginning("L", "b", "2", at, []byte(`{"v":1}`))
	a.Missing()
	if step := claimed(t, &l, b); step.Do != Won || step.Epoch != 1 {
		t.Errorf("the claim is %+v", step)
	}
	if step := claimed(t, &l, a); step.Do != Lost || step.Host != "b" {
		t.Errorf("the later claim is %+v", step)
	}
	wantSteps(t, run(t, &l, NewMirror("L", "b", 1, Tail{}), "b", 2), "read, read, seal, put, wait")
	if h, _, _ := chunk.Decode(l[1]); h.First != 1 || h.Last != 2 {
		t.Errorf("the first lines are events %d to %d", h.First, h.Last)
	}
}

func TestBrokenChainsAreFound(t *testing.T) {
	good := chunk.Header{Loop: "L", Number: 5, Prev: "p", Epoch: 2, Host: "a", First: 11, Last: 12, Tree: 3, Nonce: "n"}
	tail := Tail{Loop: "L", Next: 5, Prev: "p", Epoch: 2, Host: "a", Last: 10, Tree: 3}
	if next, err := tail.Follow(good, "h"); err != nil || next != (Tail{"L", 6, "h", 2, "a", 12, 3}) {
		t.Fatalf("%+v, %v", next, err)
	}
	for name, change := range map[string]func(*chunk.Header){
		"loop":            func(h *chunk.Header) { h.Loop = "M" },
		"number":          func(h *chunk.Header) { h.Number = 6 },
		"chunk before":    func(h *chunk.Header) { h.Prev = "q" },
		"lower epoch":     func(h *chunk.Header) { h.Epoch = 1 },
		"epoch too high":  func(h *chunk.Header) { h.Epoch = 4 },
		"another host":    func(h *chunk.Header) { h.Host = "b" },
		"claim with more": func(h *chunk.Header) { h.Epoch, h.Host = 3, "b" },
		"a gap":           func(h *chunk.Header) { h.First = 12 },
		"no first":        func(h *chunk.Header) { h.First = 0 },
		"backwards":       func(h *chunk.Header) { h.Last = 10 },
		"an older tree":   func(h *chunk.Header) { h.Tree = 2 },
		"no nonce":        func(h *chunk.Header) { h.Nonce = "" },
	} {
		h := good
		change(&h)
		if _, err := tail.Follow(h, "h"); err == nil {
			t.Errorf("a chunk with another %s follows", name)
		}
	}
}

func TestMirrorWritesOnlyItsEpoch(t *testing.T) {
	var l log
	run(t, &l, NewMirror("L", "a", 1, Tail{}), "a", 2)
	// Its claim is not in the log: the store has lost it, or pool.json is wrong.
	wantSteps(t, run(t, &l, NewMirror("L", "b", 2, Tail{}), "b", 3), "read, read, stop")
	wantSteps(t, run(t, &l, NewMirror("L", "b", 1, Tail{}), "b", 3), "read, stop")
	wantSteps(t, run(t, &log{}, NewMirror("L", "b", 2, Tail{}), "b", 3), "read, stop")
}
