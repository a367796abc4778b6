# Two commands do everything on a machine with Python 3.11, pip, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# One more than there are cores: some tests wait.
WORKERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
# What is larger in a soak. Most faults are larger in a long one only.
SOAKED := $(if $(filter short,$(REVERIE_SOAK)),,tests/faults) tests/golden \
	$(filter-out %erasure.py,$(wildcard tests/crash/test_*.py)) tests/properties/test_reader_fuzz.py tests/contract/test_openapi_fuzz.py \
	tests/story/test_backup.py::test_any_rows_in_any_table_survive_the_way_into_either_database \
	tests/story/test_backup.py::test_a_restore_killed_anywhere_is_done_by_the_same_command \
	tests/story/test_install.py::test_install_proves_the_loop_and_prints_it \
	tests/story/test_durable_dreams.py::test_one_queue_has_nights_over_files_and_dreams_over_stores
# Where bytecode may not be kept, each of the hundreds of processes the tests start compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test contract soak again lint types layers docs site figures check clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --editable . --group dev
	@touch $@

demo: $(READY)  ## the main job on sample sessions: no key, no service
	@$(BIN)/reverie demo

test: $(READY)  ## every test but those of `make contract`, on one database; of nights and faults a sample
	@$(PYTEST) -m "not peer and not browser and not second_database"

contract: $(READY)  ## the tests that need third-party programs or a browser
	@$(PYTEST) -m "peer or browser"

soak: $(READY)  ## the other database, every night, fault and kill, a hundred thousand odd transcripts; REVERIE_SOAK=short is CI's part
	@REVERIE_SOAK= $(PYTEST) -m "not peer and not browser and second_database"; status=$$?; \
	REVERIE_SOAK=$${REVERIE_SOAK:-long} $(PYTEST) --timeout 3600 -m "not peer and not browser" $(SOAKED) && exit $$status

again: $(READY)  ## what failed last, one test at a time
	@REVERIE_SOAK=$(REVERIE_SOAK) $(BIN)/python -m pytest -n 0 --timeout 3600 --last-failed --last-failed-no-failures none

lint: $(READY)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy

layers: $(READY)
	@$(BIN)/lint-imports

docs: $(READY)  ## rewrite the generated parts of docs/
	@$(BIN)/python docs/generate.py

site: $(READY)  ## the docs as pages, in build/site; a broken link fails
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site

figures: $(READY)  ## how the code reads, in figures
	@$(BIN)/python -m benchmarks.figures

check: lint types layers test contract  ## all that CI runs, but for its short soak

clean:
	rm -rf $(VENV)
