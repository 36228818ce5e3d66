# The words of this project: `make check`, `make test`, … They use the virtual environment where there is one.
BIN := $(if $(wildcard .venv/bin/python),.venv/bin/,)

# What decides a verdict is covered whole, each line and each branch; the rest to nine tenths.
CORE := otf/core/*,otf/spec/*,otf/channels/*,otf/simulate/*,otf/codec/*,otf/framing/*,otf/compose/*,otf/notations/*,otf/trace/*,otf/values/*,otf/logic/*,otf/laws.py,otf/shrink/*,otf/strategy/*,otf/explore/*,otf/errors.py

.PHONY: check lint fmt types layers spelling test quick slow cov docs wheel oldest demo

check: lint spelling types layers

lint:
	$(BIN)ruff check .
	$(BIN)ruff format --check .

fmt:
	$(BIN)ruff check --fix .
	$(BIN)ruff format .

types:
	$(BIN)mypy
	$(BIN)pyright --pythonpath $$(command -v $(BIN)python)

layers:
	$(BIN)lint-imports --no-logo

spelling:
	$(BIN)codespell . .ci .github

# as the README has it: over three processes on two cores, since many tests wait for something real
test:
	$(BIN)pytest -n 3 --dist loadfile $(ARGS)

# without real systems: what to run between two commits
quick:
	$(BIN)pytest -n 2 -m 'not slow and not real' $(ARGS)

slow:
	$(BIN)pytest -m slow $(ARGS)

cov:
	$(BIN)pytest --cov --cov-report= $(ARGS)
	$(BIN)coverage report --include='$(CORE)' --fail-under=100
	$(BIN)coverage report --omit='$(CORE)' --fail-under=90

docs:
	NO_MKDOCS_2_WARNING=1 $(BIN)mkdocs build

# what a user gets: built, installed into an empty environment, run from another folder
wheel:
	rm -rf build/wheel && $(BIN)pip wheel --quiet --no-deps --wheel-dir build/wheel .
	python3 -m venv --clear build/wheel/venv && build/wheel/venv/bin/pip install --quiet build/wheel/*.whl
	cd build/wheel && venv/bin/otf run coffee --traces 3 --no-saved --out $$(mktemp -d)/out

# with the oldest versions that pyproject allows of what otf itself names
oldest:
	python3 -m venv --clear build/oldest && build/oldest/bin/pip install --quiet uv
	build/oldest/bin/uv pip install --quiet --python build/oldest/bin/python --resolution lowest-direct --editable '.[test]'
	build/oldest/bin/pytest -n 2 -m 'not slow and not real' $(ARGS)

demo:
	$(BIN)otf run conference
