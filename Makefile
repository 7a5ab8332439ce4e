# make test   everything a change must pass: lint, types, tests
# make demo   the main job
# Both set up .venv by themselves the first time; nothing but Python 3.11 or newer has to be there.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.ready
INSTALL := "$(BIN)/python" -m pip install -q --disable-pip-version-check -c constraints.txt
PACKAGES := sub2sub hierarchy workloads sims
REV ?= HEAD~1

.DEFAULT_GOAL := help
.PHONY: help test demo docs bench bench-compare coverage check-indices lint types unit format constraints clean

help:
	@echo "make test    set up, then lint, type check and test"
	@echo "make demo    set up, then run the main job (results in out/)"
	@echo "make docs    build the site of the docs into out/site"
	@echo "make bench   run the benchmarks"
	@echo "make bench-compare REV=...  processor time of the whole stack beside another commit"
	@echo "make coverage  which lines of the kernels a tour of all of them reaches, without compilation"
	@echo "make check-indices  run all kernels compiled so that a place outside of its array is an error"
	@echo "make lint | types | unit    one part of 'make test'"
	@echo "make format  format the code in place"
	@echo "make clean   remove the environment, caches and results"

# Stamps are written last, so an interrupted set-up is taken up again. The simulator alone comes first: the
# demonstration shows something before the rest, Spark and a Java above all, is there.
$(CORE): pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	"$(PYTHON)" -m venv "$(VENV)"
	$(INSTALL) setuptools
	$(INSTALL) --no-build-isolation -e ".[sims]"
	@touch "$(CORE)"

$(READY): $(CORE)
	$(INSTALL) --no-build-isolation -e ".[sims,spark,live,lab,docs,dev]"
	"$(BIN)/sub2sub" warm
	@touch "$(READY)"

test: lint types unit

lint: $(READY)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .

types: $(READY)
	"$(BIN)/mypy"

# Tests of one group (a Spark session, a cluster) stay in one worker.
unit: $(READY)
	"$(BIN)/python" -m pytest -n auto --dist loadgroup

# Each step takes up what an earlier, interrupted one left.
demo: $(CORE)
	"$(BIN)/sub2sub" run demo --out out/demo --resume
	"$(BIN)/sub2sub" report out/demo --out out/index.html
	@echo "out/index.html has the first part: ten thousand peers build rings, lose a tenth, heal. More is coming."
	"$(BIN)/sub2sub" compare --quick --seeds 3 --out out/compare
	[ -e "$(READY)" ] || $(INSTALL) --no-build-isolation -e ".[sims,spark]"
	[ -e out/power-law-3/events/_SUCCESS ] || "$(BIN)/sub2sub" workload generate --spec power-law-3 --subscribers 10000 --events 10000 --overwrite --out out/power-law-3
	"$(BIN)/sub2sub" workload match out/power-law-3
	"$(BIN)/sub2sub" stats out/power-law-3 --out out/statistics
	"$(BIN)/sub2sub" report out/demo out/compare out/statistics --out out/index.html --title "Rings of ten thousand, what topics and ranges cost, ring statistics"

# Without network access, and a warning is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 "$(BIN)/mkdocs" build --strict --quiet
	@echo "out/site/index.html"

bench: $(READY)
	@for name in overlay events matching ring_sizes; do echo "== $$name"; "$(BIN)/python" "benchmarks/$$name.py" || exit 1; done

# Both commits in one run, alternating.
bench-compare: $(READY)
	"$(BIN)/python" benchmarks/against.py "$(REV)"

# Kernels are not seen by coverage once they are compiled.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 "$(BIN)/python" -W ignore::RuntimeWarning -m coverage run --source=sub2sub,hierarchy -m tests.sub2sub.kernels.tour
	"$(BIN)/python" -m coverage report --sort=cover

# Kernels take an index as it is; these are compiled anew, with the question whether it is inside.
check-indices: $(READY)
	SUB2SUB_CHECK_INDICES=1 "$(BIN)/python" -m tests.sub2sub.kernels.tour

format: $(READY)
	"$(BIN)/ruff" check --fix-only .
	"$(BIN)/ruff" format .

# Resolve pyproject.toml without the pins and write what came out.
constraints:
	rm -rf build/constraints
	"$(PYTHON)" -m venv build/constraints
	build/constraints/bin/python -m pip install -q --disable-pip-version-check ".[sims,spark,live,lab,docs,dev]" "setuptools>=77"
	@head -2 constraints.txt > build/constraints.txt
	build/constraints/bin/python -m pip freeze --exclude sub2sub-overlays --all | grep -v '^pip==' >> build/constraints.txt
	mv build/constraints.txt constraints.txt

clean:
	rm -rf "$(VENV)" build out .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info spark-warehouse
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
