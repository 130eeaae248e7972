# `make` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help deps deps-mpich deps-python deps-cluster build demo check test lint test-fast test-unit test-program test-python \
	test-mpich test-without-mpi test-cluster build-tests build-mpich build-without-mpi bench bench-train clean python-env
MAKEFLAGS += --no-print-directory

# Where rustup puts cargo, for shells that have not been restarted since.
export PATH := $(PATH):$(HOME)/.cargo/bin

CARGO ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
MACROK := $(TARGET)/release/macrok
VENV := .venv

# Open MPI refuses to run as root or with more ranks than cores without these, and its shared-memory shortcut prints errors in
# containers that forbid ptrace. Other MPIs ignore them.
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
endif
export OMPI_MCA_rmaps_base_oversubscribe := 1
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism := none

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install what is missing: MPI, HDF5, libclang, a C compiler
	@sh tests/install-deps.sh

deps-python: ## install Python, for the tests that compare with its packages
	@sh tests/install-deps.sh python

deps-mpich: ## install MPICH, the second MPI of the tests
	@sh tests/install-deps.sh mpich

deps-cluster: ## install Slurm, munge and sshd, for the cluster tests; starts none of them
	@sh tests/install-deps.sh cluster

build: ## build the program, target/release/macrok
	$(CARGO) build --release --locked

demo: deps build ## fit and compare on synthetic data in ./demo; ends with a table
	@rm -rf demo
	@launch=; if command -v mpirun >/dev/null 2>&1; then launch="mpirun -n 2"; fi; \
	set -x; $$launch $(MACROK) run jobs/demo.toml --out demo

# A step of the tests runs the recipe of do-TARGET. While STEPS names a folder, several steps run at the same time, and each
# shows its output when it ends; tests/summary.sh lists their times and what they skipped.
step = @sh tests/step.sh "$(1)" $(MAKE) do-$@
STEPS_FOLDER := $(abspath $(TARGET))/steps
start_steps = rm -rf $(STEPS_FOLDER) && mkdir -p $(STEPS_FOLDER) && export STEPS=$(STEPS_FOLDER)
end_steps = status=$$?; sh tests/summary.sh $(STEPS_FOLDER); exit $$status

# What `make check` leaves out.
SLOW := ranks:: bad_input::bad_input_is_refused_by_four run_stopped:: signals:: stall:: doctor:: run:: train:: network:: \
	reference::eurlex_train
SLOW_PYTHON := bench layouts many_labels train

check: ## while you work: lints, unit tests and the fast half of the others, in three minutes
	@$(start_steps); $(MAKE) lint test-fast; $(end_steps)

test: deps deps-mpich deps-python deps-cluster ## everything: also ranks on two MPIs, Python, a cluster; in ten minutes
	@$(start_steps); $(MAKE) -j3 IN_PARALLEL=1 test-cluster test-program test-unit test-mpich test-python test-without-mpi; $(end_steps)

# Cargo locks its folder while it compiles. The order of the steps that compile lets the longest ones, which mostly wait,
# start early: the cluster, then the tests of the program.
ifdef IN_PARALLEL
build-without-mpi: build-mpich
lint: build-without-mpi
test-unit: lint
test-python: lint
test-mpich test-without-mpi: test-program
endif

lint: ## rustfmt and clippy, with and without MPI
	$(call step,lints)
do-lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) clippy --locked --all-targets --no-default-features -- -D warnings

test-fast:
	$(call step,fast tests)
do-test-fast: python-env
	$(CARGO) test --locked --quiet --lib
	$(CARGO) test --locked --quiet --test program --test library -- --test-threads=$(THREADS) $(SLOW:%=--skip %)
	@$(MAKE) do-test-python PYTEST_OPTIONS='$(SLOW_PYTHON:%=--ignore tests/python/test_%.py)'

# Cargo would wait for its lock to run them, so tests are run without it, by the names that cargo reports.
build-tests:
	$(call step,build of the tests)
do-build-tests:
	@mkdir -p $(TARGET)
	@$(CARGO) test --locked --no-run --test program --test library 2>$(TARGET)/tests || { cat $(TARGET)/tests; exit 1; }
	@cat $(TARGET)/tests
test_binary = "$$(sed -n 's|.*tests/$(1)/.*(\(.*\))|\1|p' $(TARGET)/tests)"

# Most tests wait for launchers and daemons, so that more of them run than there are cores.
THREADS := 6

test-unit: ## unit tests, and those of the library from outside
	$(call step,unit tests)
do-test-unit:
	$(CARGO) test --locked --lib --test library

test-program: build-tests ## the program, alone and as ranks
	$(call step,tests of the program)
do-test-program:
	$(call test_binary,program) --test-threads=$(THREADS)

test-python: build-tests python-env ## files and metrics against h5py, SciPy, AnnData, scikit-learn, xcolumns
	$(call step,Python tests)
do-test-python:
	@if [ -e $(VENV)/made ]; then \
		MACROK_BIN="$$(realpath $(TARGET)/debug/macrok)" $(VENV)/bin/python -B -m pytest -q -rs -p no:cacheprovider \
			$(PYTEST_OPTIONS) tests/python; \
	else sh tests/skip.sh "Python tests (no Python environment)"; fi

