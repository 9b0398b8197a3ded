#!/usr/bin/env bash
# clang-format and clang-tidy. Without options: what changed since this branch left the main one, and
# everything when that cannot be told.
#   bash tools/lint.sh [--all | --base REVISION] [--minutes N]
# --minutes starts no clang-tidy after N minutes and says which files it left out; what was changed last comes first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  echo "usage: bash tools/lint.sh [--all | --base REVISION] [--minutes N]" >&2
  exit 2
}

base=
all=no
deadline=
while (($# > 0)); do
  case "$1" in
    --all) all=yes ;;
    --base) base="${2:?--base needs a revision}" && shift ;;
    --minutes) deadline=$(($(date +%s) + 60 * ${2:?--minutes needs a number})) && shift ;;
    *) usage ;;
  esac
  shift
done

# The checkout may belong to someone else; git then refuses to look at it.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD"

bash tools/setup.sh lint
for version in 19 18 17 16; do
  clang_tidy="$(command -v "clang-tidy-$version")" && break
done

if [[ $all == no && -z $base ]]; then
  for main in origin/main origin/HEAD main; do
    # No common ancestor: another history, or a shallow clone that was cut off before it.
    base="$(git merge-base HEAD "$main" 2>/dev/null)" || base=
    if [[ -n $base && $base != "$(git rev-parse HEAD)" ]]; then
      break
    fi
    base=
  done
fi

sources=('*.cpp' '*.hpp' '*.cu' '*.cuh')
if [[ -n $base ]]; then
  echo "== linting what changed since $(git rev-parse --short "$base")"
  changed="$(git diff --name-only --diff-filter=d "$base" --)"
  # New rules are for every file.
  if grep -q -e '\.clang-tidy$' -e '^\.clang-format$' <<<"$changed"; then
    base=
  fi
fi
if [[ -n $base ]]; then
  mapfile -t files < <(
    git diff --name-only --diff-filter=d "$base" -- "${sources[@]}"
    git ls-files --others --exclude-standard -- "${sources[@]}"
  )
else
  echo "== linting everything"
  mapfile -t files < <(
    {
      git ls-files --others --exclude-standard -- "${sources[@]}"
      git log --format= --name-only -- "${sources[@]}"
      git ls-files -- "${sources[@]}"
    } | awk '!seen[$0]++' | while read -r file; do [[ ! -f $file ]] || echo "$file"; done
  )
fi
if ((${#files[@]} == 0)); then
  echo "no C++ files to check"
  exit 0
fi

status=0
echo "== clang-format: ${#files[@]} files"
if ! clang-format --dry-run --Werror "${files[@]}"; then
  echo "to mend it: clang-format -i FILE …" >&2
  status=1
fi

cmake --preset tidy >/dev/null
# Without .cu: clang reads none of nvcc's options.
mapfile -t units < <(
  python3 -c 'import json; print("\n".join(dict.fromkeys(e["file"] for e in json.load(open("build/tidy/compile_commands.json")))))' |
    sed "s|^$PWD/||" | grep '\.cpp$'
)
# One translation unit a file: a header is checked in one that includes it, already chosen or not.
chosen=()
declare -A is_unit=() is_chosen=()
for unit in "${units[@]}"; do is_unit[$unit]=1; done
for file in "${files[@]}"; do
  if [[ -n ${is_unit[$file]:-} ]]; then
    chosen+=("$file")
    is_chosen[$file]=1
  fi
done
for file in "${files[@]}"; do
  [[ $file == *.hpp ]] || continue
  include="#include [<\"]${file//./\\.}[>\"]"
  if ((${#chosen[@]} > 0)) && grep -qs "$include" "${chosen[@]}"; then
    continue
  fi
  unit="$(grep -ls "$include" "${units[@]}" | head -n 1)" || true
  if [[ -n $unit && -z ${is_chosen[$unit]:-} ]]; then
    chosen+=("$unit")
    is_chosen[$unit]=1
  fi
done

left_out="$(mktemp)"
findings="$(mktemp)"
trap 'rm -f "$left_out" "$findings"' EXIT
tidy_one() {
  if [[ -n $deadline ]] && (($(date +%s) >= deadline)); then
    echo "$1" >>"$left_out"
    return 0
  fi
  local output result=0
  output="$("$clang_tidy" -p build/tidy --quiet --warnings-as-errors='*' "$1" 2>&1)" || result=$?
  # The count of suppressed warnings of system headers says nothing.
  output="$(sed -E '/^[0-9]+ warnings? (generated|treated)/d; /^$/d' <<<"$output")"
  ((result == 0)) || echo "$output" >>"$findings"
  echo "clang-tidy $1"
  return "$result"
}
export -f tidy_one
export clang_tidy deadline left_out findings

echo "== $(basename "$clang_tidy"): ${#chosen[@]} translation units"
if ((${#chosen[@]} > 0)) &&
  ! printf '%s\0' "${chosen[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy_one "$1"' tidy_one; then
  status=1
fi
if [[ -s $left_out ]]; then
  echo "out of time, not checked by clang-tidy:"
  cat "$left_out"
fi
# Last, where nobody misses them.
cat "$findings"
if ((status == 0)) && [[ -s $left_out ]]; then
  echo "lint: clean so far, $(wc -l <"$left_out") files not checked"
elif ((status == 0)); then
  echo "lint: clean"
else
  echo "lint: see above" >&2
fi
exit "$status"
