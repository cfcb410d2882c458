# `make help` lists what there is to make. Everything happens inside .venv; nothing else is installed.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup constraints demo handouts image lint quick test test-slow test-docker test-slurm test-browser test-aarch64 test-sanitized docs clean

NEWEST_FIRST := python3 python3.14 python3.13 python3.12 python3.11
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in $(NEWEST_FIRST); do $$p -c '$(IS_NEW_ENOUGH)' 2>/dev/null && echo $$p && break; done)

# Bytecode is kept: without it each program that a test starts compiles all of the grader.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
STAMP := .venv/.set-up
EVERYTHING := .[nvcc,dev,docs]
CLASS := tests/sample_class
# Files go to one process each, those that take longest first (tests/durations.json).
IN_PARALLEL = -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
PROCESSES := 2
# On two cores, too: minutes of the slow tests are spent in waiting for clusters, time limits and what hangs.
test-slow: PROCESSES := 3
IMAGE ?= cuda-grader
FEEDBACK_ON ?= $(CLASS)/chidi/tiled.cu

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: $(STAMP)  ## create .venv with the grader, the CUDA compiler and the tools that test it

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 3; }
	$(PYTHON) -m venv .venv

CORE := grader/simulation/native

$(STAMP): pyproject.toml constraints.txt $(wildcard $(CORE)/*.?pp grader/*/*/native/*.?pp grader/simulation/*/*/native/*) | $(BIN)/python
	@command -v g++ >/dev/null || { echo "nvcc needs a host compiler; on Debian and Ubuntu: apt-get install g++" >&2; exit 3; }
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '$(EVERYTHING)'
	@touch $@

constraints: $(STAMP)  ## bring the pinned versions in constraints.txt up to date
	$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '$(EVERYTHING)'
	$(BIN)/python -m tests.pins >constraints.txt

# Exit code 1 means "graded, below full marks", which is what a sample of mistakes is for.
demo: $(STAMP)  ## grade a sample class, and show one submission's feedback
	rm -rf demo-out
	$(BIN)/grader grade tiled-matmul $(CLASS) -o demo-out --i-trust-these-files || test $$? -eq 1
	$(BIN)/grader report demo-out
	$(BIN)/grader check tiled-matmul $(FEEDBACK_ON) || test $$? -eq 1

handouts: $(STAMP)  ## record what the staff's kernels move on visible cases, for the wheel
	rm -rf .venv/handouts
	for folder in assignments/*/; do $(BIN)/grader export-student "$$(basename "$$folder")" .venv/handouts || exit; done
	for file in .venv/handouts/reference/*/*/baselines.json; do \
	    cp "$$file" "handouts/$$(basename "$$(dirname "$$file")").json"; done

# What pip asks for packages may be told in its own variables. The compiler is no part of it: macOS has none.
image: $(BIN)/python  ## the container image for students' machines, called $(IMAGE): no solution is in it
	rm -rf build/wheel
	GRADER_WHEEL_WITHOUT_CORE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	docker build --network host --target grader --tag $(IMAGE) --build-arg PIP_INDEX_URL --build-arg PIP_TRUSTED_HOST .

lint: $(STAMP)  ## lint, types and layers
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-cache >.venv/layers.log || { cat .venv/layers.log; exit 1; }

# What one run compiles the next need not; what a week of runs did not make anew goes.
FRESH_BUILDS = mkdir -p $(TESTS_BUILDS) && find $(TESTS_BUILDS) -type f -mtime +7 -delete
quick test: export TESTS_BUILDS ?= $(CURDIR)/.venv/builds
quick: lint  ## the same, and every test of a function whose tests all take less than half a second
	$(FRESH_BUILDS)
	$(BIN)/python -m pytest -q --quick $(IN_PARALLEL) tests

test: lint  ## the same, and every test that takes less than half a second and needs no GPU, container, …
	$(FRESH_BUILDS)
	$(BIN)/python -m pytest -q $(IN_PARALLEL) tests

test-slow: $(STAMP)  ## the tests that take half a second or more, but for those that need an engine; PART=2/8 runs an eighth of them
	$(BIN)/python -m pytest -q -m "slow and not docker" $(IN_PARALLEL) $(if $(PART),--part $(PART)) tests

test-docker: $(STAMP)  ## the tests that need an engine and bubblewrap, and the attacks (or those that ATTACKS names)
	$(BIN)/grader doctor --build-image
	$(BIN)/python -m pytest -q -m docker $(IN_PARALLEL)
	$(BIN)/grader doctor --attack $(ATTACKS)

test-slurm: $(STAMP)  ## a class on a real Slurm of two nodes (as root: .ci/slurm)
	SLURM_CONF="$$(.ci/slurm)" $(BIN)/python -m pytest -q -m slurm tests/classroom/cluster

test-browser: $(STAMP)  ## the pages in Chromium (as root: .ci/browser)
	$(BIN)/python -m pytest -q -m browser $(IN_PARALLEL) tests/simulation/trace tests/reports

test-aarch64: $(STAMP)  ## whole programs on an emulated processor of Apple's kind (as root: .ci/aarch64)
	$(BIN)/python -m pytest -q -m aarch64 $(IN_PARALLEL) tests/running/device

# The sanitizers are the process's, so it is Python that is started with them; what Python itself leaks is not looked at.
# AddressSanitizer looks for what throws exceptions as the process begins, when Python has no C++ yet.
test-sanitized: $(STAMP)  ## the native core with AddressSanitizer and UndefinedBehaviorSanitizer
	mkdir -p build/sanitized && $(BIN)/python -m grader.toolchain.core_library build/sanitized/libcore.so
	GRADER_CORE=build/sanitized/libcore.so ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	    $(BIN)/python -m pytest -q tests/simulation/emulator/core tests/simulation/emulator/instructions tests/simulation/sass tests/running/estimate/test_m*.py

docs: $(STAMP)  ## the documents as a site, in build/site; a link that leads nowhere is an error
	$(BIN)/mkdocs build --strict

clean:  ## remove .venv, caches and the demonstration's output
	rm -rf .venv $(CORE)/*.so demo-out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
