package conformance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/conformance"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

var update = flag.Bool("update", false, "write the corpus again")

// groups are the folders of the corpus.
var groups = []string{"accept", "must-reject", "inbox", "registry"}

// made is a case as the packages that write real loops make it.
type made struct {
	name, kind, about string
	requirements      string // separated by spaces
	files             files
	code              string // of a case that must be rejected
	needs             string
	hold              []string
	pad               map[string]int
}

// madeCases makes all of them, once.
func madeCases(t *testing.T) []made {
	if allCases == nil {
		allCases = slices.Concat(acceptCases(t), rejectCases(t), rejectedCommands(t), rejectedEntries(), inboxCases(t), registryCases())
	}
	return allCases
}

var allCases []made

// TestCorpusIsWhatWritersWrite makes each case again and compares it with the files in this folder;
// with -update it replaces these. The answers are those of ralph's own packages.
func TestCorpusIsWhatWritersWrite(t *testing.T) {
	want := files{}
	for _, m := range madeCases(t) {
		dir := t.TempDir()
		padded := maps.Clone(m.files)
		for name, size := range m.pad {
			padded[name] = append(bytes.Clone(padded[name]), bytes.Repeat([]byte(" "), size-len(padded[name]))...)
		}
		write(t, dir, padded)
		for _, name := range m.hold {
			defer hold(t, filepath.Join(dir, name))()
		}
		found := answer(t, m.kind, dir)
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		if m.code != "" && !strings.Contains(string(text), `"code":"`+m.code+`"`) || m.code == "" && bytes.Contains(text, []byte(`"code":`)) {
			t.Errorf("%s: want code %q in %s", m.name, m.code, text)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(conformance.Case{
			Kind: m.kind, About: m.about, Requirements: strings.Fields(m.requirements), Needs: m.needs, Hold: m.hold, Pad: m.pad, Answer: text,
		})
		if err != nil {
			t.Fatal(err)
		}
		if want[m.name+"/expect.json"] != nil {
			t.Fatalf("two cases are called %s", m.name)
		}
		want[m.name+"/expect.json"] = b.Bytes()
		for name, text := range m.files {
			want[m.name+"/"+name] = text
		}
	}
	if *update && !t.Failed() {
		for _, group := range groups {
			if err := os.RemoveAll(group); err != nil {
				t.Fatal(err)
			}
		}
		write(t, ".", want)
	}
	have := files{}
	for _, group := range groups {
		maps.Copy(have, read(t, group, group+"/"))
	}
	var stale []string
	for name := range want {
		if !bytes.Equal(have[name], want[name]) {
			stale = append(stale, name)
		}
		delete(have, name)
	}
	if stale = slices.Sorted(slices.Values(slices.AppendSeq(stale, maps.Keys(have)))); len(stale) > 0 {
		t.Errorf("%d files are not what is written today, such as %s; read the difference after 'go test ./conformance -update'", len(stale), stale[0])
	}
}

var (
	requirement = regexp.MustCompile(`(?m)^\| ([JVIR]-\d\d) \|(.*)\|(.*)\|$`)
	codeInTable = regexp.MustCompile("`([a-z0-9-]+)`")
	codeInGo    = regexp.MustCompile(`(?m)Code = "([a-z-]+)"|(?:wrong\(|EntryError\{file, |return )"([a-z0-9]+-[a-z0-9-]+)"`)
)

// TestRequirementsAreCovered holds the page, the packages and the corpus against each other.
func TestRequirementsAreCovered(t *testing.T) {
	page := testfile.Read(t, "../docs/reference/format.md")
	codes := map[string]string{} // the requirement of each
	stated := map[string]bool{}
	for _, row := range requirement.FindAllStringSubmatch(string(page), -1) {
		if stated[row[1]] {
			t.Errorf("two requirements are called %s", row[1])
		}
		stated[row[1]] = true
		for _, code := range codeInTable.FindAllStringSubmatch(row[3], -1) {
			if codes[code[1]] != "" {
				t.Errorf("code %s belongs to %s and to %s", code[1], codes[code[1]], row[1])
			}
			codes[code[1]] = row[1]
		}
	}
	if len(stated) < 30 || len(codes) < 30 {
		t.Fatalf("the page has %d requirements and %d codes", len(stated), len(codes))
	}
	cases, rejected := map[string]bool{}, map[string]bool{}
	for _, m := range madeCases(t) {
		for _, id := range strings.Fields(m.requirements) {
			if cases[id] = true; !stated[id] {
				t.Errorf("%s is about %s, which is no requirement", m.name, id)
			}
		}
		if rejected[m.code] = true; m.code != "" && !strings.Contains(m.requirements, codes[m.code]) || m.code != "" && codes[m.code] == "" {
			t.Errorf("%s: code %s belongs to requirement %q", m.name, m.code, codes[m.code])
		}
		if (m.code != "") != (path.Dir(m.name) == "must-reject") {
			t.Errorf("%s is in the wrong folder", m.name)
		}
	}
	for id := range stated {
		if !cases[id] {
			t.Errorf("no case is about requirement %s", id)
		}
	}
	for code := range codes {
		if !rejected[code] {
			t.Errorf("no case has to be rejected with code %s", code)
		}
	}
	for _, code := range codesOfPackages(t) {
		if codes[code] == "" {
			t.Errorf("the page does not have code %s", code)
		}
	}
}

// codesOfPackages returns the codes in the source of the packages that read the files.
func codesOfPackages(t *testing.T) (codes []string) {
	for _, name := range []string{"journal/errors.go", "inbox/command.go", "inbox/box.go", "registry/entry.go", "registry/survey.go"} {
		source := testfile.Read(t, "../"+name)
		found := codeInGo.FindAllStringSubmatch(string(source), -1)
		if len(found) == 0 {
			t.Errorf("no code is found in %s", name)
		}
		for _, match := range found {
			codes = append(codes, match[1]+match[2])
		}
	}
	return codes
}

// The corpus that the program contains is complete, and each right answer is judged as right.
func TestCasesAreEmbedded(t *testing.T) {
	cases, err := conformance.Cases()
	if err != nil || len(cases) < 80 || conformance.Version() == "" {
		t.Fatalf("%d cases of version %q, %v", len(cases), conformance.Version(), err)
	}
	for _, c := range cases {
		dir := filepath.Join(t.TempDir(), "case")
		if err := c.Write(dir); err != nil {
			t.Fatal(err)
		}
		want := read(t, c.Name, "")
		delete(want, "expect.json")
		for name, text := range read(t, dir, "") {
			if size, padded := c.Pad[name]; !bytes.HasPrefix(text, want[name]) || len(text) != max(size, len(want[name])) || !padded && !bytes.Equal(text, want[name]) {
				t.Errorf("%s: %s was not written as it is", c.Name, name)
			}
			delete(want, name)
		}
		if len(want) > 0 {
			t.Errorf("%s: not written: %v", c.Name, slices.Sorted(maps.Keys(want)))
		}
		if problem := c.Judge(c.Answer); problem != "" {
			t.Errorf("%s: %s", c.Name, problem)
		}
	}
}

func TestJudgeFindsDifference(t *testing.T) {
	c := conformance.Case{Answer: json.RawMessage(`{"a":{"b":[1,null]},"c":0.3}`)}
	for answer, want := range map[string]string{
		`{"a":{"b":[1,null],"more":1},"c":0.30000000000000004}`: "",
		`{"a":{"b":[2,null]},"c":0.3}`:                          "a.b[0] is 2 instead of 1",
		`{"a":{"b":[1]},"c":0.3}`:                               "a.b is [1] instead of [1,null]",
		`{"a":{"b":[1,false]},"c":0.3}`:                         "a.b[1] is false instead of null",
		`{"a":{},"c":0.3}`:                                      "a.b is missing",
		`{"a":[],"c":0.3}`:                                      `a is [] instead of {"b":[1,null]}`,
		`{"a":{"b":[1,null]},"c":"0.3"}`:                        `c is "0.3" instead of 0.3`,
		`[]`:                                                    ` is [] instead of {"a":{"b":[1,null]},"c":0.3}`,
		`nothing`:                                               "the answer is not JSON: invalid character 'o' in literal null (expecting 'u')",
	} {
		if got := c.Judge([]byte(answer)); got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}
