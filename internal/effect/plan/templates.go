package plan

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

//go:embed templates
var templates embed.FS

// Values are put in the place of a template's placeholders. They may be any text.
type Values struct {
	Project string // its name
	Branch  string // that the loop works on
	Date    string // such as 2025-06-15
}

// Template returns a file of the plan as it is before anyone has written in it.
func Template(name string, v Values) []byte {
	text, err := templates.ReadFile("templates/" + name) // an embedded file: always with a slash
	if err != nil {
		panic(fmt.Sprintf("plan: no template %q", name)) // the names are constants of this package
	}
	spell := oneLine
	if filepath.Ext(name) == ".json" {
		spell = inJSON
	}
	return []byte(strings.NewReplacer("{{PROJECT_NAME}}", spell(v.Project), "{{BRANCH}}", spell(v.Branch), "{{DATE}}", spell(v.Date)).Replace(string(text)))
}

// oneLine keeps a folder's name from adding lines to a file, or the end of a comment.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "-->", "->").Replace(units.Cut(text, 200))
}

// inJSON spells a text within the quotes of a JSON string.
func inJSON(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // & and < in a name stay what they are
	_ = encoder.Encode(text)     // a string always encodes
	return strings.Trim(b.String(), "\n")[1 : b.Len()-2]
}

// Made is a file of a plan after [LayOut].
type Made struct {
	Name    string `json:"name"`    // in the folder of the plan
	Created bool   `json:"created"` // it was not there before; else it is as it was
}

// LayOut makes the folder of a project's plan with those of its files that are missing. It changes
// no file that exists. A file that is a folder, a link or a FIFO is a *[safefile.Error]; then it
// makes none.
func LayOut(project string, v Values) ([]Made, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, fmt.Errorf("open the project: %w", err)
	}
	defer root.Close()
	if err := safefile.Mkdir(readable{safefile.Within(root), root}, Folder); err != nil {
		return nil, fmt.Errorf("make %s: %w", Folder, err)
	}
	folder, err := root.OpenRoot(Folder)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Folder, err)
	}
	defer folder.Close()
	var all []Made
	for _, name := range Names {
		f, err := safefile.OpenIn(folder, name)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look at %s/%s: %w", Folder, name, err)
		}
		all = append(all, Made{name, err != nil})
	}
	for _, m := range all {
		if m.Created {
			if err := replace(folder, m.Name, Template(m.Name, v)); err != nil {
				return nil, fmt.Errorf("write %s/%s: %w", Folder, m.Name, err)
			}
		}
	}
	return all, nil
}

// readable makes folders that everyone may read, as a person who calls mkdir does: a plan is a part
// of the project.
type readable struct {
	safefile.Folder
	root *os.Root
}

func (r readable) Mkdir(name string) error { return r.root.Mkdir(name, 0o777) } // less the umask

// IsTemplate reports whether a prd.md has nothing but what the template has: comments, headings and
// the heads of tables.
func IsTemplate(prd []byte) bool {
	empty := map[string]bool{"": true}
	for line := range strings.Lines(withoutComments(string(Template(PRD, Values{})))) {
		empty[strings.TrimSpace(line)] = true
	}
	titles := 0
	text := strings.TrimPrefix(string(prd), "\ufeff")
	for line := range strings.Lines(withoutComments(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "# ") && titles == 0 {
			titles++ // it has the project's name
			continue
		}
		if !empty[line] {
			return false
		}
	}
	return true
}
