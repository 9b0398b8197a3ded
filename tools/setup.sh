#!/usr/bin/env bash
# Installs the Debian packages (12 and 13) that a purpose needs, if any is missing:
#   bash tools/setup.sh build|test|lint|fuzz|bare …
set -euo pipefail

build=(g++ cmake ninja-build ccache libyaml-cpp-dev nlohmann-json3-dev libpugixml-dev libcli11-dev libfmt-dev libeigen3-dev libnlopt-dev)
test=(catch2 librapidcheck-dev libbenchmark-dev libopenmpi-dev openmpi-bin python3)

installed() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

# The version of clang for checks: 14 cannot parse libstdc++ 12. Any of these can, so one that is there is good enough.
clang_version() {
  local version
  for version in 19 18 17 16; do
    if installed "clang-tidy-$version"; then
      echo "$version"
      return
    fi
  done
  if [[ "$(. /etc/os-release && echo "${VERSION_ID:-}")" == 12 ]]; then
    echo 16
  else
    echo 19
  fi
}

if ! command -v apt-get >/dev/null; then
  echo "This is no Debian: install what corresponds to ${build[*]} ${test[*]} yourself." >&2
  exit 0
fi

wanted=()
for purpose in "$@"; do
  case "$purpose" in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${build[@]}" "${test[@]}") ;;
    lint) wanted+=("${build[@]}" "${test[@]}" git clang-format "clang-tidy-$(clang_version)") ;;
    fuzz) wanted+=("${build[@]}" "${test[@]}" "clang-$(clang_version)" "libclang-rt-$(clang_version)-dev") ;;
    bare) wanted+=(debootstrap git) ;;
    *)
      echo "usage: bash tools/setup.sh build|test|lint|fuzz|bare …" >&2
      exit 2
      ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "Neither root nor sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -qq "$@"
}

echo "== installing ${missing[*]}"
# A source that has nothing to do with us may be broken; if ours is, the installation says so.
apt update || echo "apt-get update had errors, going on" >&2
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! apt install --yes --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
