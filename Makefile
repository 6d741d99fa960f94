# `make help` lists the targets.

PYTHON ?= python3
JOBS ?= 2
PROGRAMS ?= 20000
REV ?= HEAD

PY := .venv/bin/python
PYTEST := $(PY) -m pytest
PARALLEL := -n $(JOBS) --dist worksteal

# Checks run side by side, each to its end: what one leaves of the processors another one takes. But
# tests as other processors come last: with more processes than processors all take far longer.
TOGETHER := --no-print-directory --jobs=2 --keep-going

# Else each process, of those that tests start, too, would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

# The benchmarks run in the environment that has the competitors, if it was made.
BENCH_PY = $(if $(wildcard .venv-bench/.stamp),.venv-bench/bin/python,$(PY))

# $(call make-env,folder,extras)
comma := ,
define make-env
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "fxc needs Python 3.11 or newer, and '$(PYTHON)' is missing or older;" \
	       "name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making the environment $(1) (a minute or so the first time)"
	@$(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -e ".[$(2)]"
	@$(1)/bin/python -m compileall -q fxc passes lowering runtime
	@touch $(1)/.stamp
endef

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env demo test check lint types types-pyright tests as-this-processor thorough processors test-versions forks test-browser format accept semantics modules errors gallery docs coverage fuzz packages bench bench-costs bench-scaling bench-check bench-env clean clean-env

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

.venv/.stamp: pyproject.toml
	$(call make-env,.venv,test$(comma)examples)

.venv-bench/.stamp: pyproject.toml
	$(call make-env,.venv-bench,bench)

.venv-pyright/.stamp:
	@$(PYTHON) -m venv .venv-pyright
	@.venv-pyright/bin/python -m pip install --quiet --disable-pip-version-check basedpyright
	@touch $@

env: .venv/.stamp ## Make the environment in .venv (every target does so when needed)

demo: env ## Run the five example programs with and without fxc, compare and time them
	$(PY) -m fxc demo

test: check ## Run all checks: lint, format, types, tests

check: env ## The same as `make test`
	@$(MAKE) $(TOGETHER) as-this-processor lint types; found=$$?; \
	$(MAKE) --no-print-directory processors && exit $$found

lint: env ## Lint, and check the formatting
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: env ## Check the types (mypy, strict)
	$(PY) -m mypy
	$(PY) -m mypy --strict tests/typed_uses.py

types-pyright: env .venv-pyright/.stamp ## Check the types that users see by pyright, too
	.venv-pyright/bin/basedpyright --pythonpath $(PY)

tests: env ## Run the tests alone, those that compare bits as other processors, too
	@$(MAKE) --no-print-directory as-this-processor; found=$$?; \
	$(MAKE) --no-print-directory processors && exit $$found

as-this-processor: env
	$(PYTEST) $(PARALLEL) --durations=10

thorough: env ## Run the tests on whole products of layouts, dtypes and operators, not on their pairs
	$(PYTEST) $(PARALLEL) --thorough

processors: env ## Run the tests that compare bits as AVX-512, AVX2 and SSE2 processors
	$(PY) -m tests.processors

test-versions: ## Run the tests on each Python that is found (3.11 to 3.13), with NumPy 2.0 to 2.5
	@$(PYTHON) tests/versions.py $(PARALLEL) $(TESTS)

forks: env ## Fork for a minute while eight threads compile and call
	$(PY) -W ignore -m tests.forking 60 8

format: env ## Format the sources, sort imports
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# One process: two workers would rewrite the same test file over each other.
accept: env ## Rewrite the expected text of the expect tests; read the diff afterwards
	EXPECTTEST_ACCEPT=1 $(PYTEST)

semantics: env ## Write docs/semantics.md from tests/scenarios
	$(PY) -m tests.scenarios

modules: env ## Write docs/modules.md from the docstrings and Notes of the sources
	$(PY) -m tests.modules

errors: env ## Write what the programs of docs/errors show, and the list of pages
	$(PY) -m tests.error_pages

gallery: env ## Run the examples, and write docs/gallery.md and its pictures
	$(PY) -m tests.gallery

.venv-docs/.stamp: pyproject.toml
	$(call make-env,.venv-docs,docs)

docs: .venv-docs/.stamp ## Build the site of docs in site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet

coverage: env ## Write docs/coverage.md: what becomes of each of NumPy's functions
	$(PY) -m tests.coverage

test-browser: env ## Open reports in Debian's chromium, if it is there
	$(PYTEST) tests/reporting/in_browser.py

fuzz: env ## Run many random programs (make fuzz PROGRAMS=20000)
	FXC_VERIFY_GRAPHS= FXC_FUZZ_PROGRAMS=$(PROGRAMS) $(PYTEST) $(PARALLEL) tests/programs/test_planted_bugs.py tests/programs/test_random_programs.py tests/programs/test_random_loops.py tests/programs/test_random_containers.py tests/programs/test_random_sizes.py tests/programs/test_random_short.py tests/programs/test_random_expressions.py tests/programs/test_random_functions.py tests/programs/test_random_mixed.py tests/programs/test_random_modules.py tests/programs/test_random_types.py tests/programs/test_random_wide.py

packages: env ## Run a package's tests with its functions compiled (make packages PACKAGE="pywt pywt.tests")
	$(PY) -m tests.packages $(PACKAGE)

bench: env ## Time programs of users by fxc, NumPy and what `make bench-env` installed
	$(BENCH_PY) -m benchmarks.suites $(ROWS)

bench-costs: env ## Time what starting, compiling, writes, splits, flags, draws and threads cost
	$(BENCH_PY) -m benchmarks

bench-scaling: env ## Time a stencil over chunks on one and two of Dask's workers
	OMP_NUM_THREADS=1 FXC_NUM_THREADS=1 $(PY) -m benchmarks.scaling

bench-check: env ## Compare with a commit (make bench-check REV=main ROWS="loops calls/unit")
	$(BENCH_PY) -m benchmarks.compare $(REV) $(ROWS)

bench-env: .venv-bench/.stamp ## Make .venv-bench with numba, numexpr and jax

clean: ## Remove caches, build products and what the demo wrote
	rm -rf build dist site demo-output *.egg-info .hypothesis .machine_code .mypy_cache .pytest_cache .ruff_cache
	find . -path './.venv*' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

clean-env: ## Remove the environments
	rm -rf .venv .venv-bench .venv-pyright .venv-docs
