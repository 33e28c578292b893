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
	// To its end, where the checksum of all of it is compared.
	n, err := io.Copy(io.Discard, r)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d bytes follow its last file", n)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
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

// complete leaves out blocks that lack a trial.
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