# Further builds of the program, not optimised, start with compiled dependencies and are tested by the same test binary. With
# --examples, although there are none, cargo chooses the features of dependencies as for tests.
VARIANT = sh tests/share-dependencies.sh $(TARGET)-mpich/debug $(1)/debug && \
	sh tests/share-dependencies.sh $(TARGET)/debug $(1)/debug && \
	$(CARGO) build --locked --bin macrok --examples --config profile.dev.opt-level=0 --target-dir $(1)

build-mpich: build-tests
	$(call step,build with MPICH)
do-build-mpich:
	@if command -v mpicc.mpich >/dev/null && command -v mpirun.mpich >/dev/null; then \
		export MPICC=mpicc.mpich && $(call VARIANT,$(TARGET)-mpich) && \
		cc -O -shared -fPIC -o $(TARGET)-mpich/yield.so tests/yield.c -ldl; \
	else sh tests/skip.sh "tests under MPICH (no mpicc.mpich; run make deps-mpich)"; fi

test-mpich: build-tests build-mpich ## the tests of several ranks, with MPICH
	$(call step,tests under MPICH)
do-test-mpich:
	@if [ -e $(TARGET)-mpich/debug/macrok ]; then \
		MACROK_BIN="$$(realpath $(TARGET)-mpich/debug/macrok)" MACROK_TEST_MPIRUN=mpirun.mpich \
			LD_PRELOAD="$$(realpath $(TARGET)-mpich/yield.so)" $(call test_binary,program) --test-threads=2 \
			ranks:: doctor::it_describes doctor::ranks_bound failures::a_rank run::any run::several \
			--skip on_bibtex --skip on_many_labels; \
	else sh tests/skip.sh "tests under MPICH (no program built with it)"; fi

build-without-mpi: build-tests
	$(call step,build without MPI)
do-build-without-mpi:
	@$(call VARIANT,$(TARGET)-without-mpi) --no-default-features

test-without-mpi: build-tests build-without-mpi ## the program built without MPI
	$(call step,tests without MPI)
do-test-without-mpi:
	@MACROK_BIN="$$(realpath $(TARGET)-without-mpi/debug/macrok)" MACROK_TEST_MPIRUN=none $(call test_binary,program) \
		bad_input:: help:: doctor::a_process_bound

# The limit is for tests that hang in spite of their own limits.
test-cluster: build-tests build-mpich deps-cluster python-env ## real Slurm daemons and several hosts, in namespaces; as root
	$(call step,cluster tests)
do-test-cluster:
	@if [ -e $(VENV)/made ]; then \
		if [ -e $(TARGET)-mpich/debug/macrok ]; then \
			export MACROK_MPICH_BIN="$$(realpath $(TARGET)-mpich/debug/macrok)"; fi && \
		MACROK_BIN="$$(realpath $(TARGET)/debug/macrok)" sh tests/cluster/run.sh timeout --foreground -s INT -k 30 1500 \
			$(VENV)/bin/python -B -m pytest -v --tb=short -p no:cacheprovider --basetemp=/run/cluster/tests tests/cluster; \
	else sh tests/skip.sh "cluster tests (no Python environment)"; fi

# How much is measured: S (minutes), M, or full, which needs 24 GiB of memory and 10 GB of disk.
BENCH_SIZE ?= S

bench: build python-env ## compare with xcolumns and the machine (BENCH_SIZE=S|M|full), into docs/performance.md
	@if [ -e $(VENV)/made ]; then \
		$(CARGO) bench --locked --no-run --bench bandwidth && \
		BENCH_COMMAND="make bench BENCH_SIZE=$(BENCH_SIZE)" $(VENV)/bin/python -B benches/compare.py \
			--macrok $(MACROK) --size $(BENCH_SIZE) --folder bench --out docs/performance.md \
			--bandwidth "$(CARGO) bench --quiet --locked --bench bandwidth --"; \
	else sh tests/skip.sh "benchmarks (no Python environment)"; fi

TRAIN_VENV := .venv-train

bench-train: build ## estimators against napkinXC on the data next to the project, into docs/results.md
	@test -e $(TRAIN_VENV)/made || ( $(PYTHON) -m venv $(TRAIN_VENV) && \
		$(TRAIN_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r benches/requirements-train.txt && \
		touch $(TRAIN_VENV)/made )
	@BENCH_COMMAND="make bench-train" $(TRAIN_VENV)/bin/python -B benches/train.py --macrok $(MACROK) $(BENCH_TRAIN)

# AnnData and NumPy of these versions need Python 3.11.
python-env: ## make .venv with the pinned packages of tests/python/requirements.txt
	@if $(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		$(MAKE) $(VENV)/made; \
	else sh tests/skip.sh "Python environment (needs python3, 3.11 or later, with its venv module)"; fi

$(VENV)/made: tests/python/requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
	@touch $@

clean: ## remove everything that these targets make
	rm -rf $(TARGET) $(TARGET)-mpich $(TARGET)-without-mpi $(VENV) $(TRAIN_VENV) demo bench
