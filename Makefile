# Each target sets up what it needs in a virtual environment of its own; only Python >= 3.10 and make are assumed.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip --quiet --disable-pip-version-check
# Installed by itself before what depends on it, so that the build chosen here is the one that stays.
TORCH  ?= torch==2.13.0
# Test files are shared out among so many processes; a file stays in one.
JOBS   ?= 2

.PHONY: demo test test-long check format docs wheel bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml
	@echo "Setting up Longform in $(VENV) …"
	$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "Setting up the development tools in $(VENV) …"
	$(PIP) install $(TORCH)
	$(PIP) install --editable '.[dev,train,gguf,serve]'
	@touch $@

demo: $(VENV)/.core
	@sh tools/demo.sh $(BIN)/longform

test: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile

test-long: $(VENV)/.dev
	$(BIN)/python -m pytest --long

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/command_docs.py --check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev
	$(BIN)/python tools/command_docs.py

wheel: $(VENV)/.dev
	$(BIN)/python -m build --outdir dist .

bench: $(VENV)/.dev
	$(PIP) install --editable '.[bench]'
	$(BIN)/python bench/bm25.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/cold_start.py

clean:
	rm -rf $(VENV) dist build .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
