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
CORPORA := fediverse-pasture-inputs==0.3.0 funfedi-parsing-test-cases==0.1.7

.PHONY: run help test dev shell verify interop lint release corpora bench bench-media conformance lock messages documents pictures

run: $(RUNTIME) ## Start everything at http://localhost:8000 (the first time it is installed and set up)
	@exec $(BIN)/python manage.py run $(ARGS)

help: ## List what make can do
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-14s %s\n' "$$name" "$$text"; done

# A run starts a hundred processes: each would compile the whole program again.
test verify interop: export PYTHONDONTWRITEBYTECODE =
test: $(DEV) ## Run the test suite on servers of its own; one test: make test ARGS="tests/api -k language -n 0"
	@$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

dev: $(DEV) ## Run with demonstration data and debug pages, and again after every change of the code
	@DJANGO_SETTINGS_MODULE=social.settings.dev $(BIN)/python manage.py setup
	@$(BIN)/python manage.py seed_demo
	@exec $(BIN)/python manage.py dev

shell: $(DEV) ## A Python shell with every model imported
	@exec $(BIN)/python manage.py shell

verify: $(DEV) ## Run the slow promises: kills, deep properties (half an hour)
	@$(BIN)/python -m pytest -m verify -n 3 --dist loadfile --timeout 900 $(ARGS)

interop: $(DEV) ## Run servers made of Fedify, bovine and activitypub-bot beside ours; npm and pip bring them, without them this is skipped
	@$(BIN)/python -m pytest -m interop -n 0 -rs --timeout 900 tests/interop $(ARGS)

corpora: $(DEV) ## Read the public collections of documents that other software sends; pip brings them
	@$(BIN)/python -m pip install --quiet --upgrade --target .tools/corpora $(CORPORA)
	@$(BIN)/python -m pytest -n 0 -rs tests/federation/test_corpora.py $(ARGS)

lint: $(DEV) ## Check style, types, layers and migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

release: lint ## Check what a release needs beside the tests: style, and a translation of every sentence
	@$(BIN)/python -m pytest -m release -n 0 tests/architecture $(ARGS)

bench: $(DEV) ## Measure; which workloads there are: make bench ARGS=--help
	@$(BIN)/python -m benchmarks $(ARGS)

bench-media: $(DEV) ## Measure what becomes of uploaded files; others: make bench-media ARGS="photo.heic film.mov"
	@$(BIN)/python -m benchmarks.media $(ARGS)

conformance: $(DEV) ## Compare with recorded answers of Mastodon, where CONFORMANCE names their folder
	@CONFORMANCE="$(CONFORMANCE)" $(BIN)/python -m tests.support.conformance $(subst *,\*,$(ARGS))

# The locks hold hashes and no index addresses. What the server runs with is the same in all of them.
lock: .tools/bin/uv ## Write the locks in requirements/ from pyproject.toml
	.tools/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 \
		pyproject.toml -o requirements/runtime.txt
	.tools/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 \
		--extra dev --constraints requirements/runtime.txt pyproject.toml -o requirements/dev.txt
	.tools/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 \
		--extra observability --constraints requirements/runtime.txt pyproject.toml -o requirements/observability.txt

documents: $(DEV) ## Write the OpenAPI document, the table of endpoints and docs/interop.md from what is declared
	@CONFORMANCE="$(CONFORMANCE)" $(BIN)/python -m tests.support.documents

pictures: $(DEV) ## Take the pictures of pages in docs/pictures anew, of demonstration data; needs Chromium and port 8000
	@$(BIN)/python -m tests.support.pictures

messages: $(DEV) ## Add new sentences to the translations and compile them
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
