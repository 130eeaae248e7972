#!/bin/sh
# Installs what is missing to build macrok (on Debian and Ubuntu; elsewhere it says what to install). With `mpich`, `python` or
# `cluster` as argument it installs a second MPI, Python, or Slurm and sshd, which only the tests need.
set -eu

have() { command -v "$1" >/dev/null 2>&1; }

# Checks look for files and programs, not packages: an MPI or HDF5 from the modules of a cluster is as good.
have_mpi() { have mpicc && { have mpirun || have srun; }; }

have_hdf5() {
    [ -n "${HDF5_DIR:-}" ] || have h5cc || { have pkg-config && pkg-config --exists hdf5; }
}

# bindgen loads libclang and reads clang's own stddef.h; a run-time package has the first without the second.
have_libclang() {
    for folder in ${LIBCLANG_PATH:-} /usr/lib/llvm*/lib /usr/lib64 /usr/lib /usr/local/lib /opt/homebrew/opt/llvm/lib; do
        for library in "$folder"/libclang.so* "$folder"/libclang-*.so* "$folder"/libclang.dylib; do
            [ -e "$library" ] || continue
            [ -n "${LIBCLANG_PATH:-}" ] && return 0
            for header in "$folder"/clang/*/include/stddef.h /usr/lib/clang/*/include/stddef.h; do
                [ -e "$header" ] && return 0
            done
        done
    done
    # Xcode contains both.
    [ "$(uname)" = Darwin ] && have xcrun && xcrun --find clang >/dev/null 2>&1
}

have_compiler() { have cc || have gcc || have clang; }

# A compiler may be installed without the headers of the C library.
have_headers() { [ "$(uname)" = Darwin ] || [ -e /usr/include/stdio.h ] || ! have apt-get; }

have_python() { have python3 && python3 -c 'import venv, ensurepip' >/dev/null 2>&1; }

have_mpich() { have mpicc.mpich && have mpirun.mpich; }

# Only root has the folder of sshd on the PATH.
have_cluster() {
    for program in slurmctld slurmd munged sbatch ip sshd ssh unshare nsenter; do
        PATH="$PATH:/usr/sbin:/sbin" have "$program" || return 1
    done
}

apt_install() {
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || { echo "deps: not root and no sudo; ask for these packages: $*" >&2; exit 1; }
        sudo=sudo
    fi
    echo "deps: installing $*"
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Only the tests start the daemons. Debian asks this file whether to start a service that is installed.
without_starting() {
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
}

# Installs what only the tests need. They report its absence.
for_tests() {
    name=$1
    check=$2
    shift 2
    if $check; then
        echo "deps: $name is installed"
    elif have apt-get; then
        apt_install "$@"
    else
        sh "$(dirname "$0")/skip.sh" "no $name, and no apt-get to install it"
    fi
    exit 0
}

case "${1:-}" in
cluster)
    if [ "$(id -u)" -ne 0 ]; then
        sh "$(dirname "$0")/skip.sh" "Slurm and sshd (only root can run the cluster tests)"
        exit 0
    fi
    have_cluster || ! have apt-get || without_starting
    for_tests "a cluster's software" have_cluster slurm-wlm munge iproute2 openssh-server openssh-client util-linux
    ;;
mpich) for_tests MPICH have_mpich mpich libmpich-dev ;;
python) for_tests Python have_python python3 python3-venv ;;
esac

missing=
need() { missing="$missing $1"; }
have_compiler || need gcc
have_headers || need libc6-dev
have pkg-config || need pkg-config
have_mpi || need "openmpi-bin libopenmpi-dev"
have_hdf5 || need libhdf5-dev
have_libclang || need libclang-dev

if ! have cargo; then
    echo "deps: no cargo; install Rust from https://rustup.rs and open a new shell" >&2
    exit 1
fi
if [ -z "$missing" ]; then
    echo "deps: everything is installed"
elif have apt-get; then
    # shellcheck disable=SC2086 # a list of packages
    apt_install $missing
else
    cat >&2 <<TEXT
deps: missing (by their Debian names):$missing
These names for other systems are untested:
  Fedora, RHEL     dnf install gcc pkgconf openmpi-devel hdf5-devel clang-devel && module load mpi
  openSUSE         zypper install gcc pkg-config openmpi4-devel hdf5-devel clang-devel
  Arch             pacman -S gcc pkgconf openmpi hdf5 clang
  macOS            brew install pkg-config open-mpi hdf5 llvm
  a cluster        module load an MPI, HDF5 (serial) and LLVM/Clang; set HDF5_DIR if the modules do not put h5cc
                   on the PATH, and LIBCLANG_PATH if libclang is not found
Without MPI the program builds too: cargo build --release --no-default-features
TEXT
    exit 1
fi
