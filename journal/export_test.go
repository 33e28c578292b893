package journal

// Abandon leaves the writer as a killed process would: nothing is sealed.
func (w *Writer) Abandon() {
	_ = w.fail(ErrClosed)
	w.stopSyncer()
	w.house.stop()
	w.bell.stop()
	_ = w.file.Close()
	_ = w.folder.Close()
}

// OSFolder opens a folder of the operating system.
func OSFolder(path string) (Folder, error) { return osFS{}.OpenFolder(path) }
