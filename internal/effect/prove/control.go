package prove

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// control is how a guardrail did on the claimed state.
type control struct {
	ok   bool
	took time.Duration
	log  string // the path of what it printed
	// changed is the longest that it took on a changed program; 0 while that is not known.
	changed time.Duration
}

// control runs all guardrails on the claimed state, also where an earlier process has: the time
// that each takes bounds its runs on mutants. Those that fail run again with what a fresh work tree
// lacks.
func (r *run) control(ctx context.Context) error {
	t := event.ProofTried{On: event.TrialControl}
	done, again := r.earlier(t)
	if !again && r.Started != nil {
		r.Started(t, 0)
	}
	r.controls = make([]control, len(r.Guardrails))
	red, took, err := r.runControls(ctx, all(len(r.Guardrails)))
	if err != nil {
		return err
	}
	if len(red) > 0 {
		brought, err := r.prepare(ctx)
		if err != nil {
			return err
		}
		if brought {
			var more time.Duration
			if red, more, err = r.runControls(ctx, red); err != nil {
				return err
			}
			took += more
		}
	}
	if again { // the verdicts stay as they were recorded
		red = done.Failed
	}
	for i := range r.controls {
		if r.controls[i].ok = !slices.Contains(red, i); r.controls[i].ok {
			t.Passed = append(t.Passed, i)
			continue
		}
		if r.proofs[i], err = r.broken(i); err != nil {
			return err
		}
		t.Failed = append(t.Failed, i)
	}
	t.Took = took.Milliseconds()
	if again {
		return nil
	}
	return r.report(t)
}

func (r *run) runControls(ctx context.Context, which []int) (red []int, took time.Duration, err error) {
	for _, i := range which {
		c, err := r.tryControl(ctx, i)
		if err != nil {
			return red, took, err
		}
		r.controls[i] = c
		took += c.took
		if !c.ok {
			red = append(red, i)
		}
	}
	return red, took, nil
}

// tryControl runs a guardrail on the claimed state. All that it prints is in a log, which is beside
// the tree, where no command sees it, and goes with it.
func (r *run) tryControl(ctx context.Context, i int) (control, error) {
	logs := filepath.Join(filepath.Dir(r.tree.Temp), "output")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return control{}, err
	}
	env, mark := r.environment()
	results, err := guardrail.Run(ctx, guardrail.Config{
		Dir: r.tree.Project, LoopDir: logs, Iteration: i, Env: env, Mark: mark, Wrap: r.wrap, Grace: grace, Redact: r.Redact,
		Guardrails: []guardrail.Guardrail{{Command: r.moved(r.Guardrails[i].Command), Timeout: r.Guardrails[i].Timeout}},
	})
	if err != nil {
		return control{}, err
	}
	return control{ok: results[0].OK, took: results[0].Took, log: filepath.Join(logs, results[0].Log)}, nil
}

// lastOutput is how much of the end of an output is in the verdict, in bytes.
const lastOutput = 1500

// broken is the verdict on a guardrail that fails on the claimed state. What it printed stays for a
// person.
func (r *run) broken(i int) (event.GuardrailProof, error) {
	proof := event.GuardrailProof{Verdict: event.BrokenControl}
	folder := Folder(r.Home, r.ID)
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		proof.Log = filepath.Join(folder, fmt.Sprintf("guardrail-%d.log", i+1))
		err = safefile.Move(r.controls[i].log, proof.Log)
	}
	if err == nil {
		proof.Output, err = end(proof.Log)
	}
	if err != nil {
		err = fmt.Errorf("keep what %.200q printed: %w", r.Guardrails[i].Command, err)
	}
	return proof, err
}

// end returns the last lines of a file.
func end(name string) (string, error) {
	f, err := safefile.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	tail := process.Tail{Max: lastOutput}
	_, err = io.Copy(&tail, f)
	return tail.String(), err
}
