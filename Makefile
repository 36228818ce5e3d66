# The words of this project: `make check`, `make test`, … They use the virtual environment where there is one.
BIN := $(if $(wildcard .venv/bin/python),.venv/bin/,)

# What decides a verdict is covered whole, each line and each branch; the rest to nine tenths.
CORE := otf/core/*,otf/spec/*,otf/channels/*,otf/simulate/*,otf/codec/*,otf/framing/*,otf/compose/*,otf/fronts/*,otf/trace/*,otf/values/*,otf/logic/*,otf/laws.py,otf/shrink/*,otf/strategy/*,otf/explore/*,otf/errors.py

.PHONY: check lint fmt types layers spelling test quick slow cov docs demo

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

# ARGS="-n 2 --dist loadfile" spreads the tests over two processes.
test:
	$(BIN)pytest $(ARGS)

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

demo:
	$(BIN)otf run conference
