package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Files of the folder results.
const (
	journalsFile = "journals.tar.zst" // the journals of all trials, and of ralph's loops in them
	trialsFile   = "trials.tsv"       // a line for each trial
)

// publish packs the journals of a folder, and writes the figures that follow from them.
func publish(out, results, page string) error {
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	path := filepath.Join(results, journalsFile)
	if err := pack(out, path); err != nil {
		return fmt.Errorf("pack the journals of %s: %w", out, err)
	}
	all, err := unpack(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(results, trialsFile), []byte(listTrials(all)), 0o644); err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	updated, err := fillPage(string(text), all)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(updated), 0o644)
}

// check recomputes what is published from the published journals, and compares.
func check(results, page string) error {
	all, err := unpack(filepath.Join(results, journalsFile))
	if err != nil {
		return err
	}
	if text, err := os.ReadFile(filepath.Join(results, trialsFile)); err != nil || string(text) != listTrials(all) {
		return errors.Join(err, fmt.Errorf("%s is not what the journals say: 'loop publish' writes it", trialsFile))
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if again, err := fillPage(string(text), all); err != nil || again != string(text) {
		return errors.Join(err, fmt.Errorf("the figures of %s are not what the journals say: 'loop publish' writes them", page))
	}
	fmt.Printf("bench: the figures are those of the journals of %d trials\n", len(all))
	return nil
}

// pack writes the journals of the trials that came to their end.
func pack(out, path string) error {
	var raw bytes.Buffer
	w, err := zstd.NewWriter(&raw, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(zstd.MaxWindowSize>>3))
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	names, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !ended(filepath.Join(out, filepath.Base(name)[:4]+".jsonl")) {
			continue
		}
		text, err := readPublished(name)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: filepath.Base(name), Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), w.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, raw.Bytes(), 0o644)
}

// publishedTypes are the events of ralph's journals that are published: those that figures depend
// on, and those that say how the loop went. Complete journals are three times as large, compressed.
var publishedTypes = []event.Type{
	event.TypeLoopStarted, event.TypeLoopResumed, event.TypeLoopWaiting, event.TypeLoopWaited, event.TypeLoopEnded,
	event.TypeIterationStarted, event.TypeIterationEnded, event.TypeAgentStarted, event.TypeAgentParked, event.TypeAgentExited,
	event.TypeAgentUsed, event.TypeAgentLimited, event.TypeDecided,
	event.TypeGuardrailStarted, event.TypeGuardrailEnded, event.TypeHoldoutChecked, event.TypeCompletionClaimed, event.TypeCompletionRefused,
}

// readPublished returns what is published of a file: of a journal of ralph the lines of some types.
func readPublished(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil || !strings.HasSuffix(name, ".ralph.jsonl") {
		return text, err
	}
	var kept bytes.Buffer
	for e, err := range journal.ReadStream(bytes.NewReader(text), name) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(publishedTypes, e.Type) && (e.Type != event.TypeDecided || string(e.Field("do")) == string(event.DoHoldout)) {
			kept.Write(e.Line())
			kept.WriteByte('\n')
		}
	}
	return kept.Bytes(), nil
}

// readEvents returns the events of a published journal.
func readEvents(from io.Reader) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if e, err := event.Parse(lines.Bytes()); !yield(e, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(event.Event{}, err)
		}
	}
}

// unpack reads the journals and learns the facts of each trial. The trials are those of the design.
func unpack(path string) (group, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(zstd.MaxWindowSize>>3))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	planned := design(tasks())
	var all group
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if strings.HasSuffix(header.Name, ".ralph.jsonl") {
			if len(all) == 0 || header.Name != fmt.Sprintf("%04d.ralph.jsonl", all[len(all)-1].N) {
				return nil, fmt.Errorf("%s has no trial before it", header.Name)
			}
			if err := all[len(all)-1].learnRalph(readEvents(archive)); err != nil {
				return nil, fmt.Errorf("%s: %w", header.Name, err)
			}
			continue
		}
		entries, err := readEntries(archive)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		f, err := learn(entries)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		if f.N < 1 || f.N > len(planned) || planned[f.N-1] != f.trial {
			return nil, fmt.Errorf("%s is not trial %d of the design", header.Name, f.N)
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no trial", path)
	}
	return all, nil
}

