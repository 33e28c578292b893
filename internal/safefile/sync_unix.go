//go:build unix

package safefile

import "os"

func syncNames(folder *os.File) error {
	if syncedFolder != nil {
		syncedFolder(folder.Name())
	}
	return folder.Sync()
}
