# Every target first creates the virtual environment if it is missing.
PYTHON ?= python3
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)

.PHONY: demo test test-all bench docs lint clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $@

.venv/documented: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

demo: .venv/installed
	$(BIN)/kibitz demo

# Neighbouring tests need the same kernels: each process gets a half of the tests, and the last ones are shared out.
# Kernels and bytecode are kept for the next run.
PYTEST := NUMBA_CACHE_DIR=$(CURDIR)/.venv/kernels PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

test: lint
	$(PYTEST) -m "not heavy"

test-all: lint
	KIBITZ_WALKS=8 $(PYTEST)

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/tested
	$(BIN)/kibitz bench

docs: .venv/documented
	$(BIN)/python docs/make_site.py

clean:
	rm -rf .venv .cache build dist *.egg-info
