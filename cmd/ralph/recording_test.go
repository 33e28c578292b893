package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/castsvg"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/frame"
	"github.com/ralph-loop/ralph/internal/journaltool"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/cast"
)

// The image in the README is the recording of a run that is among the tests' files.
const (
	recordedRun   = "../../render/testdata/runs/demo.jsonl"
	recordedImage = "../../docs/images/attach.svg"
	imageMost     = 300_000 // bytes
)

func TestRecordingIsCurrent(t *testing.T) {
	image := imageOf(t, sealed(t, recordedRun))
	if len(image) > imageMost {
		t.Errorf("the image has %d bytes", len(image))
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(recordedImage), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(recordedImage, image, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(recordedImage)
	if err != nil || !bytes.Equal(have, image) {
		t.Errorf("%s is not what ralph replay --cast records today (%v): make recording", recordedImage, err)
	}
}

// imageOf records the replay of a journal, and draws it.
func imageOf(t *testing.T, journal []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	e := &cli.Env{Stdin: bytes.NewReader(journal), Stdout: &out, Stderr: os.Stderr}
	src, err := journaltool.Open(e, "-")
	if err != nil {
		t.Fatal(err)
	}
	o := journaltool.CastOptions{File: "-", Size: "100x28", Idle: 1200 * time.Millisecond, View: render.Options{Color: true, Location: time.UTC}}
	if err := journaltool.Cast(e, src, journaltool.ReplayOptions{Speed: 1.5}, o); err != nil {
		t.Fatal(err)
	}
	made, err := cast.Parse(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	image, err := castsvg.Draw(made, castsvg.Options{
		Title: "ralph attach: an agent writes a script, tests it, sees the test fail, corrects the script, and is done after three iterations",
		Frame: 100 * time.Millisecond, Hold: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(image)
}

// sealed is a journal whose lines have right checksums. Those of the tests' files were changed.
func sealed(t *testing.T, path string) (journal []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var crc uint32
	for line := range bytes.Lines(text) {
		e, err := event.Parse(bytes.TrimSuffix(line, []byte{'\n'}))
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == event.TypeSegmentOpened {
			crc = 0
		}
		at := frame.Stamp{Seq: e.Seq, ID: [26]byte([]byte(e.ID())), At: e.At}
		d := event.Draft{Type: e.Type, By: e.By(), Iter: e.Iter, Cause: e.Cause, Data: e.Data(), Raw: e.Raw()}
		journal, crc = frame.Append(journal, at, d, crc)
		journal = append(journal, '\n')
	}
	return journal
}
