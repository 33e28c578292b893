package otlp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// PositionFile is in the folder of a loop: what a collector has of it.
const PositionFile = "telemetry.json"

// positionMost bounds the file: a thousand open spans with their texts.
const positionMost = 128 << 20

// Position is what a collector has of a loop: all spans that ended up to an event.
type Position struct {
	To   string `json:"to"`   // the address of the collector, without a password
	Sent int64  `json:"sent"` // spans that the collector took
	Lost int64  `json:"lost"` // spans that it will never take
	Fold *Fold  `json:"fold"` // after that event
}

// ReadPosition returns what the target has of the loop in a folder. It begins at the beginning if
// there is no position, if it is about another collector, or if an earlier ralph wrote it in
// another form.
func ReadPosition(dir string, t *Target) (Position, error) {
	mapping := Mapping{Content: t.Content}
	begin := Position{To: t.Shown(), Fold: NewFold(mapping)}
	text, err := safefile.Read(filepath.Join(dir, PositionFile), positionMost)
	if errors.Is(err, fs.ErrNotExist) {
		return begin, nil
	}
	if err != nil {
		return begin, fmt.Errorf("read what was exported: %w", err)
	}
	var p Position
	if json.Unmarshal(text, &p) != nil || p.Fold == nil || p.Fold.Version != foldVersion || p.To != begin.To {
		return begin, nil
	}
	p.Fold.mapping = mapping
	return p, nil
}

// keep makes the position durable.
func (p Position) keep(dir string) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(dir, PositionFile), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember what was exported: %w", err)
	}
	return nil
}
