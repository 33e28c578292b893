// Mutate tries whether tests notice small changes of Go packages: those of ralph prove
// (internal/effect/prove/mutant), and rows of a package's tables that are left out or change
// places.
//
//	mutate -dir . -mutate pkg/a,pkg/b -test pkg/a -test 'pkg/c -test.run=TestAPI' -least 85
//
// All mutants are compiled into the test binaries at once, and an environment variable turns one
// on: a mutant costs a run of the tests that reach its function, and no build. The source tree is
// not written: the mutants are in an overlay (go build -overlay). What does not compile is left
// out.
//
// A test that does not end counts as a failed one. Survivors are listed. The exit code is 1 if
// fewer mutants than -least percent are killed, and 2 if the tests fail without a mutant.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	dir      string // of the module
	packages []string
	suites   []suite
	jobs     int
	only     *regexp.Regexp
	seed     uint64        // of the order in which mutants run
	changed  string        // mutants in files that differ from this git revision run first
	within   time.Duration // start no mutant after so long; 0 for no limit
}

// suite is a package whose tests are run, with the arguments of its test binary.
type suite struct {
	pkg  string
	args []string
}

// result counts the mutants that were run, and lists the survivors.
type result struct {
	of, killed, late int // late are those of the killed whose tests did not end
	survivors        []*change
}

func (r result) run() int { return r.killed + len(r.survivors) }

// score is how many percent were killed.
func (r result) score() float64 { return 100 * float64(r.killed) / float64(max(r.run(), 1)) }

func main() {
	o := options{only: regexp.MustCompile("")}
	flag.StringVar(&o.dir, "dir", ".", "folder of the module")
	packages := flag.String("mutate", "", "packages to change, relative to -dir, separated by commas")
	flag.Func("test", "a package whose tests are run, and arguments of its test binary; may be repeated", func(s string) error {
		words := strings.Fields(s)
		if len(words) == 0 {
			return fmt.Errorf("no package")
		}
		o.suites = append(o.suites, suite{words[0], words[1:]})
		return nil
	})
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "mutants that are run at once")
	flag.Func("only", "run the mutants whose line in the report this pattern matches", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	flag.Uint64Var(&o.seed, "seed", 1, "the order in which mutants run")
	flag.StringVar(&o.changed, "changed", "", "run the mutants in files that differ from this git revision first")
	flag.DurationVar(&o.within, "within", 0, "start no mutant after so long, so that a sample is run; 0 for no limit")
	least := flag.Float64("least", 0, "percent that have to be killed")
	flag.Parse()
	if *packages == "" || len(o.suites) == 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	o.packages = strings.Split(*packages, ",")
	began := time.Now()
	r, err := measure(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate: error:", err)
		os.Exit(2)
	}
	for _, c := range r.survivors {
		fmt.Println(c)
	}
	fmt.Printf("%.1f %% of %d mutants killed (there are %d), %d of them by a test that did not end; %s\n",
		r.score(), r.run(), r.of, r.late, time.Since(began).Round(time.Second))
	if r.score() < *least {
		fmt.Fprintf(os.Stderr, "mutate: error: %.1f %% of the mutants were killed, %.1f %% are required\n", r.score(), *least)
		os.Exit(1)
	}
}

// measure creates the mutants, builds the tests, and runs them.
func measure(o options) (result, error) {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return result{}, err
	}
	o.dir = dir
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	overlay, all, err := compile(o, work)
	if err != nil {
		return result{}, err
	}
	r, err := run(o, work, overlay, choose(o, all))
	r.of = len(all)
	return r, err
}

// choose returns the mutants to run in a random order, those in changed files first.
func choose(o options, all []*change) []*change {
	chosen := slices.DeleteFunc(slices.Clone(all), func(c *change) bool { return !o.only.MatchString(c.String()) })
	rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	files := changedFiles(o)
	rank := func(c *change) int {
		if slices.Contains(files, c.File) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(chosen, func(a, b *change) int { return cmp.Compare(rank(a), rank(b)) })
	return chosen
}

// changedFiles returns the files of the module that differ from a git revision. Without git or that
// revision, for example in a shallow clone, it returns none.
func changedFiles(o options) []string {
	if o.changed == "" {
		return nil
	}
	diff := exec.Command("git", "diff", "--name-only", "--relative", o.changed, "--", ".")
	diff.Dir = o.dir
	out, err := diff.Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutate: git does not know revision %s: no file counts as changed\n", o.changed)
	}
	return strings.Fields(string(out))
}
