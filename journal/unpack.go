package journal

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// unpacker decompresses a segment from its beginning.
type unpacker struct {
	dec *zstd.Decoder
}

// unpackError is damage that the decompressor found.
type unpackError struct{ error }

func (e *unpackError) Unwrap() error { return e.error }

func unpack(from io.Reader) (*unpacker, error) {
	dec, err := zstd.NewReader(from,
		zstd.WithDecoderConcurrency(1), // no goroutines
		zstd.WithDecoderLowmem(true),
		// our own is 256 KiB; a foreign file shall not take gigabytes
		zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return nil, err
	}
	return &unpacker{dec}, nil
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.dec.Read(p)
	if err != nil && err != io.EOF {
		return n, &unpackError{err}
	}
	return n, err
}

func (u *unpacker) close() { u.dec.Close() }
