# Two commands do everything, from a fresh clone and from any directory:
#   make demo    set up sudare alone, and show what it does
#   make test    set up the rest, and run the whole test suite, lint and types included
# Others: make unit (fast tests), make test-deep (long evidence), make coverage, make durations, make fuzz (laws on new examples), make lint, make docs, make bench, make lock, make clean.

# By the shell, because make's own functions break at a space in the path.
ROOT := $(shell cd "$$(dirname "$(strip $(MAKEFILE_LIST))")" && pwd)
IN_ROOT := cd "$(ROOT)" &&
PYTHON := .venv/bin/python
JOBS ?= 2

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export MPLBACKEND := Agg
# Compiled modules are kept: tests start the command many times.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-deep coverage durations fuzz unit lint docs bench lock clean help setup setup-core
.DEFAULT_GOAL := help

help:
	@$(IN_ROOT) sed -n '1,4s/^# \{0,1\}//p' Makefile

setup:
	@$(IN_ROOT) sh tools/setup

setup-core:
	@$(IN_ROOT) sh tools/setup core

demo: setup-core
	@$(IN_ROOT) $(PYTHON) -m sudare demo --out out/demo

test: setup
	@$(IN_ROOT) sh tools/setup-browser
	@$(IN_ROOT) $(PYTHON) tools/run_tests.py --lint -- -n $(JOBS) --dist worksteal -m 'not deep'

test-deep: setup
	@$(IN_ROOT) sh tools/setup-browser
	@$(IN_ROOT) $(PYTHON) tools/run_tests.py --record tests/DEEP.md -- -n $(JOBS) --dist worksteal -m deep

coverage: setup
	@$(IN_ROOT) sh tools/setup-browser
	@$(IN_ROOT) $(PYTHON) tools/run_tests.py --coverage tests/COVERAGE.md -- -n $(JOBS) --dist worksteal -m 'not deep'

durations: setup
	@$(IN_ROOT) sh tools/setup-browser
	@$(IN_ROOT) $(PYTHON) tools/run_tests.py --durations tests/durations.tsv -- -n $(JOBS) --dist worksteal -m 'not deep'

fuzz: setup
	@$(IN_ROOT) SUDARE_EXAMPLES=searching $(PYTHON) -m pytest -n $(JOBS) --dist worksteal -m 'not deep' tests/unit tests/contracts

unit: setup
	@$(IN_ROOT) $(PYTHON) tools/run_tests.py -- -n $(JOBS) --dist worksteal -m 'not slow and not deep' tests/unit tests/contracts

lint: setup
	@$(IN_ROOT) .venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/lint-imports --no-cache && .venv/bin/mypy

docs: setup
	@$(IN_ROOT) NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --quiet --site-dir out/docs && echo "The documentation is in out/docs/index.html"

bench: setup
	@$(IN_ROOT) $(PYTHON) -m benchmarks all

lock: setup
	@$(IN_ROOT) $(PYTHON) tools/lock.py

clean:
	$(IN_ROOT) rm -rf .venv .bench out build src/sudare.egg-info papers/build papers/src/sudare_papers.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	$(IN_ROOT) find src papers tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +
