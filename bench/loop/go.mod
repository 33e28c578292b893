module github.com/ralph-loop/ralph/bench/loop

go 1.26.0

replace github.com/ralph-loop/ralph => ../..

require github.com/ralph-loop/ralph v0.0.0

require (
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/natefinch/atomic v1.0.1 // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
