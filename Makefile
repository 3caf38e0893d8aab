# Every target sets up what it needs; the second time only what has changed.

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo $$python && break; done)
SPEC ?= ../shared/spec
WORKERS ?= 2
SECONDS ?= 60

VENV := .venv
BENCH_VENV := .venv-bench
# A peer that needs older packages than we do.
LITELLM_VENV := .venv-litellm
BIN := $(VENV)/bin
BASE := requirements/build.txt requirements/base.txt

# pyright must not ask the network for a newer version of itself.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Each thread that ever allocated keeps up to 64 MB for itself; a worker that opens a thousand
# projects has had many threads.
export MALLOC_ARENA_MAX := 2

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench chaos soak standards foreman trace clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.base ## run the sample project with the embedded model
	$(BIN)/callboard demo

test: $(VENV)/.dev ## run all tests
	$(BIN)/callboard models pull >/dev/null # the tests of the embedded model need its weights
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.dev ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tools/house.py
	$(BIN)/pyright

bench: $(BENCH_VENV)/.bench $(LITELLM_VENV)/.litellm ## measure against peers and write bench/results.json
	$(BENCH_VENV)/bin/python -m bench $(BENCH_ARGS)

chaos: $(VENV)/.dev ## make every attack at its full size: kills, hostile folders, edits, floods
	$(BIN)/callboard models pull >/dev/null
	CHAOS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m chaos --timeout 1800

soak: $(VENV)/.dev ## let 200 sessions ask a bad provider (SECONDS=60)
	SOAK_SECONDS=$(SECONDS) $(BIN)/python -m pytest tests/soak -p no:randomly

standards: $(VENV)/.dev ## have epubcheck (apt) and axe (npm) look at built books
	npm install --silent --no-save --prefix .standards axe-core@4.10.2
	STANDARDS=required BROWSER_TESTS=required AXE_CORE=.standards/node_modules/axe-core/axe.min.js \
		$(BIN)/python -m pytest -n $(WORKERS) tests/packs/questfoundry/formats/test_qf_standards.py

foreman: $(VENV)/.dev ## talk 200 random turns with the Foreman on the embedded model
	FOREMAN_TURNS=200 $(BIN)/python -m pytest -n0 tests/packs/writers_factory/foreman -m local_model

trace: $(VENV)/.dev ## show which requirements the tests prove (SPEC=folder of the specification)
	$(BIN)/python tools/trace.py --spec $(SPEC)

clean: ## remove what the other targets made
	rm -rf $(VENV) $(BENCH_VENV) $(LITELLM_VENV) .trace .pytest_cache .ruff_cache .hypothesis .import_linter_cache .standards

# $(call set-up,folder,requirement files): a virtual environment with exact versions and the
# project itself, which stays editable.
define set-up
	@test -n "$(PYTHON)" || { echo "Callboard needs Python 3.11 or newer; name it: make PYTHON=..."; exit 1; }
	@echo "Setting up $(1); the first time this takes a few minutes."
	test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(foreach file,$(2),-r $(file))
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --editable .
endef

$(VENV)/.base: $(BASE) pyproject.toml
	$(call set-up,$(VENV),$(BASE))
	@touch $@

$(VENV)/.dev: $(VENV)/.base requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@touch $@

$(BENCH_VENV)/.bench: $(BASE) requirements/bench.txt pyproject.toml
	$(call set-up,$(BENCH_VENV),$(BASE) requirements/bench.txt)
	@touch $@

$(LITELLM_VENV)/.litellm: requirements/litellm.txt
	test -x $(LITELLM_VENV)/bin/python || $(PYTHON) -m venv $(LITELLM_VENV)
	$(LITELLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@
