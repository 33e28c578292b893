# 'make' or 'make help' lists the targets.

SHELL       := bash
.SHELLFLAGS := -o pipefail -c

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
# Without cgo: a static program runs anywhere, and starts in three quarters of the time.
LDFLAGS  := -s -w -X main.version=$(VERSION)
TOOL     := $(GO) tool -modfile=tools/go.mod
FOLDERS  := $(wildcard bench client cmd conformance inbox internal journal pool projector registry render tools)
SEEDS    ?= 1000
FIRST    ?= 1
SEQUENCES ?= 2000
LOOPS     ?= 1000
KILLS     ?= 200
HISTORIES ?= 100
SOAK     ?= 60
CUTS     ?= 500
ROUNDS   ?= 10
# The numbers of failure tests; all without any.
ONLY     ?=
PART     ?= 3
SEED     ?=
FUZZTIME ?= 30s
BENCH    ?= .
WITHIN   ?= 3m
# More arguments of tools/mutate, such as -only next_check.
MUTANTS  ?=
# The name of the image, what it has of agents, and the unpacked archive of a release that has its programs.
IMAGE    ?= ralph:latest
AGENTS   ?=
PROGRAMS ?=
# The systems of a release, and the file of the private key that signs the list of its programs.
TARGETS  ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64
KEY      ?=
# The megabytes of the longest journal of 'make interface'.
JOURNAL  ?= 1024
# The folder of 'make bench-loop'.
EXPERIMENT = $(abspath $(or $(OUT),bin/experiment))
# The loops that 'make scale' runs at once, and the iterations and megabytes of its long journal.
AT_ONCE    ?= 1000
ITERATIONS ?= 1000
HISTORY    ?= 10240
# The commit that the files are compared with: where the branch left the main one.
BASE     ?= $(shell git merge-base HEAD origin/HEAD 2>/dev/null || git rev-parse HEAD)

# A program of a package is the same in each clone: it is compiled once, and so is its vet.
GOFLAGS  += -trimpath
export GOFLAGS

# Packages with goroutines of their own, for the race detector in the gate.
RACE     := ./inbox ./internal/agent/... ./internal/front/attach ./internal/ground/filewatch ./internal/core/loop ./internal/effect/notify ./internal/effect/otlp \
	./internal/ground/process ./internal/runner ./journal ./render/terminal

# Folders, with a leading "./", of test files that hold a pattern.
having = $(shell grep -rlE --include='*_test.go' '$(1)' $(filter-out bench pool tools,$(FOLDERS)) | xargs -r -n1 dirname | sort -u | sed 's|^|./|')

.DEFAULT_GOAL := help
.PHONY: help build install build-pool install-pool quick test race race-all script core long sim night workers lost soak power power-store failures fuzz neighbours discover golden mutate mutate-sample mutate-durability mutate-changed strength bench bench-loop bench-check floors scale playground site cover outside action demo demo-pool interface pool image release-snapshot release-image test-release test-packages reproducible smoke test-agents test-containers test-image test-kubernetes test-manifests test-stores test-web test-network lint format fmt fix vuln man docs check clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  %-18s %s\n", $$1, $$2 }'

build: ## bin/ralph
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o bin/ralph ./cmd/ralph

install: ## ralph into Go's bin folder
	CGO_ENABLED=0 $(GO) install -ldflags '$(LDFLAGS)' ./cmd/ralph

# A test program without symbols links in half the time. Vet runs in 'make quick' and 'make lint'. A
# test that hangs ends within the gate's limit, and says where.
TEST = $(GO) test -short -vet=off -timeout 8m -ldflags='-s -w'

quick: format ## a minute: vet and tests of the packages that differ from BASE and of those that import them, import rules
	@packages="$$(tools/changed.sh packages "$(BASE)")" && set -x && $(GO) vet $$packages && $(TEST) ./internal/archtest $$packages

test: format ## two minutes: format, unit tests, import rules
	$(TEST) ./...

format: # fails if gofmt would change a file
	@unformatted=$$(gofmt -l $(FOLDERS)); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi

race: ## the unit tests of packages with goroutines of their own under the race detector
	$(GO) test -race -short -vet=off -timeout 23m $(RACE)

