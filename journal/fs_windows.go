package journal

// SyncFolder does nothing: Windows keeps names durable by itself and has no call
// for it.
func (o osFolder) SyncFolder(string) error { return nil }
