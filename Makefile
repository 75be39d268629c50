# make            what there is
# make plan       a real plan, on a fresh clone, in one command
# make test       everything that CI runs
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
TRAINS := .venv/.trains
IMPI := .venv/impi/bin/IMB-MPI1
# Two processes share the tests where there are two cores; `make test SHARE=` is one after another.
SHARE ?= --numprocesses auto --maxprocesses 2
# The fleet's simulator has no loop in C, and the tests of the loops choose C or twin themselves: for
# both, once is enough.
NO_C := --ignore tests/simulator/fleet
# A build for CPUs is enough for the tests; `make test TORCH=torch` takes whatever pip would.
TORCH ?= torch==2.13.0
# Compiled modules are kept, whatever the machine says: the tests start many hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
# Old versions of make mix the output of what runs side by side.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync)
# The longest first.
CHECKS := types duplicates style layers sizes spelling
PRODUCT := $(wildcard src checks docs_build accuracy benchmarks)
SOURCES := pyproject.toml setup.py $(wildcard src/artery/native/*.[ch])
VENV = test -x $(BIN)/python || $(PYTHON) -m venv .venv
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help plan test check $(CHECKS) fix soak fuzz bench accuracy docs

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18

$(READY): $(SOURCES)
	$(VENV)
	$(INSTALL) --editable '.[dev]'
	touch $(READY)

# Modules are compiled when they are first used: of torch and what it brings most never are.
$(TRAINS): $(SOURCES)
	$(VENV)
	$(INSTALL) --no-compile --editable '.[dev,train,mpi]' '$(TORCH)'
	touch $(READY) $(TRAINS)

plan: $(READY) ## the best way to train Llama 3 405B on 16,384 H100
	@$(BIN)/artery plan llama3-405b --on hgx-h100-roce:16384

# Intel's MPI with its benchmarks, apart: it has programs of the same names as Open MPI.
$(IMPI): | $(TRAINS)
	$(INSTALL) --prefix .venv/impi impi-rt

test: BESIDE := $(IMPI)
test: check ## check, then all tests and the examples in docstrings; the simulator without C as well
	$(BIN)/python -m pytest -q $(SHARE)
	ARTERY_NATIVE=0 $(BIN)/python -m pytest -q $(SHARE) tests/simulator $(NO_C)

check: $(TRAINS) ## style, types, layers, sizes, duplicates, spelling: two at once
	@$(MAKE) --no-print-directory --jobs=2 --keep-going $(SYNC) $(CHECKS) $(BESIDE)

types: ; $(BIN)/mypy
duplicates: ; $(BIN)/python -m checks.duplicates $(PRODUCT)
style: ; $(BIN)/ruff check . && $(BIN)/ruff format --check .
layers: ; $(BIN)/lint-imports --no-logo
sizes: ; $(BIN)/python -m checks.sizes
spelling: ; $(BIN)/codespell

fix: $(READY) ## repair style, rewrite the list of frozen flags
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m checks.flags --write

soak: $(TRAINS) ## 200 processes killed at random in one long training run; nothing may be lost
	$(BIN)/python -m checks.soak

fuzz: $(READY) ## 200,000 damaged files against every reader: no traceback, nothing over 2 s
	$(BIN)/python -m checks.fuzz

bench: $(READY) ## speed, as ratios measured in one run
	$(BIN)/python -m benchmarks

accuracy: $(READY) ## predicted against published: writes docs/accuracy.md
	$(BIN)/python -m accuracy

docs: $(READY) ## rewrite the generated pages
	$(BIN)/python -m docs_build
