# Two commands do everything on a machine with Python 3.11, pip, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test soak lint types layers docs figures check clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --editable . --group dev
	@touch $@

demo: $(READY)  ## the main job on sample sessions: no key, no service
	@$(BIN)/reverie demo

test: $(READY)  ## every test
	@$(BIN)/python -m pytest -n auto

lint: $(READY)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy

layers: $(READY)
	@$(BIN)/lint-imports

docs: $(READY)  ## rewrite the generated parts of docs/
	@$(BIN)/python docs/generate.py

soak: $(READY)  ## the long runs: a hundred thousand odd transcripts through every reader
	@REVERIE_FUZZ=$${REVERIE_FUZZ:-100000} $(BIN)/python -m pytest -n auto tests/properties/test_reader_fuzz.py

figures: $(READY)  ## how the code reads, in figures
	@$(BIN)/python -m benchmarks.figures

check: lint types layers test  ## all that CI runs

clean:
	rm -rf $(VENV)
