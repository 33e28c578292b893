package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	dir := flag.String("dir", ".", "the repository")
	out := flag.String("out", "bin/site", "the folder of the site; an earlier site there is replaced")
	flag.Parse()
	if err := run(*dir, *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "site: error:", err)
		os.Exit(1)
	}
}

func run(dir, out string, w io.Writer) error {
	s, err := read(dir)
	if err != nil {
		return err
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	if err := replace(out, files); err != nil {
		return err
	}
	size := 0
	for _, content := range files {
		size += len(content)
	}
	_, err = fmt.Fprintf(w, "%d pages, %d files, %.1f MB (search index %d KB): %s/index.html\n",
		len(s.pages), len(files), float64(size)/1e6, len(files[indexFile])/1000, out)
	return err
}