race-all: ## all unit tests under the race detector, and the stories (20 minutes)
	$(GO) test -race -short -vet=off ./...
	$(GO) test -race ./cmd/ralph -run TestScript -count=1
	$(GO) test -race ./internal/effect/keep ./internal/effect/repo -count=1

script: ## stories of the whole program (testdata/script), of its screens, and the commands of the pages
	$(GO) test -timeout 18m ./cmd/ralph -run 'TestScript|TestPagesRun|TestHostileText|TestFullScreenIsEnded|TestBoard|TestNothingIsLost' -count=1

core: ## the stories that need no front end, played with a program that links none (-tags ralph_core)
	$(GO) test -timeout 18m ./cmd/ralph -run TestCoreStories -count=1

long: ## what 'make test' shortens: the suite of each agent, each way to undo a review, each cut of the journal
	$(GO) test ./internal/agent/... -run Suite -count=1
	$(GO) test -timeout 18m ./internal/effect/keep ./internal/effect/repo ./internal/ground/redact ./journal -count=1

sim: ## SEEDS=1000 simulated runs from seed FIRST=1 on; some again with a crash at each change on the disk
	@mkdir -p bin && rm -f bin/sim.txt
	$(GO) test ./internal/core/loop -run TestSimulation -count=1 -timeout 60m -args -sim.seeds=$(SEEDS) -sim.first=$(FIRST) -sim.table=$(CURDIR)/bin/sim.txt
	@cat bin/sim.txt

night: ## SEEDS=1000 simulated runs of hosts that share a loop, from seed FIRST=1 on
	cd pool && $(GO) test ./night -run 'TestNight$$' -count=1 -v -timeout 60m -args -night.seeds=$(SEEDS) -night.first=$(FIRST)

workers: ## LOOPS=1000 loops on three hosts whose workers are killed KILLS=200 times: each loop completes once (half an hour)
	cd pool && $(GO) test ./worker -run TestNightOfKills -count=1 -v -timeout 120m -args -loops=$(LOOPS) -kills=$(KILLS)

lost: ## SEQUENCES=2000 of verbs, effects, persons and kill -9 on repositories of all kinds: nothing is lost; SEED=n begins elsewhere
	$(GO) test ./cmd/ralph -run TestNothingIsLost -count=1 -timeout 60m -args -lost.sequences=$(SEQUENCES) $(if $(SEED),-lost.first=$(SEED)0000)

soak: ## SOAK=60 seconds of kill -9 at the processes of real loops; SEED=n repeats one
	$(GO) test ./cmd/ralph -run TestSoak -count=1 -timeout 30m -args -soak.seconds=$(SOAK) $(if $(SEED),-soak.seed=$(SEED))

neighbours: ## the tests of each package, or of PKG=./folder, four times at once on one core, TIMES=5 times over
	@GO='$(GO)' tools/neighbours.sh

power: ## CUTS=500 simulated power cuts of the real ralph, and a disk that refuses writes (Linux, root); SEED=n repeats one
	cd tools/power && $(GO) test -count=1 -timeout 60m -v $(if $(SEED),-run TestPowerCuts,-skip TestStorePowerCuts) . -args \
		-power.cuts=$(CUTS) $(if $(SEED),-power.seed=$(SEED)) | grep -vE '^ *(=== |--- PASS: .*/)'

power-store: CUTS := 100
power-store: ## CUTS=100 simulated power cuts of the disk of a pool's store: a folder, and that of 'ralph pool serve' (Linux, root)
	cd tools/power && $(GO) test -count=1 -timeout 60m -v -run TestStorePowerCuts . -args \
		-power.cuts=$(CUTS) $(if $(SEED),-power.seed=$(SEED)) | grep -vE '^ *(=== |--- PASS: .*/)'

fuzz: ## each fuzz target for FUZZTIME=30s, one after another
	@FUZZTIME=$(FUZZTIME) tools/fuzz.sh $(filter-out bench pool tools,$(FOLDERS))

