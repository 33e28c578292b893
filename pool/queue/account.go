package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
)

// maxSettled is how many of the last loops that were settled an account remembers: a worker that
// was slow reserves nothing for them any more.
const maxSettled = 500

// An Account is a budget over all hosts, in dollars.
type Account struct {
	Limit *float64 `json:"limit,omitempty"` // nil: none
	Spent float64  `json:"spent"`
	// Reserved has the budgets of loops that are not settled, by their IDs.
	Reserved map[string]float64 `json:"reserved,omitempty"`
	Settled  []string           `json:"settled,omitempty"`
}

// Free is what may still be reserved; ok is false if there is no limit.
func (a *Account) Free() (free float64, ok bool) {
	if a.Limit == nil {
		return 0, false
	}
	free = *a.Limit - a.Spent
	for _, budget := range a.Reserved {
		free -= budget
	}
	return free, true
}

// ReadAccount returns an account, which may be empty.
func ReadAccount(ctx context.Context, s store.Store, name string) (a Account, err error) {
	var revision store.Revision
	err = read(ctx, s, keys.Account(name), &a, &revision)
	return a, err
}

// Limit sets what the loops of an account may spend together; nil is no limit.
func Limit(ctx context.Context, s store.Store, name string, limit *float64) error {
	return update(ctx, s, keys.Account(name), func(a *Account) (bool, error) {
		changed := (a.Limit == nil) != (limit == nil) || limit != nil && *limit != *a.Limit
		a.Limit = limit
		return changed, nil
	})
}

// cent is by what sums of amounts may differ because of their binary form.
const cent = 1e-6

// Reserve reserves a loop's budget before the loop is claimed, by whichever host. why is empty if it
// is reserved.
func Reserve(ctx context.Context, s store.Store, name, loop string, budget float64) (why string, err error) {
	err = update(ctx, s, keys.Account(name), func(a *Account) (bool, error) {
		why = ""
		if _, reserved := a.Reserved[loop]; reserved || slices.Contains(a.Settled, loop) {
			return false, nil
		}
		if free, limited := a.Free(); limited && budget > free+cent {
			why = fmt.Sprintf("account %s has $%.2f of its $%.2f left, and the loop may spend $%.2f", name, max(free, 0), *a.Limit, budget)
			return false, nil
		}
		if a.Reserved == nil {
			a.Reserved = map[string]float64{}
		}
		a.Reserved[loop] = budget
		return true, nil
	})
	return why, err
}

// Settle replaces what is reserved for a loop by what it has spent. A cost that is not known is the
// whole budget.
func Settle(ctx context.Context, s store.Store, name, loop string, cost *float64) error {
	return update(ctx, s, keys.Account(name), func(a *Account) (bool, error) {
		budget, reserved := a.Reserved[loop]
		if !reserved {
			return false, nil
		}
		if cost != nil {
			budget = *cost
		}
		delete(a.Reserved, loop)
		a.Spent += max(budget, 0)
		a.Settled = append(a.Settled, loop)
		a.Settled = a.Settled[max(0, len(a.Settled)-maxSettled):]
		return true, nil
	})
}
