# Every target sets up what it needs and says so. Go and git are enough; once
# the modules are in Go's cache nothing here asks a network.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build demo recording test check format vet lint house race bench bench-pictures e2e e2e-clients fmt generate catalog install dist clean

GO       ?= go
BENCH    ?= .
TIMES    ?= 1x
# Commands below must not change go.mod, whatever the environment says.
export GOFLAGS += -mod=readonly

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# Go stamps the commit only where git answers (not in an unpacked archive).
VCS     := $(shell git status >/dev/null 2>&1 && echo true || echo false)

LINT_VERSION := v2.15.0
LINT_FROM    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
# A golangci-lint of just this version on the PATH is taken, else one is built, once
# for all clones on this machine.
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/relo/tools
LINT := $(shell golangci-lint version --short 2>/dev/null | grep -qx '$(LINT_VERSION:v%=%)' \
	&& command -v golangci-lint || echo $(TOOLS)/golangci-lint-$(LINT_VERSION))

help: ## this list
	@echo "Relo. Usage: make TARGET"
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 16 | sed 's/^/  /'

build: ## bin/relo
	$(GO) build -buildvcs=$(VCS) -o bin/relo ./core/cmd/relo

demo: build ## one job from prompt to diff, with a scripted model: no key, no network
	bin/relo demo

recording: build ## writes docs/demo.txt: the demo on a real terminal (needs tmux)
	scripts/record-demo.sh

test: ## all tests
	$(GO) test -timeout 30m ./...

check: format vet house ## format, vet, lint, house rules and all tests; what .ci/run calls
	@if $(MAKE) --no-print-directory -s $(LINT); then $(MAKE) --no-print-directory lint; fi
	$(GO) run ./core/cmd/loudtest -timeout 30m ./...
	@[ -x "$(LINT)" ] || echo "NOT RUN  golangci-lint could not be built here (no network?): make lint"
	@echo "NOT RUN  data races: make race. Numbers: make bench."

format: ## fails when a file is not formatted
	@bad="$$(gofmt -l core)"; if [ -n "$$bad" ]; then echo "not formatted (make fmt):"; echo "$$bad"; exit 1; fi

vet: ## go vet
	$(GO) vet ./...

lint: $(LINT) ## golangci-lint, linters and formatters
	$(LINT) run ./...

house: ## the rules of the house: floors, doors, sizes, words
	$(GO) test -count=1 ./core/internal/house

race: ## tests under the race detector, without the whole-program ones
	$(GO) test -race $$($(GO) list ./... | grep -v /core/e2e)

# Sources of Debian (80 MB, by hash) are kept in the person's cache folder; Pillow's needs xz, colours and sizes
# are held against ImageMagick (convert) where it is installed. Nothing is installed.
.PHONY: soak
soak: ## long proofs of the pictures: 500,000 opens in a race, 1,000 public pictures, 10,000 calls (needs a network once)
	RELO_SOAK=1 $(GO) test -count=1 -v -timeout 60m -run 'Soak|TheCallersMemoryStaysFlat' ./core/internal/vision/picture

bench: ## the tables of numbers; BENCH=regexp TIMES=1x
	$(GO) test ./core/e2e ./core/internal/catalog -run '^$$' -bench '$(BENCH)' -benchtime $(TIMES)
	@if [ '$(BENCH)' != . ]; then echo "NOT RUN  pictures beside sharp: make bench-pictures"; \
	elif command -v npm >/dev/null; then $(MAKE) --no-print-directory bench-pictures; \
	else echo "NOT RUN  pictures beside sharp: that needs node and npm; make bench-pictures"; fi

bench-pictures: build ## pictures beside sharp, ImageMagick and plain Go; installs those; WRITE=1 ROUNDS=5 PARTS= FILES=regexp
	$(GO) test -c -o tmp/picturebench ./core/e2e
	@bench/pictures/setup.sh
	@node bench/pictures/run.mjs

e2e: ## whole-program tests only
	$(GO) run ./core/cmd/loudtest -count=1 ./core/e2e/...

# One package after the other, so that nothing is installed twice at once.
e2e-clients: ## the MCP suite and other agents' programs against relo mcp (npm and a network)
	RELO_E2E_CLIENTS=1 $(GO) run ./core/cmd/loudtest -count=1 -p 1 -timeout 20m -run 'TestConformance|TestPicturesReachAModel|TestVendorsScripts|TestOpenCodeLives' ./core/internal/hub ./core/e2e

fmt: $(LINT) ## formats the code
	$(LINT) fmt ./...

generate: ## writes generated files again
	$(GO) generate ./...

# The package that the built-in catalogue of models is made of; docs/providers.md.
CATALOG := @oh-my-pi/pi-catalog@18.2.11

catalog: ## the built-in catalogue of models, from its npm package (needs npm and a network)
	mkdir -p tmp && rm -rf tmp/catalog && mkdir tmp/catalog
	npm pack $(CATALOG) --ignore-scripts --silent --pack-destination tmp/catalog
	tar -xzf tmp/catalog/*.tgz -C tmp/catalog
	$(GO) run ./core/cmd/relogen -root . -catalog tmp/catalog/package
	rm -rf tmp/catalog

PREFIX ?= /usr/local
SHARE   = $(DESTDIR)$(PREFIX)/share

install: build ## program, man pages and completions; PREFIX=/usr/local DESTDIR=
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
		$(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 bin/relo $(DESTDIR)$(PREFIX)/bin/relo
	install -m 644 man/man1/*.1 $(SHARE)/man/man1
	bin/relo completion bash > $(SHARE)/bash-completion/completions/relo
	bin/relo completion zsh > $(SHARE)/zsh/site-functions/_relo
	bin/relo completion fish > $(SHARE)/fish/vendor_completions.d/relo.fish

dist: ## dist/: what install puts in place, for a package
	rm -rf dist
	@$(MAKE) --no-print-directory install DESTDIR=dist PREFIX=

clean: ## removes what was built here
	rm -rf bin/relo dist tmp

# First from Go's module cache alone, so that a machine without a network that has
# the modules is served too; then as usual.
$(TOOLS)/golangci-lint-$(LINT_VERSION): export GOBIN = $(TOOLS)
$(TOOLS)/golangci-lint-$(LINT_VERSION): export GOFLAGS =
$(TOOLS)/golangci-lint-$(LINT_VERSION):
	@echo "golangci-lint $(LINT_VERSION) is not here: building it into $(TOOLS), once (about four minutes on two cores)"
	@GOPROXY="file://$$($(GO) env GOMODCACHE)/cache/download" $(GO) install $(LINT_FROM) 2>/dev/null || $(GO) install $(LINT_FROM)
	@mv $(TOOLS)/golangci-lint $@
