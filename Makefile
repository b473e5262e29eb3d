# Two commands do everything on a fresh machine: `make demo` and `make test`.
# What is slow to build (tools, the control plane, cert-manager, Kafka's jars) is cached
# outside the tree, in $(CACHE), keyed by version.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CACHE ?= $(or $(SLUICE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sluice)
export SLUICE_CACHE := $(CACHE)

# Every Go module of the repository.
MODULES := $(patsubst %/,%,$(dir $(shell git ls-files -c -o --exclude-standard -- 'go.mod' '*/go.mod')))
# The tests of these packages need nothing but Go.
UNIT := ./api/... ./certs/... ./cmd/... ./controllers/... ./internal/... ./webhooks/...

# tool NAME PACKAGE: builds a pinned tool once into the cache and names it.
tool = $(CACHE)/bin/$(1)-$(shell cat .tools/$(1)/go.mod .tools/$(1)/go.sum | sha256sum | cut -c1-12)
CONTROLLER_GEN := $(call tool,controller-gen)
GOLANGCI_LINT  := $(call tool,golangci-lint)
HELM           := $(call tool,helm)
SETUP_ENVTEST  := $(call tool,setup-envtest)
GOTESTSUM      := $(call tool,gotestsum)
export SLUICE_HELM := $(HELM)

.PHONY: help
help: ## Show what can be made
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(CONTROLLER_GEN):
	@.tools/build controller-gen sigs.k8s.io/controller-tools/cmd/controller-gen $@ "half a minute"
$(GOLANGCI_LINT):
	@.tools/build golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $@ "3 to 7 minutes"
$(HELM):
	@.tools/build helm helm.sh/helm/v4/cmd/helm $@ "1 to 2 minutes"
$(SETUP_ENVTEST):
	@.tools/build setup-envtest sigs.k8s.io/controller-runtime/tools/setup-envtest $@ "a few seconds"
$(GOTESTSUM):
	@.tools/build gotestsum gotest.tools/gotestsum $@ "a few seconds"

.PHONY: build
build: ## Build bin/sluice
	go build -o bin/sluice ./cmd/sluice

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deep copies, the chart's CRDs and docs/rules.md
	$(CONTROLLER_GEN) object:headerFile=/dev/null paths=./api/v1
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	$(CONTROLLER_GEN) crd:headerFile=/dev/null paths=./api/v1 output:crd:dir=$$tmp && \
	rm -rf charts/sluice/templates/crds && \
	go run ./api/crdgen $$tmp charts/sluice/templates/crds
	go run ./internal/rulesdoc docs/rules.md

# Not part of generate: it needs Java and Maven, and Kafka's jars for each version.
.PHONY: generate-options
generate-options: ## Generate the table of Kafka's options from its own classes
	go run ./internal/configdef/generate/cmd internal/configdef/options.json

.PHONY: format
format: ## Format all Go files
	gofmt -w $$(git ls-files -c -o --exclude-standard -- '*.go')

.PHONY: tidy
tidy: ## Tidy every module
	@for m in $(MODULES); do (cd "$$m" && go mod tidy) || exit 1; done

