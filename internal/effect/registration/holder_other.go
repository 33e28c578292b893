//go:build !linux

package registration

// holderOf can only read the lock's content: this system does not report who has a lock. [Holder]
// checks the content against the start time of the process.
func holderOf(_ string, named int) (int, error) {
	if named <= 0 {
		return 0, ErrNoHolder
	}
	return named, nil
}
