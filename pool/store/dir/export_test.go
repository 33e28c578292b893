package dir

import "os"

// OnSync sets what is called instead of syncing a file.
func (s *Store) OnSync(f func(*os.File) error) { s.syncFile = f }
