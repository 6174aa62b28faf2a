# Each target makes .venv itself from Python >= 3.11 alone.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test bench format clean

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)
	@rm -rf demo && mkdir -p demo/research && cp templates/demo/question.md demo/research/
	$(BIN)/harness -C demo/research run --in templates/demo/documents || test $$? -eq 4

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist loadfile

bench: $(STAMP)
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.fold_speed
	$(BIN)/python -m benchmarks.counters
	$(BIN)/python -m benchmarks.factbook --questions 10
	$(BIN)/python -m benchmarks.cutting
	$(BIN)/python -m benchmarks.folding

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv demo bench-out build dist
