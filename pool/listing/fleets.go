package listing

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/projector"
)

// Fleets puts the rows of each fleet into one row, which is where the first of them was.
func Fleets(ctx context.Context, s store.Store, rows []Row) ([]Row, error) {
	fleets, err := fleet.List(ctx, s)
	if err != nil {
		return nil, err
	}
	byID := map[string]Row{}
	for _, r := range rows {
		byID[r.ID] = r
	}
	whole, partOf := map[string]Row{}, map[string]string{}
	for _, f := range fleets {
		whole[f.Name] = together(f, byID)
		for _, part := range f.Parts {
			partOf[part.ID] = f.Name
		}
	}
	all := []Row{}
	for _, r := range rows {
		name, isPart := partOf[r.ID]
		if !isPart {
			all = append(all, r)
		} else if one, first := whole[name]; first {
			all = append(all, one)
			delete(whole, name)
		}
	}
	for _, f := range fleets { // those with nothing in the queue, and damaged ones
		if one, left := whole[f.Name]; left {
			all = append(all, one)
		}
	}
	return all, nil
}

// together is the row of a fleet. It costs what those of its parts that have a cost did.
func together(f fleet.Fleet, rows map[string]Row) Row {
	one := Row{Name: f.Name, By: f.By, Submitted: f.At, Group: projector.Working}
	if f.Version == 0 {
		one.State, one.Group = "damaged", projector.NeedsYou
		one.Why = fmt.Sprintf("fleets/%s: %v", f.Name, fleet.ErrDamaged)
		return one
	}
	states := make([]fleet.State, len(f.Parts))
	for i, part := range f.Parts {
		row, known := rows[part.ID]
		if !known {
			row = Row{ID: part.ID, Name: part.Loop, State: Queued, Group: projector.Working, Why: "it is not submitted yet"}
		}
		row.Fleet = f.Name
		states[i] = fleet.State{Name: part.Loop, Phase: row.phase(), Why: row.State}
		one.Parts = append(one.Parts, row)
		if row.Cost != nil {
			sum := *row.Cost
			if one.Cost != nil {
				sum += *one.Cost
			}
			one.Cost = &sum
		}
	}
	states = f.Judge(states)
	for i, state := range states {
		switch row := &one.Parts[i]; {
		case state.Phase == fleet.Stopped:
			row.State, row.Group, row.Why = string(state.Phase), projector.NeedsYou, state.Why
		case row.State == Queued && len(f.Parts[i].Needs) > 0 && state.Why != Queued:
			row.Why = state.Why // by their names
		case row.State == Queued && fleet.IsWait(row.Why):
			row.Why = "" // they have completed since a worker last looked
		}
		if one.Parts[i].Group == projector.NeedsYou {
			one.Group = projector.NeedsYou
		}
	}
	if one.State = f.Summary(states); fleet.Over(states) && one.Group != projector.NeedsYou {
		one.Group = projector.Over
	}
	return one
}

// phase is how far a part is, as its host said last.
func (r Row) phase() fleet.Phase {
	switch {
	case r.State == Queued:
		return fleet.Queued
	case r.View != nil && r.View.Status == event.StatusCompleted:
		return fleet.Done
	case r.Group == projector.Over || r.View != nil && (r.View.Status.Ended() || r.givenUp):
		return fleet.Failed
	}
	return fleet.Working
}
