python := ".venv/bin/python"

# What CI runs on the working tree: tests, style, types, layers. `just ci` adds the README and slow tests.
default: test lint types imports

# Make a working tree from nothing.
setup:
    python3 -m venv .venv
    {{python}} -m pip install --quiet --editable '.[dev]'
    .venv/bin/pre-commit install

# The tests; `just test -m slow` runs the long ones.
test *args:
    {{python}} -m pytest {{args}}

# Style and format.
lint:
    {{python}} -m ruff check .
    {{python}} -m ruff format --check .

# Put the format right.
format:
    {{python}} -m ruff check --fix .
    {{python}} -m ruff format .

types:
    {{python}} -m mypy

# The layers: who may import whom.
imports:
    .venv/bin/lint-imports

# What a stranger's first minute looks like, and then the rest of CI.
ci:
    .ci/run

# The figures of this machine beside the goals; `just bench --sizes 1000,10000` is shorter.
bench *args:
    {{python}} -m benchmarks {{args}}
