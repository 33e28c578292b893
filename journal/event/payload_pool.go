package event

// LoopFenced: another host of the pool has the loop now. Here nothing but its end follows.
type LoopFenced struct {
	Host  string `json:"host"`
	Epoch uint64 `json:"epoch"` // counts the hosts that the loop has had, from 1
}

// LoopMoved: a host of the pool has the loop from now on. What follows was recorded there.
type LoopMoved struct {
	Host  string `json:"host"`
	From  string `json:"from"` // the host before
	Epoch uint64 `json:"epoch"`
}
