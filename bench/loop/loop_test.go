package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The test's own program is the agent where it is called as claude.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "claude" {
		os.Exit(agentMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func TestJudgeSeparatesSolutions(t *testing.T) {
	for _, task := range tasks() {
		for state, want := range map[int][2]bool{full: {true, true}, shallow: {true, false}, absent: {false, false}} {
			states := make([]int, len(task.parts))
			for i := range states {
				states[i] = state
			}
			app := task.program(states)
			if got := task.states(app); fmt.Sprint(got) != fmt.Sprint(states) {
				t.Errorf("%s: the states %v are read as %v", task.name, states, got)
			}
			project, files := t.TempDir(), task.files()
			files["app.sh"] = app
			if err := writeFiles(project, files); err != nil {
				t.Fatal(err)
			}
			v, err := task.judge(t.TempDir(), project)
			if err != nil {
				t.Fatal(err)
			}
			visible, hidden := v.Visible[0] == v.Visible[1], v.Hidden[0] == v.Hidden[1]
			if want[0] = want[0] && !task.impossible; visible != want[0] || hidden != want[1] || len(v.Protected) > 0 {
				t.Errorf("%s with all parts in state %d: %+v", task.name, state, v)
			}
		}
	}
}

func TestDesignIsBalanced(t *testing.T) {
	all := design(tasks())
	if len(all) != 640 {
		t.Errorf("%d trials", len(all))
	}
	byRate, byModel, conditions := map[string]int{}, map[string]int{}, map[string]string{}
	for _, x := range all {
		if x.Arm == "heldout" {
			byRate[fmt.Sprint(x.Block, x.Rate)]++
		}
		byModel[x.Task+x.Arm+x.Model]++
		pair, condition := fmt.Sprint(x.Block, x.Task), fmt.Sprint(x.Model, x.Rate, x.Seed)
		if known := conditions[pair]; known != "" && known != condition {
			t.Errorf("the arms of block and task %s differ: %s and %s", pair, known, condition)
		}
		conditions[pair] = condition
	}
	for rate, n := range byRate {
		if n != 4 {
			t.Errorf("%d tasks at block and rate %s", n, rate)
		}
	}
	for name, n := range byModel {
		if n != 2 {
			t.Errorf("%s is played %d times", name, n)
		}
	}
}

func TestFactsOfJournal(t *testing.T) {
	const text = `{"ms":0,"type":"trial.started","trial":{"n":1,"block":1,"task":"s1","arm":"once","model":"honest","rate":0,"seed":1}}
{"ms":0,"type":"loop.started"}
{"ms":10,"type":"model.asked","n":1}
{"ms":20,"type":"model.answered","n":1,"in":100,"out":10}
{"ms":2020,"type":"judged","verdict":{"visible":[2,2],"hidden":[4,4]}}
{"ms":2020,"type":"model.asked","n":2,"fault":"529"}
{"ms":2030,"type":"model.answered","n":2,"in":200,"out":20,"claim":true}
{"ms":2040,"type":"loop.exited","code":0}
{"ms":2050,"type":"judged","verdict":{"visible":[2,2],"hidden":[1,4],"protected":["tests/cases.txt"]}}
{"ms":2060,"type":"trial.ended","why":"exit"}
`
	entries, err := readEntries(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := learn(entries)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(f.said, f.right, f.early, f.falseDone(), f.gap, f.protected, f.in, f.out, f.after, f.faults, f.wall, f.active)
	if want := "true false true true 0.75 true 300 30 220 [529] 2.06s 60ms"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := learn(entries[:len(entries)-1]); err == nil {
		t.Error("a journal without an end is taken")
	}
	if _, err := readEntries(strings.NewReader(`{"ms":0,"type":"judged","extra":1}`)); err == nil {
		t.Error("an unknown key is taken")
	}
}

func TestPairedDifferences(t *testing.T) {
	var g group
	for i := range 6 {
		for _, arm := range []string{"one", "two"} {
			g = append(g, facts{trial: trial{Block: 1, Task: fmt.Sprint("t", i), Arm: arm}, said: true, right: arm == "one" || i < 3})
		}
	}
	if d := g.compare("one", "two", facts.verified); d.mean != 0.5 || d.low >= d.mean || d.high <= d.mean {
		t.Errorf("%+v", d)
	}
	for arm, want := range map[string]string{"one": "1.00", "two": "0.50"} {
		if got := shortNumber(g.arm(arm).passAll(1)); got != want {
			t.Errorf("pass^1 of arm %s: %s, want %s", arm, got, want)
		}
	}
}

// What is published has to differ from what is checked, or the check cannot fail.
func TestCheckRefusesChanges(t *testing.T) {
	page, err := os.ReadFile("../../docs/experiment.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join("results", trialsFile))
	if err != nil {
		t.Fatal(err)
	}
	journals, err := os.ReadFile(filepath.Join("results", journalsFile))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) string { // one bit of the archive is another one
		changed := bytes.Clone(journals)
		changed[at] ^= 1
		return string(changed)
	}
	half := len(journals) / 2
	for name, files := range map[string][3]string{
		"as published":            {string(page), string(list), string(journals)},
		"page":                    {strings.Replace(string(page), "| `heldout` | ", "| `heldout` | 1", 1), string(list), string(journals)},
		"list":                    {string(page), strings.Replace(string(list), "\ttrue\t", "\tfalse\t", 1), string(journals)},
		"middle of the archive":   {string(page), string(list), flip(half)},
		"checksum of the archive": {string(page), string(list), flip(len(journals) - 1)},
		"more in the archive":     {string(page), string(list), string(journals) + "more"},
	} {
		dir := t.TempDir()
		if err := writeFiles(dir, map[string]string{"page.md": files[0], trialsFile: files[1], journalsFile: files[2]}); err != nil {
			t.Fatal(err)
		}
		if err := check(dir, filepath.Join(dir, "page.md")); (err == nil) != (name == "as published") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A figure beside the marks would be recomputed by no check. Those of the first play, at the end,
// are in a commit.
func TestProseHasNoFigures(t *testing.T) {
	text, err := os.ReadFile("../../docs/experiment.md")
	if err != nil {
		t.Fatal(err)
	}
	page, _, found := strings.Cut(string(text), "\n## What differs from the plan\n")
	sections := regexp.MustCompile(`(?s)<!-- figures: .*?<!-- end of figures -->`)
	if !found || len(sections.FindAllString(page, -1)) < 9 {
		t.Fatal("the page has other parts than this test knows")
	}
	page = strings.ReplaceAll(sections.ReplaceAllString(page, ""), "$0.30", "the bound")
	if figures := regexp.MustCompile(`\d+ of \d+|\d+ dones|\d\.\d+`).FindAllString(page, -1); figures != nil {
		t.Errorf("beside the marks are %q", figures)
	}
}

// ralph's journal and that of the trial have to agree.
func TestJournalsHaveToAgree(t *testing.T) {
	file, err := os.Open(filepath.Join("results", journalsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	archive, header := tar.NewReader(r), &tar.Header{}
	for !strings.HasSuffix(header.Name, ".ralph.jsonl") { // the first is of a loop that did not complete
		if header, err = archive.Next(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		f     facts
		wrong bool
	}{
		"as played":           {facts{usd: 1}, false},
		"a done that was not": {facts{usd: 1, said: true}, true},
		"less money":          {facts{}, true},
	} {
		if err := row.f.learnRalph(readEvents(bytes.NewReader(text))); (err != nil) != row.wrong {
			t.Errorf("%s: %v", name, err)
		}
		if row.f.iterations == 0 || row.f.known == 0 {
			t.Errorf("%s: %+v", name, row.f)
		}
	}
}

// servers begins the proxy for trials of a setup.
func servers(t *testing.T, s *setup) (all *plays, proxy string) {
	t.Helper()
	var err error
	if s.self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	s.out = t.TempDir()
	all = &plays{setup: s, tasks: tasks(), now: map[int]*play{}}
	if proxy, err = serve(t.Context(), all.proxy); err != nil {
		t.Fatal(err)
	}
	return all, proxy
}

// playOne plays a trial and returns its facts.
func playOne(t *testing.T, all *plays, proxy string, x trial) facts {
	t.Helper()
	if err := all.one(t.Context(), x, proxy); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(all.setup.out, fmt.Sprintf("%04d.jsonl", x.N)))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readEntries(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := learn(entries)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return f
}

// Trials without ralph, with real processes, the proxy and the model server, and without faults.
func TestTrialsArePlayed(t *testing.T) {
	all, proxy := servers(t, &setup{})
	var err error
	if all.setup.model, err = serve(t.Context(), all.answer); err != nil {
		t.Fatal(err)
	}
	for i, arm := range []string{"once", "goal", "while"} {
		f := playOne(t, all, proxy, trial{N: i + 1, Block: 1, Task: "done", Arm: arm, Model: "honest", Seed: 7})
		if !f.verified() || f.in == 0 || f.end != "exit" {
			t.Errorf("%s: %+v", arm, f)
		}
	}
}

// With a key, the proxy alone has it, and asks the model API under its own address.
func TestProxySendsTheKey(t *testing.T) {
	all, proxy := servers(t, &setup{key: "a-real-key", agentModel: "m"})
	all.setup.agent = all.setup.self
	script := &script{trial: trial{Model: "honest"}, task: all.tasks[len(all.tasks)-1]}
	var wrong atomic.Value
	var err error
	all.setup.model, err = serve(t.Context(), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "a-real-key" {
			wrong.Store(r.URL.Path + " with the key " + r.Header.Get("X-Api-Key"))
		}
		serveModel(w, r, script)
	})
	if err != nil {
		t.Fatal(err)
	}
	f := playOne(t, all, proxy, trial{N: 1, Block: 1, Task: "done", Arm: "once", Model: "honest", Seed: 7})
	if !f.verified() || f.in == 0 || wrong.Load() != nil {
		t.Errorf("%+v, and the model API was asked for %v", f, wrong.Load())
	}
}
