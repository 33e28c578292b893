package report_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/report"
)

// readSuite is what a CI system reads.
type readSuite struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Out      string `xml:"system-out"`
	Cases    []struct {
		Name    string `xml:"name,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
			Text    string `xml:",chardata"`
		} `xml:"failure"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
	} `xml:"testcase"`
}

func junit(t *testing.T, r *report.Report) (text []byte, s readSuite) {
	t.Helper()
	var b bytes.Buffer
	if err := report.JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Suites []readSuite `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &all); err != nil || len(all.Suites) != 1 {
		t.Fatalf("%v, %d suites\n%s", err, len(all.Suites), b.String())
	}
	return b.Bytes(), all.Suites[0]
}

func TestJUnitOfFailedLoop(t *testing.T) {
	r := fold(t, overspent())
	r.Judge(report.Facts{Name: "shop/night"})
	text, s := junit(t, r)
	golden(t, "night.junit.xml", text)
	if s.Tests != len(s.Cases) || s.Failures == 0 {
		t.Errorf("%d tests in %d cases, %d failures", s.Tests, len(s.Cases), s.Failures)
	}
}

func TestJUnitOfCompletedLoop(t *testing.T) {
	r := fold(t, events(
		step{0, started(event.Rules{})},
		step{time.Second, event.IterationStarted{N: 1}},
		step{time.Second, event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Error: "\x1b[31mbroke\x1b[0m \x00\ufffe", Took: 1000}},
		step{time.Second, event.IterationStarted{N: 2}},
		step{time.Second, event.IterationEnded{N: 2, Outcome: event.OutcomeDone, Took: 1000}},
		step{0, event.LoopEnded{Status: event.StatusCompleted, Reason: "promise", Why: "done"}},
	))
	r.Judge(report.Facts{Name: "night"})
	text, s := junit(t, r)
	if s.Failures != 0 || s.Skipped != 1 || s.Tests != 3 {
		t.Errorf("%d failures, %d skipped of %d\n%s", s.Failures, s.Skipped, s.Tests, text)
	}
	if strings.ContainsAny(string(text), "\x1b\x00\ufffe") {
		t.Errorf("it has characters that XML forbids: %q", text)
	}
}