.PHONY: verify
verify: ## Generate, format and tidy; fail if that changed anything
	@before=$$(.tools/tree-state); $(MAKE) --no-print-directory generate format tidy; after=$$(.tools/tree-state); \
	if [ "$$before" != "$$after" ]; then \
	  echo "verify: these files are not as 'make generate format tidy' leaves them; commit the change:"; \
	  git status --short; git diff --stat; exit 1; \
	fi; echo "verify: nothing to change"

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Lint, import rules included
	$(GOLANGCI_LINT) run --allow-parallel-runners ./...
	@for m in $(filter-out .tools/% .,$(MODULES)); do echo "lint $$m"; (cd "$$m" && $(GOLANGCI_LINT) run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

.PHONY: chart
chart: $(HELM) ## Lint and render the chart
	$(HELM) lint --strict charts/sluice
	@mkdir -p out && $(HELM) template sluice charts/sluice --namespace sluice > out/chart.yaml && \
	$(HELM) template sluice charts/sluice --namespace sluice --set certManager.enabled=true > out/chart-cert-manager.yaml && \
	echo "rendered out/chart.yaml and out/chart-cert-manager.yaml"

# For programs that need a tool: build it where it is missing, print its path.
.PHONY: helm-path setup-envtest-path
helm-path: $(HELM)
	@echo $(HELM)
setup-envtest-path: $(SETUP_ENVTEST)
	@echo $(SETUP_ENVTEST)

.PHONY: controlplane
controlplane: ## Make the API server and etcd ready (downloaded, else built)
	go run ./test/harness/assets

# The packages under test/ need real parts, and each runs alone. The tests that mostly
# wait run two at a time: two cores carry two API servers and two Kafkas.
.PHONY: test-unit
test-unit: ## Run the tests that need only Go
	go test $(UNIT)

.PHONY: test-race
test-race: ## Look for data races in the tests that need only Go (needs a C compiler)
	go test -race -timeout 30m $(UNIT)

.PHONY: test-integration
test-integration: $(HELM) $(GOTESTSUM) build ## Run the tests on a real API server and a real Kafka
	go run ./test/harness/assets etcd kube-apiserver kube-controller-manager cert-manager node-agent
	go run ./test/kafka/fetch
	$(GOTESTSUM) --format testname --format-hide-empty-pkg -- -p 1 -parallel 2 -timeout 30m $$(go list ./test/... | grep -v /test/e2e$$)

# Of the tests with all of their surroundings real these few are part of `make test`:
# one scale-down, one that is taken back, and those of the nodes themselves.
E2E_FEW := ^(TestScaleDown|TestRollback|TestNodes|TestNodesEnd|TestKafkaPod)$$
.PHONY: test-e2e-few
test-e2e-few: $(HELM) $(GOTESTSUM) build
	$(GOTESTSUM) --format testname -- -timeout 30m -run '$(E2E_FEW)' ./test/e2e

.PHONY: test-e2e
test-e2e: $(HELM) $(GOTESTSUM) build ## Run all tests of clusters that Sluice runs, other Kafka versions included
	SLUICE_KAFKA_VERSIONS=all $(GOTESTSUM) --format testname -- -timeout 120m ./test/e2e

.PHONY: test
test: test-unit test-integration test-e2e-few test-examples demo demo-embedded ## Run all tests, the examples and the demo

.PHONY: test-examples
DIR ?= examples test/examples/valid
test-examples: $(HELM) build ## Judge every manifest of DIR, apply it to a real API server and compare
	bin/sluice validate -R $(DIR:%=-f %)
	go run ./test/examples $(DIR)

# Not by `go run`, which calls every Ctrl-C an error.
RUN_DEMO = go build -o bin/demo ./test/demo && exec bin/demo
.PHONY: demo
demo: $(HELM) build ## Show the main job on a real API server; KEEP=1 leaves it running
	@$(RUN_DEMO)

# What a newcomer without Java sees.
.PHONY: demo-embedded
demo-embedded: $(HELM) build
	@export DEMO_KAFKA=embedded; $(RUN_DEMO)

.PHONY: fuzz
FUZZTIME ?= 60s
fuzz: ## Run every fuzz target for FUZZTIME (60s) each
	@for p in $$(grep -rl --include='*_test.go' '^func Fuzz' api certs cmd controllers internal webhooks | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -rhoE '^func Fuzz[A-Za-z0-9]+' "$$p"/*_test.go | cut -c6-); do \
	    echo "$$p $$f"; go test "./$$p" -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	  done; \
	done

# Nothing is asserted of the figures; run it on a machine that does nothing else.
.PHONY: bench bench-admission bench-topics
bench: bench-admission bench-topics ## Run every benchmark and print figures with the machine beside them

BENCHFLAGS ?=
bench-admission: $(HELM) ## Measure admission alone and through a real API server; BENCHFLAGS=-h explains
	go test -run '^$$' -bench . -benchmem ./internal/validation ./webhooks/...
	go run ./test/bench/admission $(BENCHFLAGS)

# Built, not run by `go run`: it starts itself once more to serve a Kafka.
BENCH_TOPICS_FLAGS ?=
bench-topics: $(HELM) ## Measure the topic controller; BENCH_SIZES=1000 limits it, BENCH_TOPICS_FLAGS=-h explains
	go build -o bin/bench-topics ./test/bench/topics && bin/bench-topics $(BENCH_TOPICS_FLAGS)

.PHONY: test-all
test-all: test test-race test-e2e fuzz $(GOTESTSUM) ## Add what is run on demand: data races, clusters, fuzzing, other Kafka versions
	SLUICE_KAFKA_VERSIONS=all $(GOTESTSUM) --format testname -- -p 1 -parallel 2 -timeout 60m ./test/integration
