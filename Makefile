# Everything needed is set up by the targets themselves; Python 3.11 or newer is all they ask for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# Of the tests: one more than there are cores, since browsers are waited for
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: run test soak bench demo docs lint

# The dashboard on the demo workspace; on your own with SEAM_WORKSPACE=folder make run
run: $(VENV)/.run
	@if [ -z "$$SEAM_WORKSPACE" ] && [ ! -e workspace ]; then cp -R fixtures workspace; fi
	$(BIN)/streamlit run app.py --server.port $(PORT)

# Style, types and every test, the browser's included
test: $(VENV)/.test
	$(MAKE) lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not soak"

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The long ones
soak: $(VENV)/.test
	$(BIN)/python -m pytest -m soak

# Ratios against a plain scan and a plain loop, measured in one run (10 minutes and 3 GB of disk)
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

# The demo workspace, made anew from its seed
demo: $(VENV)/.run
	$(BIN)/python -m seam_core simulate demo fixtures

# The generated part of the documentation
docs: $(VENV)/.test
	$(BIN)/python docs/make_reference.py

$(VENV)/.run: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.test: requirements.txt requirements-test.txt requirements-embedding.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@sh tests/browser/install_chromium.sh
	touch $@
