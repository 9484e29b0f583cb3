# Two commands do everything, from a fresh clone and from any directory:
#   make demo    set up, and show what sudare does
#   make test    set up, and run the whole test suite, lint and types included
# Others: make unit (fast tests), make lint, make bench, make lock, make clean.

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
VENV := $(ROOT)/.venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
JOBS ?= 2

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export MPLBACKEND := Agg

.PHONY: demo test unit lint bench lock clean help
.DEFAULT_GOAL := help

help:
	@sed -n '1,4s/^# \{0,1\}//p' '$(ROOT)/Makefile'

$(READY): $(ROOT)/pyproject.toml $(ROOT)/constraints.txt $(ROOT)/tools/make-venv
	@sh '$(ROOT)/tools/make-venv' '$(VENV)'
	@echo 'Installing sudare and its tools into .venv ...'
	@cd '$(ROOT)' && $(PYTHON) -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch '$@'

demo: $(READY)
	@cd '$(ROOT)' && $(PYTHON) -m sudare.demo

test: lint
	@cd '$(ROOT)' && $(PYTHON) -m pytest -n $(JOBS) --dist worksteal

unit: $(READY)
	@cd '$(ROOT)' && $(PYTHON) -m pytest -n $(JOBS) --dist worksteal -m 'not slow' tests/unit tests/contracts

lint: $(READY)
	@cd '$(ROOT)' && $(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/lint-imports --no-cache && $(VENV)/bin/mypy

bench: $(READY)
	@cd '$(ROOT)' && $(PYTHON) -m benchmarks all

lock: $(READY)
	@cd '$(ROOT)' && $(PYTHON) tools/lock.py

clean:
	rm -rf '$(VENV)' '$(ROOT)/.bench' '$(ROOT)/out' '$(ROOT)/build'
	find '$(ROOT)/src' '$(ROOT)/tests' '$(ROOT)/benchmarks' -name __pycache__ -type d -prune -exec rm -rf {} +
