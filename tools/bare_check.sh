#!/usr/bin/env bash
# Proves that a newcomer's first two commands work: in a bare Debian (debootstrap, nothing but git), clones the current
# HEAD and runs tools/quickstart.sh and tools/test.sh, twice. As root:
#   bash tools/bare_check.sh [--suite bookworm|trixie] [--mirror URL] [--keep]
# Without --suite: both. --keep leaves the chroot (and says where). The packages come from where this machine's apt gets its
# own, through the same proxy, unless --mirror names another place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  echo "usage: bash tools/bare_check.sh [--suite bookworm|trixie] [--mirror URL] [--keep]" >&2
  exit 2
}

suites=()
mirror=
keep=no
while (($# > 0)); do
  case "$1" in
    --suite) suites+=("${2:?--suite needs a name}") && shift ;;
    --mirror) mirror="${2:?--mirror needs an address}" && shift ;;
    --keep) keep=yes ;;
    *) usage ;;
  esac
  shift
done
((${#suites[@]} > 0)) || suites=(bookworm trixie)
if ((EUID != 0)); then
  echo "bare_check needs root" >&2
  exit 1
fi
bash tools/setup.sh bare

# The first repository of Debian's that apt uses here whose release name matches.
repository() {
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
    awk -v pattern="$1" '$1 ~ pattern { print $2; exit }'
}
[[ -n $mirror ]] || mirror="$(repository '^[a-z]+$')"
security="$(repository '-security$')"
if [[ -z $mirror ]]; then
  echo "apt here knows no Debian repository: give one with --mirror" >&2
  exit 1
fi

# What the way to the packages needs: apt's settings for it, proxies, name resolution, certificates.
copy_network_setup() {
  local root="$1" suite="$2" file
  {
    echo "deb $mirror $suite main"
    echo "deb $mirror $suite-updates main"
    [[ -z $security ]] || echo "deb $security $suite-security main"
  } >"$root/etc/apt/sources.list"
  apt-config dump | grep '^Acquire::' | grep -v '^Acquire::\(IndexTargets\|Changelogs\)' >"$root/etc/apt/apt.conf.d/90host" || true
  for file in etc/apt/auth.conf etc/apt/auth.conf.d etc/resolv.conf etc/hosts usr/local/share/ca-certificates; do
    [[ ! -e /$file ]] || cp -rL "/$file" "$(dirname "$root/$file")/"
  done
}

clean_environment=(env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [[ -z ${!variable:-} ]] || clean_environment+=("$variable=${!variable}")
done

# A mount namespace of its own: however this ends, no mount is left, and removing the chroot cannot reach outside it.
enter() {
  local root="$1"
  shift
  unshare --mount --pid --fork --kill-child bash -euc '
    root="$1"; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" "$@"' enter "$root" "${clean_environment[@]}" "$@" </dev/null
}

work=
clean_up() {
  if [[ -n $work && $keep == yes ]]; then
    echo "kept: chroot $work/root"
  elif [[ -n $work ]]; then
    rm -rf --one-file-system "$work"
  fi
  work=
}
trap clean_up EXIT

export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD"

check() {
  local suite="$1" start=$SECONDS
  work="$(mktemp -d "${TMPDIR:-/tmp}/collsim-bare-$suite.XXXXXX")"
  local root="$work/root"
  echo "=== $suite: making the chroot"
  if ! unshare --mount debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$root" "$mirror" \
    >"$work/log" 2>&1; then
    cat "$work/log" >&2
    return 1
  fi
  copy_network_setup "$root" "$suite"
  git bundle create --quiet "$root/root/collsim.bundle" HEAD
  enter "$root" update-ca-certificates >/dev/null
  enter "$root" \
    git -C /root -c init.defaultBranch=main -c advice.detachedHead=false clone --quiet collsim.bundle collsim
  echo "=== $suite: chroot made in $((SECONDS - start)) s"
  local script pass
  for pass in first second; do
    for script in quickstart test; do
      start=$SECONDS
      enter "$root" bash "/root/collsim/tools/$script.sh"
      echo "=== $suite: $pass tools/$script.sh took $((SECONDS - start)) s"
    done
  done
  clean_up
}

for suite in "${suites[@]}"; do
  check "$suite"
done
echo "=== ${suites[*]}: passed"
