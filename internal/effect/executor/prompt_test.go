//go:build unix

package executor_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func begins(ids ...string) event.Decided {
	return event.Decided{Do: event.DoBegin, Iteration: 3, Commands: ids}
}

func TestPromptComposition(t *testing.T) {
	mail := []policy.Message{
		{ID: "a", Kind: event.CommandSteer, Text: "mind the gap"},
		{ID: "b", Kind: event.CommandFollowUp, Text: "then write down\nwhat you found"},
		{ID: "c", Kind: event.CommandSteer, Text: "not for this one"},
	}
	for name, row := range map[string]struct {
		base    string
		refused []string
		ids     []string
		want    string
	}{
		"the base alone": {"make it work", nil, nil, "make it work"},
		"newlines at the end of the base are cut, those within it stay": {"\n# Task\n\nmake it work\n\n", nil, nil, "\n# Task\n\nmake it work"},
		"a claim that was refused": {"make it work\n", []string{"no work was done", "a message has not been read yet: x"}, nil, `make it work

Your last claim that the work is done was not accepted:
- no work was done
- a message has not been read yet: x`},
		"messages, in the order in which they were decided on": {"make it work\n", nil, []string{"a", "b"}, `make it work

Messages from the person you work for, oldest first:
- mind the gap
- then write down
  what you found`},
		"both, after the base": {"make it work\n", []string{"no work was done"}, []string{"b"}, `make it work

Your last claim that the work is done was not accepted:
- no work was done

Messages from the person you work for, oldest first:
- then write down
  what you found`},
		"a message that was answered meanwhile is left out": {"make it work", nil, []string{"z"}, "make it work"},
	} {
		t.Run(name, func(t *testing.T) {
			s := runs(t, "true").up()
			s.state.Lifecycle.Task = event.Source{Text: &event.Blob{Text: row.base, Bytes: len(row.base)}}
			s.state.Completion.Refused, s.state.Commands.Open = row.refused, mail
			cause := s.do(begins(row.ids...))
			e := s.next()
			if e.typ != event.TypeIterationStarted || e.cause != cause || e.iter != 3 {
				t.Fatalf("%+v", e)
			}
			begun := payload[event.IterationStarted](t, e)
			if diff := cmp.Diff(row.want, begun.Prompt.Text); diff != "" {
				t.Error(diff)
			}
			if begun.N != 3 || begun.Mode != "work" || !cmp.Equal(begun.Commands, row.ids) {
				t.Errorf("%+v", begun)
			}
		})
	}
}

func TestPromptFileIsReadAgain(t *testing.T) {
	s := runs(t, "true")
	content, asked := "first", ""
	s.cfg.ReadFile = func(name string) ([]byte, error) {
		asked = name
		return []byte(content), nil
	}
	s.up()
	s.state.Lifecycle.Task = event.Source{File: "docs/prompt.md"}
	for _, want := range []string{"first", "second"} {
		content = want
		s.do(begins())
		if begun := payload[event.IterationStarted](t, s.next()); begun.Prompt.Text != want || asked != "docs/prompt.md" {
			t.Errorf("%q of %q", begun.Prompt.Text, asked)
		}
	}
}

func TestStateChangesDuringComposition(t *testing.T) {
	s := runs(t, "true")
	reading, goOn := make(chan struct{}), make(chan struct{})
	s.cfg.ReadFile = func(string) ([]byte, error) {
		close(reading)
		<-goOn
		return []byte("base"), nil
	}
	s.up()
	s.state.Lifecycle.Task = event.Source{File: "prompt.md"}
	s.state.Commands.Open = []policy.Message{{ID: "a", Kind: event.CommandSteer, Text: "as decided"}}
	s.state.Completion.Refused = []string{"as decided"}
	s.do(begins("a"))
	<-reading
	s.state.Commands.Open[0].Text, s.state.Completion.Refused[0] = "changed", "changed"
	close(goOn)
	if begun := payload[event.IterationStarted](t, s.next()); strings.Contains(begun.Prompt.Text, "changed") {
		t.Errorf("%q", begun.Prompt.Text)
	}
}

