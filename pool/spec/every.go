package spec

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Every says by which schedule a specification is submitted again and again. A person signs it
// once, without what differs from run to run: the time at which a run is due, from which its ID and
// its name follow. So any worker may submit a run, and only one for each time.
type Every struct {
	Schedule   string    `json:"schedule"`
	Expression string    `json:"expression"`
	Zone       string    `json:"timezone"`
	Overlap    string    `json:"overlap"` // skip, queue or replace
	Made       time.Time `json:"made"`    // times before it are not due
	Due        time.Time `json:"due,omitzero"`
}

// Run returns the specification of the run that is due at a time.
func (s Spec) Run(due time.Time) Spec {
	every := *s.Every
	every.Due = due.UTC()
	s.Every, s.At, s.ID, s.Name = &every, every.Due, s.runID(every), every.Schedule+every.Due.Format("-2006-01-02-1504")
	return s
}

func (s Spec) runID(every Every) string {
	of := sha256.Sum256([]byte(strings.Join([]string{"schedule", s.Key, every.Schedule, every.Made.UTC().Format(time.RFC3339Nano)}, "\n")))
	id, err := ulid.New(ulid.Timestamp(every.Due), bytes.NewReader(of[:]))
	if err != nil { // a time that no ULID can have
		return ""
	}
	return id.String()
}

// unsigned leaves out what differs from run to run.
func (s Spec) unsigned() Spec {
	if s.Every != nil {
		every := *s.Every
		every.Due = time.Time{}
		s.ID, s.Name, s.At, s.Every = "", "", time.Time{}, &every
	}
	return s
}

// checkRun refuses a run whose ID and name do not follow from its time.
func (s Spec) checkRun() error {
	if s.Every == nil {
		return nil
	}
	if run := s.Run(s.Every.Due); run.ID != s.ID || run.Name != s.Name || !run.At.Equal(s.At) {
		return fmt.Errorf("its id or name is not that of the run of schedule %.80q at %s", s.Every.Schedule, s.Every.Due.Format(time.RFC3339))
	}
	return nil
}
