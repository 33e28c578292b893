package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// The elements are those that both schemas in use know: that of Ant and that of Jenkins. Both have
// this order of elements, and times without a zone.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   junitSuite
}

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Package    string          `xml:"package,attr"`
	ID         int             `xml:"id,attr"`
	Name       string          `xml:"name,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out"`
	Err        string          `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *junitSkipped `xml:"skipped"`
	Failure *junitFailure `xml:"failure"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report of a loop as JUnit XML, as CI systems read it: a suite, and a case for
// the loop, each iteration, each guardrail and each claim. What a later iteration made good is
// skipped and no failure. A loop that completed has no failure, unless a guardrail failed in its
// last run.
func JUnit(w io.Writer, r *Report) error {
	s := junitSuite{
		Package: "ralph", Name: cmp.Or(cleanLine(r.Name), "loop"), Hostname: cleanLine(cmp.Or(r.Host, "localhost")),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"), Time: seconds(r.Wall),
		Properties: r.junitProperties(), Out: cleanText(r.Sentence + "\n" + needsText(r.Needs)),
	}
	s.add("outcome", "the loop completes", r.Wall, r.junitOutcome())
	for i := range r.Done {
		s.iteration(r, &r.Done[i], i == len(r.Done)-1)
	}
	if r.Open != nil {
		s.add("iteration", fmt.Sprintf("iteration %d", r.Open.N), r.Open.Took, verdict{skipped: "it has not ended"})
	}
	for _, c := range r.Checks {
		var v verdict
		if !c.OK {
			v = verdict{failed: cmp.Or(c.How, "it failed"), text: c.Output}
		}
		s.add("guardrail", c.Name, c.Took, v)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{Suite: s}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// verdict is the result of a case; the zero one is a success.
type verdict struct {
	skipped string // why it says neither success nor failure
	failed  string // why it failed, on one line
	text    string // all that is known of the failure
}

func (s *junitSuite) add(class, name string, took int64, v verdict) {
	c := junitCase{Class: s.Name + "." + class, Name: cleanLine(name), Time: seconds(took)}
	s.Tests++
	switch {
	case v.skipped != "":
		s.Skipped++
		c.Skipped = &junitSkipped{cleanLine(v.skipped)}
	case v.failed != "":
		s.Failures++
		c.Failure = &junitFailure{cleanLine(v.failed), class, cleanText(cmp.Or(v.text, v.failed))}
	}
	s.Cases = append(s.Cases, c)
}

// iteration adds the cases of an iteration that ended: its own, and that of its claim.
func (s *junitSuite) iteration(r *Report, i *Iteration, last bool) {
	name := fmt.Sprintf("iteration %d", i.N)
	completed := r.Status == event.StatusCompleted
	var v verdict
	switch why := strings.TrimSuffix(i.Result()+": "+i.Error, ": "); {
	case i.Outcome == event.OutcomeDone:
	case i.Refunded:
		v.skipped = why
	case completed:
		v.skipped = why + "; the loop completed all the same"
	default:
		v = verdict{failed: why, text: problemsText(why, i.Problems)}
	}
	s.add("iteration", name, i.Took, v)
	if i.Claimed == "" {
		return
	}
	v = verdict{}
	if len(i.Refused) > 0 {
		why := refused(i.Refused...)
		if v.failed, v.text = why, strings.Join(i.Refused, "\n"); completed || !last {
			v = verdict{skipped: why}
		}
	}
	s.add("claim", fmt.Sprintf("claim of %s (%s)", name, i.Claimed), 0, v)
}

// junitOutcome is the case of the loop itself.
func (r *Report) junitOutcome() verdict {
	switch {
	case r.Damage == "" && r.Status == event.StatusCompleted:
		return verdict{}
	case r.Damage == "" && !r.Died && !r.Status.Ended():
		return verdict{skipped: r.Sentence}
	}
	return verdict{failed: r.Sentence, text: r.Sentence + "\n" + needsText(r.Needs)}
}

func (r *Report) junitProperties() []junitProperty {
	all := []junitProperty{
		{"loop", r.ID}, {"status", r.State()}, {"reason", string(r.Reason)},
		{"iterations", units.Count{Begun: r.Begun, Refunded: r.Refunded, Maximum: r.Maximum}.Number()},
		{"cost", r.Used.Cost()}, {"tokens", r.Used.Counted()},
	}
	if s := r.Strength; s != nil {
		all = append(all, junitProperty{"strength", string(s.Grade)}, junitProperty{"done", s.Done()})
	}
	for i := range all {
		all[i].Value = cleanLine(all[i].Value)
	}
	return all
}

func needsText(needs []Need) string {
	var b strings.Builder
	for _, n := range needs {
		fmt.Fprintln(&b, strings.TrimSpace(n.What+"  "+n.Command))
	}
	return b.String()
}

func problemsText(why string, problems []Problem) string {
	var b strings.Builder
	fmt.Fprintln(&b, why)
	for _, p := range problems {
		fmt.Fprintf(&b, "event %d: %s\n", p.Seq, p.Text)
	}
	return b.String()
}

// cleanLine and cleanText remove escape sequences and control characters, which XML forbids. What
// else it forbids becomes U+FFFD when it is written.
func cleanLine(s string) string { return strings.TrimSpace(render.Clean(s)) }

func cleanText(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = render.Clean(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// seconds writes milliseconds as seconds, in the decimal form that the schemas ask for.
func seconds(ms int64) string {
	return strconv.FormatFloat(float64(max(ms, 0))/1000, 'f', 3, 64)
}
