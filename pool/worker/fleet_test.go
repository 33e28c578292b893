package worker_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/projector"
)

var fleetSeed = flag.Uint64("fleet", 29, "the seed that chooses at which writes workers of a fleet are killed")

// partAgent notes the loop and what it begins from, merges what its prompt names, and does its
// part. One named bad does nothing.
const partAgent = `#!/bin/sh
prompt=$(cat)
name=$(git branch --show-current); name=${name#ralph/demo-}; name=${name%/e*}
for branch in $(echo "$prompt" | grep -o 'origin/ralph/[a-z0-9/-]*'); do git merge -q -X ours $branch; done
echo $name: $(ls | grep part) >> RUNS
if [ $name = bad ]; then echo 'I cannot do that.'; exit 0; fi
echo $name > $name.part; echo $name > shared
git add $name.part shared; git commit -qm $name
echo '<promise>COMPLETE</promise>'
`

// newFleet submits a fleet of two tasks that conflict, one that needs both, one that fails, and one
// that needs that one. It returns the folder of the person's project.
func newFleet(w *world) (app string) {
	w.t.Helper()
	p := w.person
	p.Run(p.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", "desk")
	app = filepath.Join(p.Dir, "app")
	p.Run(p.Dir, "git", "clone", "-q", w.repository, "app")
	p.Write(filepath.Join(app, "agent.sh"), strings.ReplaceAll(partAgent, "RUNS", w.runs))
	if err := os.Chmod(filepath.Join(app, "agent.sh"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	p.Run(app, "git", "add", "agent.sh")
	p.Run(app, "git", "commit", "-qm", "agent")
	p.Run(app, "git", "push", "-q")
	for name, needs := range map[string]string{"base": "", "left": "base", "right": "base", "both": "left, right", "bad": "base", "worse": "bad"} {
		text := "Do " + name + ".\n"
		if needs != "" {
			text = "dependsOn: " + needs + "\n" + text
		}
		p.Write(filepath.Join(app, "tasks", name+".md"), text)
	}
	p.Run(app, "ralph-pool", "account", "team", "--limit", "60")
	out := p.Run(app, "ralph-pool", "submit", "--fleet", "demo", "tasks", "-a", "./agent.sh", "-m", "1", "--account", "team", "--budget", "10")
	if lines := strings.Split(out, "\n"); len(lines) != 6 || !strings.HasSuffix(lines[0], "  demo-base") {
		w.t.Fatal(out)
	}
	return app
}

// A fleet runs on two hosts whose workers are killed: each part runs once, from the work of those
// that it needs.
func TestFleetOnWorkers(t *testing.T) {
	program(t)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "a@b")
	}
	w := newWorld(t, "")
	app := newFleet(w)
	hosts := map[string]*pooltest.Host{"mill": w.host("mill"), "kiln": w.host("kiln")}
	for name, h := range hosts {
		h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", name)
	}
	random, killed := rand.New(rand.NewPCG(*fleetSeed, 5)), 0
	var whole listing.Row
	for round := 0; ; round++ {
		for _, name := range []string{"mill", "kiln"} {
			at := 0 // is never reached
			if round < 4 {
				at = 1 + random.IntN(12)
			}
			process, out := w.process(hosts[name], name, 2, at, true)
			if err := process.Wait(); err != nil && err.Error() == "signal: killed" {
				killed++
			} else if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			hosts[name].Run(hosts[name].Dir, "ralph-pool", "mirror", "--once")
		}
		var rows []listing.Row
		if err := json.Unmarshal([]byte(w.person.Run(app, "ralph-pool", "list", "--json")), &rows); err != nil || len(rows) != 1 {
			t.Fatalf("%+v, %v", rows, err)
		}
		whole = rows[0]
		if whole.State == "4 of 6 completed, 1 failed, 1 stopped" {
			break
		}
		if round == 30 {
			t.Fatalf("the fleet does not end: %s\n%s", whole.State, w.person.Run(app, "ralph-pool", "list"))
		}
	}
	if killed == 0 {
		t.Error("no worker was killed")
	}
	text, err := os.ReadFile(w.runs)
	if err != nil {
		t.Fatal(err)
	}
	ran := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(ran)
	want := []string{"bad: base.part", "base:", "both: base.part left.part right.part", "left: base.part", "right: base.part"}
	if !slices.Equal(ran, want) {
		t.Errorf("%q ran, want %q", ran, want)
	}
	if whole.Name != "demo" || whole.Group != projector.NeedsYou || len(whole.Parts) != 6 {
		t.Errorf("%+v", whole)
	}
	table := w.person.Run(app, "ralph-pool", "list")
	for _, want := range []string{"  demo-both", "does not begin: it needs demo-bad: "} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	if out := w.person.Run(app, "ralph-pool", "status"); !strings.Contains(out, "4 of 6 completed, 1 failed, 1 stopped") {
		t.Error(out)
	}
	if out, err := w.person.Try(app, "ralph-pool", "submit", "--fleet", "demo", "tasks", "-a", "./agent.sh"); err == nil || !strings.Contains(out, "choose another name") {
		t.Errorf("submitted again: %v: %s", err, out)
	}
	// A cost that is not known is the whole budget; nothing is reserved for the stopped part.
	if a, err := queue.ReadAccount(t.Context(), w.store, "team"); err != nil || a.Spent != 50 || len(a.Reserved) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	t.Logf("%d workers were killed", killed)
}
