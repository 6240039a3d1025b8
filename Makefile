# The two commands of the README are `make demo` and `make test`; every
# target installs what it needs and may be repeated.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
CLOUD ?= .cloud
STOCK ?= .cloud-stock
BIN := .venv/bin
PHASE := tools/phase
PYTEST := $(BIN)/pytest
IMPRINT_CLOUD := $(BIN)/imprint-cloud
SOURCES := $(shell find src shim etc/metadefs -type f -not -name '*.pyc') \
	pyproject.toml README.md LICENSE

export IMPRINT_CLOUD_DIR := $(abspath $(CLOUD))

.PHONY: help
help: ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) \
	    | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

.PHONY: demo
demo: cloud ## Start the cloud and boot one image with many properties
	@$(PHASE) demo $(BIN)/python -m imprint.cloud.demo --dir $(CLOUD)

.PHONY: test
test: test-fast docs test-cloud ## Lint, types, all tests, the real cloud

.PHONY: test-fast
test-fast: lint install recipes ## Lint, types and the tests without a cloud
	@$(PHASE) unit $(PYTEST) -q tests/unit
	@$(PHASE) contract $(PYTEST) -q tests/contract
	@$(PHASE) functional $(PYTEST) -q -n auto \
	    --dist worksteal tests/functional

.PHONY: test-cloud
test-cloud: install recipes ## Tests on the real cloud, left as it was found
	@tools/with-cloud $(CLOUD) $(PHASE) e2e tools/e2e

.PHONY: test-fresh
test-fresh: install ## demo and test-fast in bare Debian 12 and 13 roots
	@$(BIN)/python tools/fresh.py $(RELEASES)

.PHONY: lint
lint: .make/venv ## Format, lint, import rules and types
	@$(PHASE) format $(BIN)/ruff format --check --quiet
	@$(PHASE) ruff $(BIN)/ruff check --quiet
	@$(PHASE) imports env PYTHONPATH=src $(BIN)/lint-imports --no-logo
	@$(PHASE) types $(BIN)/mypy --no-error-summary

.PHONY: cloud
cloud: install ## Start a real OpenStack on this machine
	@$(PHASE) cloud $(IMPRINT_CLOUD) --dir $(CLOUD) up

.PHONY: cloud-down
cloud-down: install ## Stop it; servers and images are kept
	@$(PHASE) cloud-down $(IMPRINT_CLOUD) --dir $(CLOUD) down

.PHONY: bench
bench: cloud ## Measure against the same cloud without Imprint
	@tools/bench $(CLOUD) $(STOCK)

.PHONY: docs
docs: install ## Build the pages, warnings are errors
	@$(PHASE) docs $(BIN)/sphinx-build -q -W --keep-going \
	    -b html docs docs/_build/html

.PHONY: lock
lock: .make/venv ## Resolve anew: uv.lock and the pins of the cloud
	@$(PHASE) lock $(BIN)/python tools/lock.py

.PHONY: metadefs
metadefs: install ## Write etc/metadefs anew, for this Nova
	@$(PHASE) metadefs $(BIN)/python tools/metadefs.py

# The built wheel beside Nova: an editable install would leave the driver
# shim out of Nova's package.
.PHONY: install
install: .make/wheel

.make/wheel: .make/venv $(SOURCES)
	@rm -rf dist
	@$(PHASE) wheel $(BIN)/uv build -q --wheel -o dist .
	@$(PHASE) install $(BIN)/uv pip install -q -p $(BIN)/python \
	    --no-deps --reinstall-package openstack-imprint dist/*.whl
	@touch $@

.PHONY: recipes
recipes: .make/recipes.txt

.make/recipes.txt: .make/venv tools/recipes
	@$(PHASE) recipes tools/recipes
	@touch $@

.make/venv: uv.lock pyproject.toml tools/venv tools/package-index \
	    tools/host-packages
	@mkdir -p .make
	@$(PHASE) host-packages tools/host-packages
	@PYTHON=$(PYTHON) $(PHASE) venv tools/venv
	@touch $@
