# `make` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help deps deps-mpich deps-python deps-cluster build demo test test-python test-mpich test-cluster bench bench-train lint clean python-env
MAKEFLAGS += --no-print-directory

# Where rustup puts cargo, for shells that have not been restarted since.
export PATH := $(PATH):$(HOME)/.cargo/bin

CARGO ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
MACROK := $(TARGET)/release/macrok
VENV := .venv

# Open MPI refuses to run as root, and more ranks than cores, unless told; and its shared-memory shortcut fails
# with noise in containers that forbid ptrace. Other MPIs ignore these.
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
endif
export OMPI_MCA_rmaps_base_oversubscribe := 1
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism := none

step = @printf '\n==> %s  %s\n' "$$(date +%T)" "$(1)"

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install what is missing: MPI, HDF5, libclang, a C compiler
	@sh tests/install-deps.sh

deps-python: ## install Python, for the tests on the other side of the files
	@sh tests/install-deps.sh python

deps-mpich: ## install MPICH, the second MPI of the tests
	@sh tests/install-deps.sh mpich

deps-cluster: ## install Slurm, munge and sshd, for a cluster of the tests' own; starts none of them
	@sh tests/install-deps.sh cluster

build: ## build the program, target/release/macrok
	$(CARGO) build --release --locked

demo: deps build ## fit and compare on synthetic data in ./demo; ends with a table
	@rm -rf demo
	@launch=; if command -v mpirun >/dev/null 2>&1; then launch="mpirun -n 2"; fi; \
	set -x; $$launch $(MACROK) run jobs/demo.toml --out demo

lint: ## rustfmt and clippy, with and without MPI
	$(call step,rustfmt)
	$(CARGO) fmt --check
	$(call step,clippy)
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(call step,clippy without MPI)
	$(CARGO) clippy --locked --all-targets --no-default-features -- -D warnings

# What is built a second time only to see that it works need not be fast. Dependencies are the same in every profile.
PLAIN := --config profile.dev.opt-level=0
FAIR := --config profile.dev.opt-level=1

# The program of the tests, target/debug/macrok. `cargo build` would make it anew: what the tests need besides gives some
# dependencies other features.
BUILD_TESTED = $(CARGO) test --locked --no-run

# Without MPI first: both leave their binary in target/debug, and the Python tests take the one with MPI.
test: deps deps-mpich deps-python deps-cluster python-env lint ## everything: lints, unit tests, ranks on two MPIs, Python, a cluster
	$(call step,tests without MPI)
	$(CARGO) test --locked --no-default-features $(PLAIN) --test program --test library -- \
		bad_input:: help:: store_round_trip:: doctor::a_process_bound
	$(call step,tests)
	$(CARGO) test --locked
	@$(MAKE) test-python
	@$(MAKE) test-mpich
	@# Real daemons, clocks of minutes, ranks killed at random: what fails must fail twice to be told from a busy machine.
	@$(MAKE) test-cluster || { echo "CLUSTER TESTS FAILED: see above; once more"; $(MAKE) test-cluster; }
	$(call step,all tests passed)

test-python: python-env ## files and metrics against h5py, SciPy, AnnData, scikit-learn, xcolumns
	$(call step,Python tests)
	@if [ -e $(VENV)/made ]; then \
		$(BUILD_TESTED) && \
		MACROK_BIN="$$(realpath $(TARGET)/debug/macrok)" $(VENV)/bin/python -B -m pytest -q -p no:cacheprovider tests/python; \
	else echo "SKIPPED: Python tests (no Python environment, see above)"; fi

# One after the other: its ranks wait by turning in circles.
test-mpich: ## the tests of several ranks, built with MPICH
	$(call step,ranks under MPICH)
	@if command -v mpicc.mpich >/dev/null && command -v mpirun.mpich >/dev/null; then \
		sh tests/share-dependencies.sh $(TARGET)/debug $(TARGET)-mpich/debug && \
		MPICC=mpicc.mpich MACROK_TEST_MPIRUN=mpirun.mpich $(CARGO) test --locked --target-dir $(TARGET)-mpich $(FAIR) \
			--test program -- --test-threads=1 ranks:: doctor::it_tells doctor::ranks_that failures::a_rank_that run::an; \
	else echo "SKIPPED: tests under MPICH (no mpicc.mpich; run make deps-mpich)"; fi

# As root, with Slurm and sshd. Some five minutes on two cores; the limit is for a test that hangs in spite of its own.
test-cluster: deps-cluster python-env ## real Slurm daemons and several hosts, in namespaces on this machine
	$(call step,cluster tests)
	@if [ -e $(VENV)/made ]; then \
		$(BUILD_TESTED) && \
		mpich=$(TARGET)-mpich/debug/macrok && \
		if [ -e $$mpich ] && [ -z "$$(find src Cargo.lock -newer $$mpich)" ]; then \
			export MACROK_MPICH_BIN="$$(realpath $$mpich)"; fi && \
		MACROK_BIN="$$(realpath $(TARGET)/debug/macrok)" sh tests/cluster/run.sh timeout --foreground -s INT -k 30 1500 \
			$(VENV)/bin/python -B -m pytest -v --tb=short -p no:cacheprovider --basetemp=/run/cluster/tests tests/cluster; \
	else echo "SKIPPED: cluster tests (no Python environment, see above)"; fi

# How much is measured: S (minutes), M, or full, which needs 24 GiB of memory and 10 GB of disk.
BENCH_SIZE ?= S

bench: build python-env ## compare with xcolumns and the machine (BENCH_SIZE=S|M|full), into docs/performance.md
	$(call step,benchmarks)
	@if [ -e $(VENV)/made ]; then \
		$(CARGO) bench --locked --no-run --bench bandwidth && \
		BENCH_COMMAND="make bench BENCH_SIZE=$(BENCH_SIZE)" $(VENV)/bin/python -B benches/compare.py \
			--macrok $(MACROK) --size $(BENCH_SIZE) --folder bench --out docs/performance.md \
			--bandwidth "$(CARGO) bench --quiet --locked --bench bandwidth --"; \
	else echo "SKIPPED: benchmarks (no Python environment, see above)"; fi

TRAIN_VENV := .venv-train

bench-train: build ## estimators against napkinXC on the data beside the project, into docs/results.md
	$(call step,benchmarks of training)
	@test -e $(TRAIN_VENV)/made || ( $(PYTHON) -m venv $(TRAIN_VENV) && \
		$(TRAIN_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r benches/requirements-train.txt && \
		touch $(TRAIN_VENV)/made )
	@BENCH_COMMAND="make bench-train" $(TRAIN_VENV)/bin/python -B benches/train.py --macrok $(MACROK) $(BENCH_TRAIN)

# AnnData and NumPy of these versions need Python 3.11.
python-env: ## make .venv with the pinned packages of tests/python/requirements.txt
	@if $(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		$(MAKE) $(VENV)/made; \
	else echo "SKIPPED: Python environment (needs python3, 3.11 or later, with its venv module)"; fi

$(VENV)/made: tests/python/requirements.txt
	$(call step,Python packages)
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
	@touch $@

clean: ## remove everything that was made here
	rm -rf $(TARGET) $(TARGET)-mpich $(VENV) $(TRAIN_VENV) demo bench
