package units

import "testing"

func TestIterationCount(t *testing.T) {
	for _, row := range []struct {
		count                     Count
		short, number, iterations string
	}{
		{Count{0, 0, 10}, "0/10", "0 of 10", "0 iterations"},
		{Count{1, 0, 10}, "1/10", "1 of 10", "1 iteration"},
		{Count{3, 0, 0}, "3", "3", "3 iterations"},
		{Count{3, 2, 1}, "1/1 (2 refunded)", "3 (1 of 1 used, 2 refunded)", "1 iteration (2 more refunded)"},
		{Count{3, 3, 1}, "0/1 (3 refunded)", "3 (0 of 1 used, 3 refunded)", "0 iterations (3 more refunded)"},
		{Count{3, 1, 0}, "2 (1 refunded)", "3 (1 refunded)", "2 iterations (1 more refunded)"},
		{Count{5, 0, 3}, "5/3", "5 of 3", "5 iterations"}, // a person has lowered it since
	} {
		if got := row.count.Short(); got != row.short {
			t.Errorf("%+v: %q, want %q", row.count, got, row.short)
		}
		if got := row.count.Number(); got != row.number {
			t.Errorf("%+v: %q, want %q", row.count, got, row.number)
		}
		if got := row.count.Iterations(); got != row.iterations {
			t.Errorf("%+v: %q, want %q", row.count, got, row.iterations)
		}
	}
}
