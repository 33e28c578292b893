module github.com/ralph-loop/mutate

go 1.26
