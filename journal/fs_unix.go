//go:build unix

package journal

func (o osFolder) SyncFolder(name string) error {
	dir, err := o.root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
