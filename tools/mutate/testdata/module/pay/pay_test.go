package pay

import "testing"

func TestPrice(t *testing.T) {
	for _, row := range []struct {
		n      int
		kind   Kind
		urgent bool
		want   int
	}{
		{1, Friend, false, 2}, {1, Stranger, false, 8}, {3, "", false, 21}, {4, "", false, 27}, {4, "", true, 28}, {9, "", true, 99},
	} {
		if got := Price(row.n, row.kind, row.urgent); got != row.want {
			t.Errorf("%+v: %d", row, got)
		}
	}
}