func TestPromptErrorsAreReported(t *testing.T) {
	const write = "write the prompt file, or start with -p"
	inline := event.Source{Text: &event.Blob{Text: "x"}}
	for name, row := range map[string]struct {
		task  event.Source
		blob  error
		file  string // its content; - for none
		class event.Class
		hint  string
		says  string
	}{
		"there is no prompt":               {event.Source{}, nil, "-", event.ClassConfig, write, "no prompt"},
		"the file is not there":            {event.Source{File: "prompt.md"}, nil, "-", event.ClassMissing, write, "prompt.md"},
		"the file is empty":                {event.Source{File: "prompt.md"}, nil, "", event.ClassConfig, write, "prompt.md is empty"},
		"the file is blank":                {event.Source{File: "prompt.md"}, nil, " \n\t\n", event.ClassConfig, write, "prompt.md is empty"},
		"the disk is full":                 {inline, syscall.ENOSPC, "-", event.ClassDisk, "", "store the prompt"},
		"the text's own blob is not there": {event.Source{Text: &event.Blob{Text: "beginning", SHA256: "ab"}}, nil, "-", event.ClassMissing, "", "blob"},
	} {
		t.Run(name, func(t *testing.T) {
			s := runs(t, "true")
			if row.file != "-" {
				s.cfg.ReadFile = func(string) ([]byte, error) { return []byte(row.file), nil }
			}
			if row.blob != nil {
				s.cfg.Blob = func([]byte) (event.Blob, error) { return event.Blob{}, row.blob }
			}
			s.up()
			s.state.Lifecycle.Task = row.task
			cause := s.do(begins("a"))
			e := s.next()
			failed := payload[event.EffectFailed](t, e)
			if e.cause != cause || failed.Do != event.DoBegin || failed.Class != row.class || failed.Hint != row.hint || !strings.Contains(failed.Error, row.says) {
				t.Errorf("%+v", failed)
			}
			if left := s.rest(); len(left) != 0 {
				t.Errorf("and then %+v", left)
			}
		})
	}
}

func TestLongBasePromptFromBlob(t *testing.T) {
	s := runs(t, "true").up()
	whole := strings.Repeat("a long prompt\n", 5000)
	s.blobs["sum"] = []byte(whole)
	s.state.Lifecycle.Task = event.Source{Text: &event.Blob{Text: whole[:1024], Bytes: len(whole), SHA256: "sum"}}
	s.do(begins())
	s.next()
	if s.prompts[0] != strings.TrimRight(whole, "\n") {
		t.Errorf("%d bytes were composed of %d", len(s.prompts[0]), len(whole))
	}
}

func TestAgentGetsCompletePrompt(t *testing.T) {
	whole := strings.Repeat("a long prompt, ", 20_000)
	for name, prompt := range map[string]event.Blob{
		"a short one": {Text: "do it", Bytes: 5},
		"a long one":  {Text: whole[:1024], Bytes: len(whole), SHA256: "sum"},
	} {
		t.Run(name, func(t *testing.T) {
			s := runs(t, "wc -c; cat").up()
			s.blobs["sum"] = []byte(whole)
			s.state.Lifecycle.Prompt = prompt
			s.do(start)
			// The prompt and the newline that ends it.
			want := prompt.Bytes + 1
			said := payload[event.AgentSaid](t, s.until(event.TypeAgentSaid))
			if got := strings.TrimSpace(said.Text.String()); got != strconv.Itoa(want) {
				t.Errorf("the agent read %s bytes, want %d", got, want)
			}
		})
	}
}

func TestMissingBlobStartsNoAgent(t *testing.T) {
	s := runs(t, "true").up()
	s.state.Lifecycle.Prompt = event.Blob{Text: "beginning", SHA256: "gone"}
	s.do(start)
	failed := payload[event.EffectFailed](t, s.next())
	if failed.Class != event.ClassMissing || failed.Hint != "" || s.agents != 0 {
		t.Errorf("%+v, %d agents", failed, s.agents)
	}
}

func TestRefundedIterationRepeatsMessages(t *testing.T) {
	s := runs(t, "true").up()
	s.state.Commands.Again = []policy.Message{{ID: "z", Kind: event.CommandSteer, Text: "mind the gap"}}
	s.state.Commands.Open = []policy.Message{{ID: "a", Kind: event.CommandFollowUp, Text: "then rest"}}
	s.do(event.Decided{Do: event.DoBegin, Iteration: 2, Commands: []string{"a"}})
	s.until(event.TypeIterationStarted)
	const want = "make it work\n\nMessages from the person you work for, oldest first:\n- mind the gap\n- then rest"
	if got := s.prompts[len(s.prompts)-1]; got != want {
		t.Errorf("the prompt is %q", got)
	}
}

// The loop's folder was removed between two iterations: no prompt file is missing.
func TestVanishedFolderIsReported(t *testing.T) {
	for _, do := range []event.Decided{begins("a"), {Do: event.DoCheck, Iteration: 1}} {
		s := runs(t, "true")
		s.up()
		s.state.Lifecycle.Task = event.Source{Text: &event.Blob{Text: "x"}}
		if err := os.RemoveAll(s.cfg.Dir); err != nil {
			t.Fatal(err)
		}
		s.do(do)
		failed := payload[event.EffectFailed](t, s.until(event.TypeEffectFailed))
		if failed.Do != do.Do || failed.Class != event.ClassDisk || failed.Hint != "put the folder back, then resume the loop" ||
			!strings.HasPrefix(failed.Error, "the loop's folder vanished: ") {
			t.Errorf("%+v", failed)
		}
	}
}
