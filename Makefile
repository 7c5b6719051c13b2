# Everything a newcomer types. `make run` and `make test` make their virtual environment themselves, from the locks.

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One marker file per lock: a second call finds it and does nothing; another lock, or another Python, has another name.
MARK := $(shell { cat requirements/runtime.txt requirements/dev.txt; $(PYTHON) -V; } 2>&1 | cksum | cut -d' ' -f1)
RUNTIME := $(VENV)/.runtime-$(MARK)
DEV := $(VENV)/.dev-$(MARK)
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-input \
	--only-binary :all: --require-hashes
ARGS ?=
CONFORMANCE ?= ../shared/conformance

.PHONY: run test verify lint bench bench-media conformance lock messages documents

run: $(RUNTIME)
	@exec $(BIN)/python manage.py run $(ARGS)

test: $(DEV)
	@$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

verify: $(DEV)
	@$(BIN)/python -m pytest -m verify -n 2 --dist loadfile --timeout 900 $(ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: $(DEV)
	@$(BIN)/python -m benchmarks $(ARGS)

# What uploaded files are, and what becomes of them; more files: make bench-media ARGS="photo.heic film.mov"
bench-media: $(DEV)
	@$(BIN)/python -m benchmarks.media $(ARGS)

# Compares with recorded answers of Mastodon, where the folder is at hand: make conformance ARGS="accounts_* --quiet"
conformance: $(DEV)
	@CONFORMANCE="$(CONFORMANCE)" $(BIN)/python -m tests.support.conformance $(subst *,\*,$(ARGS))

# The locks hold hashes and no index addresses.
lock: .tools/bin/uv
	.tools/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 \
		pyproject.toml -o requirements/runtime.txt
	.tools/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 \
		--extra dev pyproject.toml -o requirements/dev.txt

# The table of endpoints in docs/coverage.md and the OpenAPI document, from what the viewsets declare.
documents: $(DEV)
	@$(BIN)/python -m tests.support.documents

# Adds new sentences to the catalogues and compiles them; needs no GNU gettext.
messages: $(DEV)
	@$(BIN)/python -m tests.support.catalogs

.tools/bin/uv:
	@$(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install --quiet --disable-pip-version-check uv

# pip comes last: an environment whose making was interrupted is made again.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or later is needed; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "The venv module is missing: apt-get install python3-venv (the Debian package), then make again." >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)

$(RUNTIME): | $(BIN)/pip
	@echo "Installing what the server needs (once, about half a minute)."
	@$(PIP) -r requirements/runtime.txt
	@rm -f $(VENV)/.runtime-*
	@touch $@

$(DEV): | $(BIN)/pip
	@echo "Installing what the server and its tests need (once, about a minute)."
	@$(PIP) -r requirements/dev.txt
	@rm -f $(VENV)/.dev-* $(VENV)/.runtime-*
	@touch $(RUNTIME) $@
