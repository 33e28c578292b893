package event

import (
	"fmt"
	"strconv"
)

// Seq is the number of an event in its journal, from 1. 0 means no event.
type Seq uint64

// ParseSeq reads a sequence number as [Seq.String] writes it.
func ParseSeq(text string) (Seq, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%.40q is not the number of an event", text)
	}
	return Seq(n), nil
}

func (s Seq) String() string { return strconv.FormatUint(uint64(s), 10) }
