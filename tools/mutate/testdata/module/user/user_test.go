package user

import (
	"testing"
	"time"

	"example.org/shop/pay"
)

func TestWait(t *testing.T) {
	if pay.Wait(pay.Friend) != 0 || pay.Wait(pay.Stranger) < 3*time.Second {
		t.Error("wrong")
	}
}
