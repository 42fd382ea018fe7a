# setup.sh - what quickstart and selftest share: installing what is missing, and building. Sourced, not run.
#
# Works from any folder, as root without a terminal, and as a plain user with sudo. On a system without dpkg it installs
# nothing and leaves it to meson to say what is missing.

setup_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian's names. gcc brings its sanitizers, libdnnl-dev is oneDNN.
setup_build_packages=(gcc libc6-dev meson ninja-build pkg-config libjansson-dev libfyaml-dev libssl-dev librandom123-dev
  libdnnl-dev liblapacke-dev)
setup_report_packages=(gnuplot-nox fonts-dejavu-core)
setup_test_packages=(libcriterion-dev libopenblas-dev)

setup_say() {
  printf '\n== %s\n' "$*"
}

setup_is_installed() {
  [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# apt-get with root's rights, asking nothing.
setup_apt() {
  local -a as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# 1 when apt-get could ask for root's rights in vain: no sudo, or a password is needed and nobody is there to type it.
setup_cannot_be_root() {
  [ "$(id -u)" != 0 ] && { ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; }
}

# Installs those of the packages that are not there yet. Exits with 3 when it cannot.
setup_install() {
  local package log
  local -a missing=()
  if ! command -v dpkg-query >/dev/null; then
    setup_say "no dpkg here: please see to it that you have the like of $*"
    return
  fi
  for package in "$@"; do
    setup_is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if setup_cannot_be_root; then
    printf 'These packages are missing, and installing them needs root. Please run\n\n  apt-get install --no-install-recommends %s\n' \
      "${missing[*]}" >&2
    exit 3
  fi
  setup_say "installing ${missing[*]}"
  log=$(mktemp)
  # The first try may fail for want of package lists, or because they are old.
  if ! setup_apt install --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    if ! { setup_apt update && setup_apt install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
      cat "$log" >&2
      rm -f "$log"
      printf 'Could not install %s.\n' "${missing[*]}" >&2
      exit 3
    fi
  fi
  rm -f "$log"
}

# setup_configure FOLDER [OPTION ...]: a meson build folder with exactly these options, old or new.
setup_configure() {
  local folder=$1 log
  shift
  log=$(mktemp)
  if [ -f "$folder/build.ninja" ]; then
    meson configure "$folder" "$@" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 3; }
  else
    meson setup "$folder" "$setup_root" "$@" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 3; }
  fi
  rm -f "$log"
}

# setup_build FOLDER [TARGET ...]: quiet unless it fails.
setup_build() {
  local folder=$1 log
  shift
  log=$(mktemp)
  if ! ninja -C "$folder" "$@" >"$log" 2>&1; then
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" >&2 || true
    rm -f "$log"
    return 3
  fi
  rm -f "$log"
}