// listTrials has a line for each trial.
func listTrials(all group) string {
	var b strings.Builder
	b.WriteString("n\tblock\ttask\tarm\tmodel\tλ\tsaid\tright\tend\twall ms\ttokens\tafter\tusd\tpersons\tfaults\n")
	for _, f := range all {
		fmt.Fprintf(&b, "%d\t%d\t%s\t%s\t%s\t%g\t%t\t%t\t%s\t%d\t%d\t%d\t%.4f\t%d\t%s\n", f.N, f.Block, f.Task, f.Arm, f.Model, f.Rate, f.said, f.right,
			f.end, f.wall.Milliseconds(), f.in+f.out, f.after, f.usd, f.persons, strings.Join(f.faults, ","))
	}
	return b.String()
}

// complete leaves out blocks of which not all trials are there.
func complete(all group) group {
	planned, played := map[int]int{}, map[int]int{}
	for _, t := range design(tasks()) {
		planned[t.Block]++
	}
	for _, f := range all {
		played[f.Block]++
	}
	return all.where(func(f facts) bool { return played[f.Block] == planned[f.Block] })
}

// fillPage replaces what is between the marks of each section of the page.
func fillPage(page string, all group) (string, error) {
	for name, section := range sections(complete(all), len(all)) {
		begin, end := fmt.Sprintf("<!-- figures: %s -->\n", name), "\n<!-- end of figures -->"
		before, rest, ok := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("there is no place for the figures %q", name)
		}
		page = before + begin + section + end + after
	}
	return page, nil
}

// sections are the tables of the page.
func sections(g group, all int) map[string]string {
	main := g.where(func(f facts) bool { return slices.Contains(mainArms, f.Arm) })
	calm := g.where(func(f facts) bool { return f.Rate == 0 })
	count := fmt.Sprintf("%d of %d trials were played; the figures are of the %d in complete blocks. In %d of the %d trials without faults the machine\n"+
		"was so busy that an agent dropped a request, and sent it again.", all, blocks*64, len(g), calm.count(func(f facts) bool { return f.late }), len(calm))
	return map[string]string{
		"count": count, "arms": armsTable(main), "faults": ratesTable(main) + kindsTable(main), "models": modelsTable(main),
		"differences": differencesTable(main), "ralph": ralphTable(g), "ablations": ablationsTable(g),
		"verdicts": verdicts(main, g), "limits": limitsTable(main),
	}
}

func seconds(of func(facts) int64) func(facts) float64 {
	return func(f facts) float64 { return float64(of(f)) / 1000 }
}

func wallOf(f facts) int64   { return f.wall.Milliseconds() }
func activeOf(f facts) int64 { return f.active.Milliseconds() }

func tokensOf(f facts) float64 { return float64(f.in + f.out) }
func usdOf(f facts) float64    { return f.usd }

// after is the mean of the tokens after the first success, of the trials that had one.
func (g group) after() float64 {
	early := g.where(func(f facts) bool { return f.early })
	return early.sum(func(f facts) float64 { return float64(f.after) }) / float64(len(early))
}

func armsTable(g group) string {
	t := &table{}
	t.head("arm", "verified", "false done", "mean gap", "protected files touched", "pass^5", "$ per verified", "tokens per verified", "tokens after success",
		"wall time s", "active s")
	for _, arm := range mainArms {
		a := g.arm(arm)
		said := a.where(func(f facts) bool { return f.said })
		verified := float64(a.count(facts.verified))
		t.row("`"+arm+"`", of(a.count(facts.verified), len(a.solvable())), of(a.count(facts.falseDone), len(a)),
			said.sum(func(f facts) float64 { return f.gap })/float64(len(said)), a.count(func(f facts) bool { return f.protected }), a.passAll(5),
			a.sum(usdOf)/verified, a.sum(tokensOf)/verified, a.after(), a.median(seconds(wallOf)), a.median(seconds(activeOf)))
	}
	return t.String()
}

func ratesTable(g group) string {
	t := &table{}
	t.head("arm", "verified, λ = 0", "λ = 0.05", "λ = 0.2", "false done, λ = 0", "λ = 0.05", "λ = 0.2", "with a fault: verified",
		"a person had to come")
	for _, arm := range mainArms {
		a := g.arm(arm)
		cells := []any{"`" + arm + "`"}
		for _, measured := range []struct {
			of  group
			has func(facts) bool
		}{{a.solvable(), facts.verified}, {a, facts.falseDone}} {
			for _, rate := range rates {
				at := measured.of.where(func(f facts) bool { return f.Rate == rate })
				cells = append(cells, of(at.count(measured.has), len(at)))
			}
		}
		met := a.solvable().where(func(f facts) bool { return len(f.faults) > 0 })
		t.row(append(cells, of(met.count(facts.verified), len(met)), int(a.sum(func(f facts) float64 { return float64(f.persons) })))...)
	}
	return t.String()
}

