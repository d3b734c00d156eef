# `make serve` speaks, `make test` proves it. Each installs what it needs first, into .venv.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000

BIN := .venv/bin
PINS := .ci/constraints.txt

.PHONY: serve test install install-test lint types javascript tests end-to-end bench fuzz clean

serve: install
	$(BIN)/python -m app serve --host $(HOST) --port $(PORT)

test: lint types javascript tests end-to-end

install: .venv/installed

.venv/installed: pyproject.toml $(PINS) .ci/install_system.py
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "Legato needs Python 3.11 to 3.13: make PYTHON=/path/to/it")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(PINS) --editable .
	$(BIN)/python .ci/install_system.py libgfortran
	touch $@

install-test: .venv/installed-test

.venv/installed-test: .venv/installed tests/js/package-lock.json
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(PINS) --editable '.[dev]'
	$(BIN)/python .ci/install_system.py chromium nginx ffmpeg
	PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix tests/js --no-audit --no-fund
	touch $@

lint: install-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install-test
	$(BIN)/mypy

javascript: install-test
	PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix tests/js run check
	PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix tests/js test

# What is measured in tests/bench is measured with nothing else going on.
tests: install-test
	$(BIN)/python -m pytest tests --ignore=tests/bench --numprocesses 2 --cov --cov-report=
	$(BIN)/python -m pytest tests/bench --cov --cov-append --cov-report=term:skip-covered

end-to-end: install-test
	$(BIN)/python -m pytest e2e

bench: install-test
	$(BIN)/python -m app bench

# Three minutes of requests that the OpenAPI document allows, and of such that it does not.
fuzz: install-test
	$(BIN)/python -m tests.web.fuzzing

clean:
	rm -rf .venv tests/js/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