golden: ## rewrite the golden files; read the diff before you commit it
	@for folder in $(call having,flag.Bool."update"|testkit/golden"); do $(GO) test $$folder -update || exit 1; done
	@git status --short -- '*testdata*' docs

# The mutated packages, and the tests that run against each mutant.
MUTATE = $(GO) -C tools/mutate run . -dir ../.. -mutate internal/core/policy,internal/core/loop,internal/core/story -least 85 \
	-test 'internal/core/loop -test.run=TestDecisionTraces|TestDriver|TestEngine|TestNext|TestVerifier' \
	-test 'internal/core/policy -rapid.seed=1 -rapid.nofailfile' \
	-test 'internal/core/story -rapid.seed=1 -rapid.nofailfile' \
	-test 'internal/core/loopstate -test.run=Stat|Pending|Loop|Summary|Telemetry|Event|Delay|Checkpoint -rapid.checks=10 -rapid.seed=1 -rapid.nofailfile' \
	-test 'internal/core/loop -test.run=TestSimulation$$ -sim.seeds=3'

mutate: ## mutants of the policies, the loop and the stories; fails if the tests notice fewer than 85 % (an hour)
	$(GO) -C tools/mutate test .
	$(MUTATE) $(MUTANTS)

mutate-sample: ## the same for WITHIN=3m: files that differ from BASE first, then those that SEED=1 picks
	$(MUTATE) -within $(WITHIN) -seed $(or $(SEED),1) -changed $(BASE) $(MUTANTS)

mutate-durability: ## mutants without a sync or a rename, or with it moved; a test has to notice each (5 minutes)
	cd tools && $(GO) test ./durability && $(GO) run ./durability -dir ..

mutate-changed: ## the same for files that differ from BASE; all of them without a BASE
	cd tools && $(GO) test ./durability
	tools/changed.sh files "$(BASE)" | $(GO) -C tools run ./durability -dir .. -changed

strength: ## gamed repositories are graded weak, and honest ones are not: every PART=3rd; PART=1 tries each (some minutes)
	$(GO) test ./internal/verb/proving -run Corpus -count=1 -timeout 18m -args -corpus.part=$(PART)

bench: ## benchmarks matching BENCH=. ; compare the ratios within one run
	@mkdir -p bin
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./... | tee bin/bench.txt
	@if [ -f tools/bench/go.mod ]; then cd tools/bench && $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./... | tee -a ../../bin/bench.txt; fi

bench-loop: build ## the experiment with loops and scripted models for MINUTES=20: journals and figures in OUT=bin/experiment, which it continues (Linux)
	@mkdir -p $(EXPERIMENT) && cp docs/experiment.md $(EXPERIMENT)/page.md
	cd bench/loop && $(GO) build -o ../../bin/experiment-loops . && ../../bin/experiment-loops run -ralph ../../bin/ralph -out $(EXPERIMENT) -minutes $(or $(MINUTES),20) && \
	../../bin/experiment-loops publish -out $(EXPERIMENT) -results $(EXPERIMENT)/results -page $(EXPERIMENT)/page.md

bench-check: ## tests of the experiment with loops, and its published figures recomputed from the published journals
	cd bench/loop && $(GO) vet . && $(GO) test -count=1 . && $(GO) run . check

floors: ## the benchmarks that have a floor (tools/bench/floors.txt), as a table; fails if one is below it
	@mkdir -p bin && $(MAKE) --no-print-directory bench BENCH='$(shell tools/floors.sh -names)' > bin/floors.log || { tail -n 30 bin/floors.log; exit 1; }
	@tools/floors.sh bin/bench.txt

scale: ## AT_ONCE=1000 loops at once, and a loop of ITERATIONS=1000 and HISTORY=10240 MB: what they use (half an hour, Linux; TMPDIR=folder)
	$(GO) test ./cmd/ralph -run 'TestScale(Loops|History)' -count=1 -v -timeout 120m -args \
		-scale.loops=$(AT_ONCE) -scale.iterations=$(ITERATIONS) -scale.journal=$(HISTORY)

discover: ## seven hours of looking for faults that no test knows: fuzz, soak, power cuts, seeds, mutants …; MINUTES=n SEED=n
	tools/discover.sh "$(MINUTES)" "$(SEED)"

interface: ## the full screen in a pseudo-terminal: keys under load, idle, long journals (two minutes)
	$(GO) test ./cmd/ralph -run 'TestHostileText|TestFullScreen|TestBoard' -count=1
	$(GO) test ./cmd/ralph -run TestInterface -count=1 -v -parallel 1 -timeout 10m -args -interface -interface.journal=$(JOURNAL)

cover: ## what the tests reach: bin/cover.html
	@mkdir -p bin
	$(GO) test -short -coverpkg=./... -coverprofile=bin/cover.out ./...
	$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

playground: ## bin/site/playground: a simulated loop in the browser, to be served by any web server; tests of it
	@mkdir -p bin/site/playground
	cd tools/playground && $(GO) vet ./... && $(GO) test -count=1 ./... && GOOS=js GOARCH=wasm $(GO) build -ldflags '-s -w' -o ../../bin/playground.wasm ./wasm
	gzip -9 -n -c bin/playground.wasm > bin/site/playground/ralph.wasm.gz
	cp tools/playground/page/* render/markup/markup.css "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" bin/site/playground/
	@echo "ralph.wasm: $$(wc -c < bin/playground.wasm) bytes, $$(wc -c < bin/site/playground/ralph.wasm.gz) compressed"

outside: ## a program outside of the module that uses only the public packages
	cd tools/outside && $(GO) vet ./... && $(GO) test -count=1 ./...

build-pool: ## bin/ralph-pool, the program that lets hosts share loops
	cd pool && CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o ../bin/ralph-pool ./cmd/ralph-pool

install-pool: ## ralph-pool into Go's bin folder
	cd pool && CGO_ENABLED=0 $(GO) install -ldflags '$(LDFLAGS)' ./cmd/ralph-pool

pool: build-pool ## the module of a pool: bin/ralph-pool, vet and tests
	cd pool && $(GO) vet -tags containers ./... && $(TEST) ./...

image: ## an image for the hosts of a pool: IMAGE=ralph:latest; AGENTS='a folder, or npm packages'; needs podman and apt-get
	IMAGE='$(IMAGE)' AGENTS='$(AGENTS)' PROGRAMS='$(PROGRAMS)' VERSION='$(VERSION)' tools/image/build.sh

release-snapshot: ## dist: archives, packages, components and checksums of TARGETS=linux/amd64,… ; KEY=file signs (ten minutes)
	$(GO) -C tools/release run . -dir ../.. -out ../../dist -tag '$(VERSION)' -targets '$(TARGETS)' -key '$(if $(KEY),$(abspath $(KEY)))'

release-image: image ## the same image as a file: dist/ralph_image.tar, for 'podman load'; PROGRAMS=FOLDER of a release's archive
	@mkdir -p dist && rm -f dist/ralph_image.tar
	podman save --format oci-archive --output dist/ralph_image.tar '$(IMAGE)'

test-release: ## a release of this system: archives, packages, proofs, files for package managers (a minute)
	cd tools/release && $(GO) vet ./... && $(GO) test -count=1 ./...

test-packages: ## the deb, the rpm and the apk are installed in containers, and run a loop there; needs root, podman, debootstrap (five minutes)
	tools/release/packages.sh

reproducible: TARGETS := linux/$(shell $(GO) env GOARCH)
reproducible: ## a release of TARGETS=linux/amd64 is made twice, in two folders, and compared byte by byte (ten minutes)
	TARGETS='$(TARGETS)' tools/release/reproducible.sh

action: ## the steps of the GitHub action, run by bash as a runner does it
	cd tools && $(GO) test -count=1 ./action

demo: build ## a detached loop without a model, from start to proved done
	tools/demo.sh bin/ralph

demo-pool: build build-pool ## a loop whose host dies, and that goes on at another one (two minutes)
	tools/demo-pool.sh bin

smoke: ## one loop each of Claude Code, Codex and pi, the real ones; the first run installs 1.4 GB
	tools/agents/install.sh
	$(GO) test -tags realagents ./cmd/ralph -run TestRealSmoke -count=1 -timeout 10m

test-agents: ## all tests on the real agents; the first run installs 2 GB into .agents
	tools/agents/install.sh
	tools/agents/acp/install.sh
	$(GO) test -tags realagents -run Real -count=1 -timeout 20m $(call having,^//go:build .*realagents)

test-containers: ## the sandboxes of podman and docker, with real containers; needs podman, runc and busybox
	$(GO) test -tags containers -run TestContainers -count=1 -timeout 8m ./internal/effect/sandbox

test-manifests: ## the manifests of 'ralph pool manifest', with the types, rules and Job controller of Kubernetes (ten minutes the first time)
	cd pool/manifest/strict && GOWORK=off $(GO) test -count=1 .
	cd tools/kubernetes && GOWORK=off CGO_ENABLED=0 $(GO) test -count=1 -vet=off -ldflags='-s -w' ./rules

test-kubernetes: ## the manifests on the control plane of a real cluster, with kwok's nodes (five minutes; the first run builds it, 20 more)
	tools/kubernetes/build.sh
	cd pool && CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o ../bin/ralph-pool ./cmd/ralph-pool
	cd tools/kubernetes && GOWORK=off RALPH_TEST_KUBERNETES="$$(./build.sh -folder)" $(GO) test -count=1 -v -timeout 30m .

test-image: ## a loop of a pool in the image, as in a pod: no root, no capabilities, nothing to write on; needs root, podman, runc and apt-get
	cd pool && $(GO) test -tags containers -run TestImage -count=1 -v -timeout 15m ./cmd/ralph-pool

test-network: ## ROUNDS=10 take-overs from hosts that are cut off from the store, on networks that lose packets (Linux, root); SEED=n draws others
	cd pool && $(GO) test ./network -count=1 -v -timeout 60m -args -network.rounds=$(ROUNDS) $(if $(SEED),-network.seed=$(SEED))

failures: ## the failure tests of a pool with their counts, or ONLY='3 7' of docs/past-one-machine.md (half an hour)
	@GO='$(GO)' tools/failures.sh $(ONLY)

test-stores: ## each store of a pool with HISTORIES=100 of failing clients, connections and servers; SEED=n begins elsewhere (ten minutes)
	cd pool/store/s3/versity && GOWORK=off CGO_ENABLED=0 $(GO) build -o ../../../../bin/versitygw github.com/versity/versitygw/cmd/versitygw
	cd pool && STORE_VERSITYGW=$(CURDIR)/bin/versitygw $(GO) test $$(grep -rl storetest.Run --include='*_test.go' . | xargs -n1 dirname | sort -u) \
		-run 'Contract|Promises' -count=1 -timeout 120m -args -store.seeds=$(HISTORIES) $(if $(SEED),-store.seed=$(SEED)000)

test-web: ## the web pages in a real Chromium; SCREENSHOTS=folder keeps pictures of them
	$(GO) test -tags browser ./cmd/ralph -run Browser -count=1 -timeout 10m

lint: ## golangci-lint, and vet for the other systems; the first run builds golangci-lint (three minutes)
	$(TOOL) golangci-lint run ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) build ./internal/core/... ./projector ./render/phrase
	linter="$$($(TOOL) -n golangci-lint)" && cd pool && "$$linter" run ./... && GOOS=darwin $(GO) vet ./... && \
	cd ../bench/loop && "$$linter" run ./... && GOOS=darwin $(GO) vet ./...

fmt: ## gofmt, which 'make test' checks
	gofmt -w $(FOLDERS)

fix: ## the modernizers of the toolchain
	$(GO) fix ./...

vuln: ## known vulnerabilities in the linked code
	@tools/vuln.sh $(TOOL) govulncheck ./...

man: build ## the pages of the manual: bin/man
	bin/ralph man --dir bin/man

docs: ## generate docs/reference/{commands,events,settings,rehearsing,durability}.md and the schema of the settings
	$(GO) test ./internal/archtest -run TestDocs -count=1 -update
	$(GO) test ./cmd/ralph -run Published -count=1 -update
	cd tools && $(GO) run ./durability -dir .. -docs

site: ## the documentation as a site of files with a search, and the playground: bin/site; its links are checked
	@rm -rf bin/site/playground # it alone would be no site
	cd tools && $(GO) test -count=1 ./site && $(GO) run ./site -dir .. -out $(CURDIR)/bin/site
	@$(MAKE) --no-print-directory playground

check: lint test race script ## what has to pass before a change is merged

clean: ## remove bin and the test cache
	rm -rf bin dist
	$(GO) clean -testcache