// A measure is a row of a table with a column for each main arm.
type measure struct {
	name string
	cell func(arm group) string
}

func (g group) cross(title string, rows []measure) string {
	t := &table{}
	cells := []any{title}
	for _, arm := range mainArms {
		cells = append(cells, "`"+arm+"`")
	}
	t.head(cells...)
	for _, row := range rows {
		cells := []any{row.name}
		for _, arm := range mainArms {
			cells = append(cells, row.cell(g.arm(arm)))
		}
		t.row(cells...)
	}
	return t.String()
}

func kindsTable(g group) string {
	var rows []measure
	for _, kind := range faults {
		rows = append(rows, measure{"`" + kind + "`", func(arm group) string {
			met := arm.solvable().where(func(f facts) bool { return slices.Contains(f.faults, kind) })
			return of(met.count(facts.verified), len(met))
		}})
	}
	return g.cross("fault", rows)
}

func modelsTable(g group) string {
	var rows []measure
	for _, model := range models {
		rows = append(rows, measure{"`" + model + "`", func(arm group) string {
			a := arm.where(func(f facts) bool { return f.Model == model })
			return fmt.Sprintf("%d + %d of %d", a.count(facts.verified), a.count(facts.falseDone), len(a))
		}})
	}
	return g.cross("model", rows)
}

// limitsTable has what ralph is not better at, and what its lead depends on.
func limitsTable(g group) string {
	said := func(keep func(facts) bool) func(group) string {
		return func(arm group) string {
			a := arm.where(keep)
			return of(a.count(func(f facts) bool { return f.said }), len(a))
		}
	}
	easy := func(f facts) bool { return f.Model != "looping" && f.solvable() }
	return g.cross("", []measure{
		{"says done, rightly or not: λ = 0", said(func(f facts) bool { return f.Rate == 0 })},
		{"λ = 0.05", said(func(f facts) bool { return f.Rate == 0.05 })},
		{"λ = 0.2", said(func(f facts) bool { return f.Rate == 0.2 })},
		{"λ above 0, `honest` and `forgetful`, solvable tasks", said(func(f facts) bool {
			return f.Rate > 0 && (f.Model == "honest" || f.Model == "forgetful") && f.solvable()
		})},
		{"of the task that is already done", said(func(f facts) bool { return f.Task == "done" })},
		{"of the impossible task", said(func(f facts) bool { return !f.solvable() })},
		{"ended by the bound of money or time", func(arm group) string {
			return of(arm.count(func(f facts) bool { return f.end == "money" || f.end == "time" }), len(arm))
		}},
		{"$ for a trial of the looping model", func(arm group) string {
			a := arm.where(func(f facts) bool { return f.Model == "looping" })
			return shortNumber(a.sum(usdOf) / float64(len(a)))
		}},
		{"$ per verified task, without that model and the impossible task", func(arm group) string {
			a := arm.where(easy)
			return shortNumber(a.sum(usdOf) / float64(a.count(facts.verified)))
		}},
		{"tokens of a request, median of trials", func(arm group) string {
			return shortNumber(arm.median(func(f facts) float64 { return tokensOf(f) / float64(max(1, f.answers)) }))
		}},
		{"wall time, mean s", func(arm group) string {
			return shortNumber(arm.sum(seconds(wallOf)) / float64(len(arm)))
		}},
	})
}

func differencesTable(g group) string {
	t := &table{}
	t.head("`heldout` less", "verified, points", "false done, points")
	for _, arm := range mainArms[:4] {
		t.row("`"+arm+"`", g.solvable().compare("heldout", arm, facts.verified), g.compare("heldout", arm, facts.falseDone))
	}
	return t.String()
}

func ablationsTable(g group) string {
	t := &table{}
	t.head("arm", "verified", "false done", "waits for a person", "$ per verified", "tokens after success", "refusals")
	for _, arm := range append([]string{"heldout"}, ablations...) {
		a := g.arm(arm).where(func(f facts) bool { return ablated[f.Task] })
		t.row("`"+arm+"`", of(a.count(facts.verified), len(a)), of(a.count(facts.falseDone), len(a)), a.count(func(f facts) bool { return f.end == "person" }),
			a.sum(usdOf)/float64(a.count(facts.verified)), a.after(), int(a.sum(func(f facts) float64 { return float64(f.refusals) })))
	}
	return t.String()
}
