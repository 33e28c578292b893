module github.com/ralph-loop/ralph/tools/mutate

go 1.26.0

replace github.com/ralph-loop/ralph => ../..

require github.com/ralph-loop/ralph v0.0.0
