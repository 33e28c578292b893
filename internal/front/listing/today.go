package listing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/projector"
)

// spentBefore is what a loop had cost at the beginning of a day, in USD.
type spentBefore struct {
	day   time.Time
	id    string // of the loop
	usd   float64
	known bool
}

// today returns what a loop has cost since midnight, in USD; nil if that is not known. An iteration
// counts for the day on which it ended, and the open one for today.
func (l *Loader) today(v *projector.View, now time.Time) *float64 {
	year, month, day := now.Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	switch {
	case v.Error != "":
		return nil
	case v.At.Before(midnight) && !v.At.IsZero():
		return new(float64)
	case v.Cost == nil, !v.Since.Before(midnight):
		return v.Cost
	}
	before, found := l.before[v.Found.File]
	if !found || !before.day.Equal(midnight) || before.id != v.ID {
		usd, known := costBefore(v.Dir, v.Iteration, midnight)
		before = spentBefore{midnight, v.ID, usd, known}
		l.before[v.Found.File] = before
	}
	if !before.known {
		return nil
	}
	spent := max(*v.Cost-before.usd, 0)
	if spent < smallest {
		spent = 0
	}
	return &spent
}

// smallest is the least amount that is not taken for an error of addition, in USD.
const smallest = 1e-9

// maxTelemetry bounds the file of an iteration, in bytes.
const maxTelemetry = 1 << 20

// costBefore adds up the cost of a loop's iterations that ended before a moment. last is the number
// of the loop's last iteration. known is false if the file of one is missing. It is called for
// loops whose costs are all known: an iteration without a cost used nothing.
func costBefore(dir string, last int, moment time.Time) (usd float64, known bool) {
	for n := 1; n <= last; n++ {
		text, err := safefile.Read(filepath.Join(dir, "iterations", fmt.Sprintf("%03d.json", n)), maxTelemetry)
		if errors.Is(err, fs.ErrNotExist) && n == last {
			break // it is open
		}
		var iteration projector.Iteration
		if err != nil || json.Unmarshal(text, &iteration) != nil {
			return 0, false
		}
		if !iteration.Ended.Before(moment) {
			break
		}
		if iteration.Usage.USD != nil {
			usd += *iteration.Usage.USD
		}
	}
	return usd, true
}
