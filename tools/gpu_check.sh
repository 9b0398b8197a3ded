#!/usr/bin/env bash
# Checks and measures the GPU backends on a machine that has GPUs, CUDA 12.8 or later and g++ 12 or later, and needs nothing else:
#   bash tools/gpu_check.sh [--output-dir DIR] [--ranks N] [--seconds N] [--driver PROGRAM] [--architectures "90 100"] [--build-only]
# Builds the core and the kernels, checks the data of every algorithm on N ranks (8), measures what the simulator's parameters are
# made of, runs NCCL where it is installed, ranks as processes, and a memory checker on the smallest programs. Takes 8 minutes at
# most on 16 cores. Writes cuda.json and nccl.json (measurements/1), gpu_figures.json, and logs.
# --seconds: for the stages of the check together (else what is left of the 8 minutes). --driver: one that is built already.
# --architectures: what to build for (else what the first GPU is, or 90). --build-only: ends there, and needs no GPU.
# Ends with 0 where all is right, 1 where something is not, 2 where something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

limit=465 # seconds in all
output=build/gpu_check/results
ranks=8
seconds=
driver=
architectures=
build_only=
while (($# > 0)); do
  case "$1" in
    --output-dir) output="${2:?$1 needs a folder}" ;;
    --ranks) ranks="${2:?$1 needs a number}" ;;
    --seconds) seconds="${2:?$1 needs a number}" ;;
    --driver) driver="${2:?$1 needs a program}" ;;
    --architectures) architectures="${2:?$1 needs numbers}" ;;
    --build-only)
      build_only=yes
      shift
      continue
      ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tools/gpu_check.sh
      exit 0
      ;;
    *)
      echo "gpu_check.sh: no such option: $1; --help shows which there are" >&2
      exit 2
      ;;
  esac
  shift 2
done

build_driver() {
  local objects=build/gpu_check nvcc architecture code=()
  nvcc="$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)"
  if [[ ! -x "$nvcc" ]]; then
    echo "gpu_check.sh: nvcc is missing: neither on PATH nor in /usr/local/cuda/bin" >&2
    exit 2
  fi
  if [[ -z "$architectures" ]] && command -v nvidia-smi >/dev/null; then
    architectures="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -dc 0-9 || true)"
  fi
  for architecture in ${architectures:=90}; do
    code+=(-gencode "arch=compute_$architecture,code=sm_$architecture")
  done
  # Objects of other architectures are others.
  objects+="/sm_${architectures// /_}"
  mkdir -p "$objects"
  echo "== building for sm_${architectures// /, sm_} with $("$nvcc" --version | grep -o 'release [0-9.]*')"
  local sources=(topology/error.cpp topology/units.cpp kernels/*.cu kernels/*.cpp validate/execution/*.cpp validate/tcp/*.cpp
    tools/gpu_check/*.cpp)
  local source
  for source in algorithms/*.cpp validate/cuda/*.cpp; do
    case "$source" in
      */bounds*.cpp | */closed_forms*.cpp | */without_cuda.cpp) ;;
      *) sources+=("$source") ;;
    esac
  done
  # The slowest first.
  printf '%s\n' "${sources[@]}" | NVCC="$nvcc" CODE="${code[*]}" OBJECTS="$objects" xargs -P "$(nproc)" -I{} bash -c '
    set -euo pipefail
    object="$OBJECTS/$(tr / _ <<<"{}").o"
    if [[ "$object" -nt "{}" ]] &&
      [[ -z "$(find topology algorithms kernels validate tools/gpu_check -name "*.[hc]*" ! -name "*.c*p*" -newer "$object" -print -quit)" ]]; then
      exit 0
    fi
    if [[ "{}" == *.cu ]]; then
      "$NVCC" -std=c++20 -O3 $CODE -fmad=false -Xcompiler=-ffp-contract=off -Werror=all-warnings \
        --split-compile=0 -I. -c -o "$object.part" {}
    else
      g++ -std=c++20 -O2 -ffp-contract=off -I. -isystem "$(dirname "$NVCC")/../include" -c -o "$object.part" {}
    fi
    mv "$object.part" "$object"'
  driver="$objects/gpu_check"
  local objects_of=()
  for source in "${sources[@]}"; do
    objects_of+=("$objects/$(tr / _ <<<"$source").o")
  done
  "$nvcc" -o "$driver" "${objects_of[@]}" -lpthread -ldl
}

if [[ -z "$driver" ]]; then
  build_driver
  echo "== built in $SECONDS s"
fi
if [[ -n "$build_only" ]]; then
  exit 0
fi

mkdir -p "$output"
log="$output/gpu_check.log"
# What follows the check needs so much: processes, and two tools.
reserve=170
if [[ -z "$seconds" ]]; then
  seconds=$((limit - SECONDS - reserve))
  seconds=$((seconds < 60 ? 60 : seconds))
fi
# Stages end by themselves; the limit is for a kernel that does not.
status=0
timeout $((seconds + 30)) "$driver" --output-dir "$output" --ranks "$ranks" --seconds "$seconds" 2>&1 | tee "$log" || status=$?
if ((status != 0 && status != 1)); then
  echo "gpu_check.sh: the check ended with $status" | tee -a "$log"
  exit $((status == 2 ? 2 : 1))
fi

# Runs what follows its name and its log for so many seconds at most: run_limited NAME LOG SECONDS COMMAND…
run_limited() {
  local name="$1" file="$2" most="$3" ended=0 left=$((limit - SECONDS))
  shift 3
  if ((left < 10)); then
    echo "== $name: left out for want of time" | tee -a "$log"
    return
  fi
  echo "== $name" | tee -a "$log"
  timeout $((left < most ? left : most)) "$@" >"$file" 2>&1 || ended=$?
  tail -n 5 "$file" | tee -a "$log"
  case "$ended" in
    0) ;;
    124) echo "$name: not ready in time" | tee -a "$log" ;;
    *)
      echo "FAILED: $name ended with $ended: see $file" | tee -a "$log"
      status=1
      ;;
  esac
}

run_limited "ranks as processes" "$output/processes.log" 40 "$driver" --only processes --ranks 2
sanitizer="$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)"
if [[ -x "$sanitizer" ]]; then
  for tool in memcheck racecheck; do
    run_limited "compute-sanitizer, $tool, on the smallest programs" "$output/$tool.log" 50 \
      "$sanitizer" --tool "$tool" --error-exitcode 3 "$driver" --only smallest --output-dir "$output"
  done
else
  echo "compute-sanitizer is missing: not run" | tee -a "$log"
fi
exit "$status"
