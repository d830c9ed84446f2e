# Trainyard's commands; `make` alone lists them. Everything is set up on first use: .venv/ (Python and Node from wheels), .tools/.
SHELL := /bin/sh
.DEFAULT_GOAL := help

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
BIN := .venv/bin
RUN := $(BIN)/trainyard
READY := .venv/.ready
PIP := $(BIN)/python -P -m pip install --quiet --disable-pip-version-check
KUBECONFORM := .tools/bin/kubeconform
T ?= tests
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations 20 --durations-min 10

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml tools/locks/develop.txt
	@test -n "$(PYTHON)" || { echo "python 3.11 or newer is needed; set PYTHON=/path/of/python3" >&2; exit 2; }
	$(PYTHON) -P -m venv .venv
	$(PIP) --require-hashes --requirement tools/locks/develop.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -P -m compileall -q -j 0 platform  # also where PYTHONDONTWRITEBYTECODE is set, each start took twice as long
	@touch $@

$(KUBECONFORM): tools/kubeconform.py | $(READY)
	$(BIN)/python tools/kubeconform.py
	@touch $@

setup: $(READY) $(KUBECONFORM) ## install the environment and the tools

synth: setup ## render generated/ from jobs/ and platform/
	$(RUN) synth $(ARGS)

validate: setup ## judge generated/ as the API server would
	$(RUN) validate $(ARGS)

plan: setup ## say what this branch starts, stops and replaces
	$(RUN) plan $(ARGS)

test: setup ## run all tests (one file: make test T=tests/test_x.py)
	$(PYTEST) $(T) $(ARGS)

test-unit: setup ## run the tests that take seconds
	$(PYTEST) -m 'not slow and not cluster and not argocd' $(T) $(ARGS)

lint: $(READY) ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --cache-dir .cache/import-linter

fix: $(READY) ## repair what a tool can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: setup lint test ## everything that CI runs
	$(RUN) synth --check
	$(RUN) validate

update: setup ## rewrite golden files; read the diff before you commit it
	$(PYTEST) $(T) --update

schemas: setup ## import API types (from upstream, or FROM=a folder of CRD files)
	$(BIN)/python tools/schemas.py $(if $(FROM),--from $(FROM)) $(ARGS)

update-releases: setup ## learn new releases of operators on a branch (from registries, or FROM=a folder)
	$(BIN)/python tools/update_releases.py $(if $(FROM),--from $(FROM)) $(ARGS)

policies: $(READY) ## write what the CEL policies have in common
	$(BIN)/python tools/policies.py

docs: setup ## write the generated pages and the editor schemas
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/editor_schemas.py

site: .venv/.site docs ## build the documentation as a site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --config-file tools/mkdocs.yml

.venv/.site: $(READY) tools/locks/site.txt
	$(PIP) --require-hashes --requirement tools/locks/site.txt
	@touch $@

bench: setup ## measure; the numbers of docs/performance.md
	$(BIN)/python tools/bench_validate.py
	$(BIN)/python tools/bench_admit.py
	@missed=0; \
	$(BIN)/python tools/bench.py $(ARGS) || missed=1; \
	$(BIN)/python tools/bench_commands.py || missed=1; \
	exit $$missed

oracles: $(READY) ## list the real programs that can be asked; build some (O=kueue, O="apiserver crds")
	$(BIN)/python tools/oracles/build.py $(O) $(ARGS)

agreement: setup ## ask the oracles that are built, or some (A=kueue), and count what differs from ours
	$(BIN)/python tools/oracles/agree.py $(A) $(ARGS)

lock: setup ## write the hashes of what constraints.txt pins; CONTRIBUTING.md says how for the other locks
	$(BIN)/python tools/lock.py $(ARGS)

dist: $(READY) ## make a release of the last commit: wheel, sdist, bill of materials, provenance, SHA256SUMS
	$(BIN)/python tools/dist.py

clean: ## remove the environment, tools and caches
	rm -rf .venv .tools .cache dist site

.PHONY: help setup synth validate plan test test-unit lint fix check update schemas update-releases policies docs site bench oracles agreement lock dist clean
