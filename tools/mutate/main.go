package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	dir      string // of the module
	packages []string
	suites   []suite
	jobs     int
	most     int
	only     *regexp.Regexp
	seed     uint64        // of the order in which mutants run; 0 for that of the source
	changed  string        // mutants in files that differ from this git revision run first
	within   time.Duration // start no mutant after so long; 0 for no limit
	least    float64
	asJSON   bool
}

// suite is a package whose tests are run, with the arguments of its test binary.
type suite struct {
	pkg  string
	args []string
}

// result counts the mutants that were run, and lists the survivors.
type result struct {
	Mutants   int      `json:"mutants"`
	Of        int      `json:"of"` // more than Mutants where not all were run
	Killed    int      `json:"killed"`
	TimedOut  int      `json:"timedOut"` // of the killed
	Score     float64  `json:"score"`    // percent
	Survivors []mutant `json:"survivors"`
}

func main() {
	o := parse()
	began := time.Now()
	r, err := measure(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate: error:", err)
		os.Exit(2)
	}
	report(o, r, time.Since(began))
	if r.Score < o.least {
		fmt.Fprintf(os.Stderr, "mutate: error: %.1f %% of the mutants were killed, %.1f %% are required\n", r.Score, o.least)
		os.Exit(1)
	}
}

func parse() options {
	o := options{}
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
	flag.IntVar(&o.most, "most", 0, "run this many, evenly chosen; 0 for all")
	flag.Func("only", "run the mutants whose line in the report this pattern matches", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	flag.Uint64Var(&o.seed, "seed", 0, "run the mutants in a random order of this seed; 0 for the order of the source")
	flag.StringVar(&o.changed, "changed", "", "run the mutants in files that differ from this git revision first")
	flag.DurationVar(&o.within, "within", 0, "start no mutant after so long, so that a sample is run; 0 for no limit")
	flag.Float64Var(&o.least, "least", 0, "percent that have to be killed")
	flag.BoolVar(&o.asJSON, "json", false, "print the result as JSON")
	flag.Parse()
	if *packages == "" || len(o.suites) == 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	o.packages = strings.Split(*packages, ",")
	return o
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
	var all mutants
	overlay := map[string]string{}
	for _, pkg := range o.packages {
		if err := all.add(o.dir, pkg, work, overlay); err != nil {
			return result{}, fmt.Errorf("change %s: %w", pkg, err)
		}
	}
	chosen := choose(o, all.list, changedFiles(o))
	r, err := run(o, work, overlay, chosen)
	r.Of = len(all.list)
	return r, err
}

func report(o options, r result, took time.Duration) {
	if o.asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(r)
		return
	}
	for _, m := range r.Survivors {
		fmt.Println(m)
	}
	sample := ""
	if r.Of > r.Mutants {
		sample = fmt.Sprintf(" (a sample of %d)", r.Of)
	}
	fmt.Printf("%.1f %% of %d mutants%s killed, %d of them by a test that did not end; %s\n",
		r.Score, r.Mutants, sample, r.TimedOut, took.Round(time.Second))
}
