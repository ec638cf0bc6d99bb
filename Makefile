# Every target is a command that a person runs too; `make check` is what CI runs.

GO      ?= go
BIN     := bin/dsh-acp
CASES   ?= internal/cases/testdata
TRACES  ?= conformance/testdata/traces
FUZZTIME ?= 1s
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
CROSS     := -o /dev/null ./cmd/dsh-acp
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# One set of flags for all targets: the grammars are C, and other flags would
# have them compiled once more.
export GOFLAGS := $(strip -trimpath $(GOFLAGS))

.PHONY: build test race lint fuzz cases conformance goldens interop astgrep nocgo bench demo check cross record clean

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/dsh-acp

# A session from start to replay, with no key and no network.
demo: build
	$(BIN) demo

test:
	$(GO) test ./...

race:
	$(GO) test -race -vet=off ./...

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' | grep -v testdata)); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# A short run of every fuzz target; FUZZTIME=5m for a long one.
fuzz:
	./scripts/fuzz.sh $(FUZZTIME)

# The bank of reported faults; CASES=DIR runs another folder of the same format.
cases:
	$(GO) run ./internal/cases/run $(CASES)

# The recorded traces of claude-agent-acp against this agent.
conformance: build
	$(BIN) conformance run --traces $(TRACES)

# Official clients of other languages and acpx against the binary; needs Node 20 or later.
interop: build
	./scripts/interop/run.sh $(abspath $(BIN))

# What this agent did when its own goldens were recorded, recorded again.
goldens:
	$(GO) test ./conformance -run TestGoldens -count=1 -update

# Structural search and rewriting beside ast-grep, which npm brings: the same
# places, the same bytes, or a rule with its reason.
astgrep:
	./scripts/astgrep/run.sh

# What needs syntax trees, in a build that has none.
nocgo:
	CGO_ENABLED=0 $(GO) test ./internal/syntax/... ./internal/config ./tools/fs ./cmd/dsh-acp

bench: build
	./scripts/bench.sh $(abspath $(BIN))
	./scripts/astgrep/run.sh bench

# The program without cgo, for each system that a release is made for.
cross:
	@for p in $(PLATFORMS); do \
		echo "build $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build $(CROSS) || exit 1; \
	done

# How traces are recorded from the reference is told in docs/conformance.md.
record: build
	@sed -n '/^## Recording/,/^## /p' docs/conformance.md

# The tests play the recordings and the cases, and run the seeds of the fuzz
# targets; what a fuzz run adds would have all compiled once more. So would each
# system: two stand for the others, and the packages that know of systems for
# all, since the libraries of the models take minutes to compile.
check: PLATFORMS = darwin/arm64 windows/amd64
check: CROSS = ./acp ./conformance ./tools/... ./internal/mcpserve
check: lint race nocgo interop astgrep cross

clean:
	rm -rf bin
