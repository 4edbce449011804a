# make demo   set up what is needed and run the main job
# make test   the tests (make test-all: the full products too), make lint, make types
# make site   the site, in build/site (make site-serve: and show it)
#             PYODIDE=folder, an unpacked release of Pyodide, lets readers run target python in the browser
#             VERSIONS=folder, of sites of earlier versions, serves these, too
#
# PYTHON=... chooses the interpreter (3.11 or newer) the first time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2

.PHONY: demo test test-all gpu-test lint types format site site-serve clean

demo: $(STAMPS)/core
	@tools/gpu_extra install $(BIN) $(STAMPS)
	@$(BIN)/evenly demo

test: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(WORKERS)

test-all: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(WORKERS) -m "slow or not slow"

gpu-test: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(WORKERS) -m gpu

lint: $(STAMPS)/dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

format: $(STAMPS)/dev
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

types: $(STAMPS)/dev
	$(BIN)/python -m mypy

site: $(STAMPS)/site
	$(BIN)/python site/build.py build/site

site-serve: site
	@echo "http://localhost:8000, until Ctrl-C"
	@$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory build/site

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "evenly needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>/dev/null || echo not there)." \
	       "Choose another: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed: install its venv module (Debian: python3-venv)"; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/core: $(STAMPS)/venv pyproject.toml constraints.txt
	@echo "setting up $(VENV) ..."
	@$(PIP) -c constraints.txt -e .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/core pyproject.toml constraints.txt constraints-cu12.txt constraints-cu13.txt
	@$(PIP) -c constraints.txt -e '.[dev]'
	@tools/gpu_extra compile $(BIN) $(STAMPS)
	@touch $@

$(STAMPS)/site: $(STAMPS)/core pyproject.toml constraints.txt constraints-site.txt
	@$(PIP) -c constraints.txt -c constraints-site.txt -e '.[site]'
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
